/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctl_profile.c - `sluicectl profile`: container.def as the JSON that runtimes read
 *
 * Two dialects of one format: "oci" is the object linux.seccomp of a config.json, "docker" the file
 * for --security-opt seccomp=, which podman, nerdctl and Kubernetes read too. They differ in how
 * the architecture is named; neither lists a second one, so that calls by a foreign ABI (int 0x80)
 * find no rule and the process is killed.
 */
#include <json-c/json.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/sluicectl.h"
#include "seccomp/container.h"

#define DEFAULT_LISTENER "/run/sluice/seccomp.sock"
#define DEFAULT_METADATA "sluice"

struct profile_options {
	const char *listener;
	const char *metadata;
	bool is_docker;
};

/* Consumes @value on every path; sets *ok to false when memory has run out. */
static void put(struct json_object *obj, const char *key, struct json_object *value, bool *ok)
{
	if (!value || json_object_object_add(obj, key, value)) {
		json_object_put(value);
		*ok = false;
	}
}

static void append(struct json_object *array, struct json_object *value, bool *ok)
{
	if (!value || json_object_array_add(array, value)) {
		json_object_put(value);
		*ok = false;
	}
}

static const char *op_name(enum scmp_compare op)
{
	switch (op) {
	case SCMP_CMP_NE:
		return "SCMP_CMP_NE";
	case SCMP_CMP_LT:
		return "SCMP_CMP_LT";
	case SCMP_CMP_LE:
		return "SCMP_CMP_LE";
	case SCMP_CMP_EQ:
		return "SCMP_CMP_EQ";
	case SCMP_CMP_GE:
		return "SCMP_CMP_GE";
	case SCMP_CMP_GT:
		return "SCMP_CMP_GT";
	case SCMP_CMP_MASKED_EQ:
		return "SCMP_CMP_MASKED_EQ";
	case _SCMP_CMP_MIN:
	case _SCMP_CMP_MAX:
		break;
	}
	return NULL;
}

static struct json_object *args_to_json(const struct container_rule *rule, bool *ok)
{
	struct json_object *args = json_object_new_array();

	for (unsigned int i = 0; args && i < rule->arg_cnt; i++) {
		const struct scmp_arg_cmp *c = &rule->args[i];
		struct json_object *arg = json_object_new_object();

		if (!arg) {
			*ok = false;
			break;
		}
		put(arg, "index", json_object_new_int64(c->arg), ok);
		put(arg, "value", json_object_new_uint64(c->datum_a), ok);
		if (c->op == SCMP_CMP_MASKED_EQ)
			put(arg, "valueTwo", json_object_new_uint64(c->datum_b), ok);
		put(arg, "op", json_object_new_string(op_name(c->op)), ok);
		append(args, arg, ok);
	}
	return args;
}

/* @names: consumed. */
static struct json_object *rule_to_json(const struct container_rule *rule,
					struct json_object *names, bool *ok)
{
	struct json_object *obj = json_object_new_object();

	if (!obj) {
		json_object_put(names);
		return NULL;
	}
	put(obj, "names", names, ok);
	if (rule->action == SCMP_ACT_NOTIFY) {
		put(obj, "action", json_object_new_string("SCMP_ACT_NOTIFY"), ok);
	} else {
		put(obj, "action", json_object_new_string("SCMP_ACT_ERRNO"), ok);
		put(obj, "errnoRet", json_object_new_int64(rule->action & SECCOMP_RET_DATA), ok);
	}
	if (rule->arg_cnt)
		put(obj, "args", args_to_json(rule, ok), ok);
	return obj;
}

/* Rules without arguments and with the same action, one after the other, become one entry. */
static bool is_mergeable(const struct container_rule *a, const struct container_rule *b)
{
	return a->action == b->action && !a->arg_cnt && !b->arg_cnt;
}

static struct json_object *rules_to_json(const struct container_rule *rules, size_t cnt, bool *ok)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; array && i < cnt;) {
		const struct container_rule *first = &rules[i];
		struct json_object *names = json_object_new_array();

