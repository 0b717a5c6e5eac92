/* SPDX-License-Identifier: Apache-2.0 */
/* knobs.c - see knobs.h */
#include "daemon/monitor/knobs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/common/congestion.h"

#define WORDS_MAX 8

void knobs_init(struct knobs *k)
{
	for (int i = 0; i < NS_KNOB_COUNT; i++)
		k->value[i] = ns_knob_info((enum ns_knob)i)->initial;
}

static const char *sysctl_of(int i)
{
	return ns_knob_info((enum ns_knob)i)->sysctl;
}

int knobs_first_row(int i)
{
	for (int k = 0; k < i; k++)
		if (strcmp(sysctl_of(k), sysctl_of(i)) == 0)
			return k;
	return i;
}

/* The words of @value in @buf, each ended by a NUL. Return: how many, or -EINVAL. */
static int words_split(const char *value, char buf[KNOBS_VALUE_MAX], const char *words[WORDS_MAX])
{
	char *save = NULL;
	int cnt = 0;

	if (snprintf(buf, KNOBS_VALUE_MAX, "%s", value) >= (int)KNOBS_VALUE_MAX)
		return -EINVAL;
	for (char *w = strtok_r(buf, " \t\n", &save); w; w = strtok_r(NULL, " \t\n", &save)) {
		if (cnt == WORDS_MAX)
			return -EINVAL;
		words[cnt++] = w;
	}
	return cnt ? cnt : -EINVAL;
}

static int number_read(const char *word, const struct ns_knob_info *info, int32_t *ret)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(word, &end, 10);
	if (errno || *end || end == word)
		return -EINVAL;
	if (v < info->least || v > info->most)
		return -ERANGE;
	*ret = (int32_t)v;
	return 0;
}

static int word_read(int row, const char *word, int32_t *ret)
{
	if (row != NS_KNOB_tcp_congestion_control)
		return number_read(word, ns_knob_info((enum ns_knob)row), ret);
	*ret = congestion_find(word);
	return *ret < 0 ? -ERANGE : 0;
}

int knobs_set(struct knobs *k, const char *sysctl, const char *value)
{
	const char *words[WORDS_MAX];
	char buf[KNOBS_VALUE_MAX];
	struct knobs new = *k;
	int cnt = words_split(value, buf, words);
	int r = -ENOENT;

	for (int i = 0; i < NS_KNOB_COUNT; i++) {
		const struct ns_knob_info *info = ns_knob_info((enum ns_knob)i);

		if (strcmp(info->sysctl, sysctl) != 0)
			continue;
		if (cnt <= info->word)
			return -EINVAL;
		r = word_read(i, words[info->word], &new.value[i]);
		if (r < 0)
			return r;
	}
	if (r == 0)
		*k = new;
	return r;
}

void knobs_text(const struct knobs *k, int i, char *buf, size_t len)
{
	size_t at = 0;
	int word = 0;

	buf[0] = '\0';
	for (int row = i; row < NS_KNOB_COUNT && at < len; row++) {
		const struct ns_knob_info *info = ns_knob_info((enum ns_knob)row);
		int n;

		if (strcmp(info->sysctl, sysctl_of(i)) != 0)
			continue;
		for (; word < info->word && at + 3 < len; word++)
			at += (size_t)snprintf(buf + at, len - at, "%s-", at ? " " : "");
		if (row == NS_KNOB_tcp_congestion_control)
			n = snprintf(buf + at, len - at, "%s", congestion_name(k->value[row]));
		else
			n = snprintf(buf + at, len - at, "%s%d", at ? " " : "", k->value[row]);
		at += n > 0 ? (size_t)n : 0;
		word = info->word + 1;
	}
}

int knobs_path(const char *sysctl, char *buf, size_t len)
{
	static const char prefix[] = "net.";
	const char *rest = sysctl + sizeof(prefix) - 1;

	if (strncmp(sysctl, prefix, sizeof(prefix) - 1) != 0 || strlen(rest) >= len ||
	    rest[strspn(rest, "abcdefghijklmnopqrstuvwxyz0123456789_.")] || strstr(rest, "..") ||
	    rest[0] == '.' || rest[0] == '\0')
		return -EINVAL;
	for (size_t i = 0; i <= strlen(rest); i++)
		buf[i] = rest[i] == '.' ? '/' : rest[i];
	return 0;
}