		if (!names) {
			*ok = false;
			break;
		}
		do {
			append(names, json_object_new_string(rules[i].name), ok);
			i++;
		} while (i < cnt && is_mergeable(first, &rules[i]));
		append(array, rule_to_json(first, names, ok), ok);
	}
	return array;
}

static void arch_put(struct json_object *profile, bool is_docker, bool *ok)
{
	struct json_object *array = json_object_new_array();
	const char *name = container_arch_name();

	if (!array || !name) {
		json_object_put(array);
		*ok = false;
		return;
	}
	if (is_docker) {
		struct json_object *entry = json_object_new_object();

		if (entry) {
			put(entry, "architecture", json_object_new_string(name), ok);
			put(entry, "subArchitectures", json_object_new_array(), ok);
		}
		append(array, entry, ok);
	} else {
		append(array, json_object_new_string(name), ok);
	}
	put(profile, is_docker ? "archMap" : "architectures", array, ok);
}

/* Return: the profile, NULL when memory has run out or the architecture is not known. */
static struct json_object *profile_to_json(const struct profile_options *o)
{
	struct json_object *profile = json_object_new_object();
	struct container_rule *rules;
	size_t cnt;
	bool ok = true;

	if (!profile || container_rules_new(&rules, &cnt)) {
		json_object_put(profile);
		return NULL;
	}
	put(profile, "defaultAction", json_object_new_string("SCMP_ACT_ALLOW"), &ok);
	arch_put(profile, o->is_docker, &ok);
	put(profile, "listenerPath", json_object_new_string(o->listener), &ok);
	put(profile, "listenerMetadata", json_object_new_string(o->metadata), &ok);
	put(profile, "syscalls", rules_to_json(rules, cnt, &ok), &ok);
	free(rules);
	if (!ok) {
		json_object_put(profile);
		return NULL;
	}
	return profile;
}

static int options_parse(struct profile_options *o, int argc, char **argv)
{
	for (int i = 1; i < argc;) {
		const char *value;

		if ((value = ctl_option(argc, argv, &i, "--listener"))) {
			o->listener = value;
		} else if ((value = ctl_option(argc, argv, &i, "--metadata"))) {
			o->metadata = value;
		} else if ((value = ctl_option(argc, argv, &i, "--format"))) {
			if (strcmp(value, "oci") != 0 && strcmp(value, "docker") != 0) {
				(void)fprintf(stderr,
					      "sluicectl: --format is '%.60s', but must be oci or "
					      "docker\n",
					      value);
				return CTL_USAGE;
			}
			o->is_docker = !strcmp(value, "docker");
		} else {
			(void)fprintf(stderr,
				      "sluicectl: profile does not take %.60s, or its value is "
				      "missing; see sluicectl --help\n",
				      argv[i]);
			return CTL_USAGE;
		}
	}
	if (o->listener[0] != '/') {
		(void)fprintf(stderr,
			      "sluicectl: --listener is '%.60s', but runtimes want an absolute "
			      "path\n",
			      o->listener);
		return CTL_USAGE;
	}
	return CTL_OK;
}

int ctl_profile(int argc, char **argv)
{
	struct profile_options o = { .listener = DEFAULT_LISTENER, .metadata = DEFAULT_METADATA };
	struct json_object *profile;
	int r;

	r = options_parse(&o, argc, argv);
	if (r)
		return r;
	profile = profile_to_json(&o);
	if (!profile) {
		(void)fputs("sluicectl: cannot make a profile: no memory, or no name is known for "
			    "this architecture\n",
			    stderr);
		return CTL_FAILED;
	}
	(void)puts(json_object_to_json_string_ext(profile, JSON_C_TO_STRING_PRETTY |
								   JSON_C_TO_STRING_SPACED |
								   JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(profile);
	if (fflush(stdout) || ferror(stdout)) {
		perror("sluicectl: cannot write the profile");
		return CTL_FAILED;
	}
	return CTL_OK;
}
