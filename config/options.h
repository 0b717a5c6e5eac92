/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - configuration of sluiced: flags, configuration file, help, man page, one table
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CONFIG_DEFAULT_FILE "/etc/sluice/sluiced.conf"

/* Longest --id: a container id of Docker or containerd is 64 hexadecimal digits. */
#define CONFIG_ID_MAX 64

/* Enough for every sentence that config_parse_args() writes. */
#define CONFIG_ERR_MAX 512

enum config_network {
	CONFIG_NETWORK_SANDBOX, /* our stack in the worker */
	CONFIG_NETWORK_NONE,    /* nothing but loopback */
	CONFIG_NETWORK_PLUGIN,  /* our stack inside gVisor; refused by the parser for now */
};

enum config_take {
	CONFIG_TAKE_MOVE,  /* the interface leaves the namespace, a decoy stays */
	CONFIG_TAKE_STRIP, /* the interface stays, its addresses and routes go */
};

/* The values are those of syslog(3). */
enum config_log_level {
	CONFIG_LOG_ERR = 3,
	CONFIG_LOG_WARNING = 4,
	CONFIG_LOG_NOTICE = 5,
	CONFIG_LOG_INFO = 6,
	CONFIG_LOG_DEBUG = 7,
};

enum config_role {
	CONFIG_ROLE_MONITOR,
	CONFIG_ROLE_AGENT,
	CONFIG_ROLE_WORKER,
};

/**
 * struct sluice_config - one field for each row of options.def
 *
 * Strings are owned by the struct, NULL where the option was not given and has no default;
 * uint options without a value are 0.
 */
struct sluice_config {
#define OPT_BOOL(field, name, dflt, flags, help, reason)                bool field;
#define OPT_UINT(field, name, dflt, min, max, arg, flags, help, reason) unsigned int field;
#define OPT_ENUM(field, name, dflt, type, words, flags, help, reason)   enum type field;
#define OPT_STR(field, name, dflt, arg, check, flags, help, reason)     char *field;
#include "config/options.def"
};

/**
 * config_init() - fill in the defaults
 * @cfg:	uninitialised; owned by the caller, release with config_done()
 *
 * Return: 0, or -ENOMEM with nothing to release
 */
int config_init(struct sluice_config *cfg);

/**
 * config_done() - release the strings
 * @cfg:	may be zeroed; usable again after config_init()
 */
void config_done(struct sluice_config *cfg);

/**
 * config_parse_args() - the configuration of a process from its flags and its file
 * @cfg:	uninitialised; on success owned by the caller, on failure nothing to release
 * @argc:	number of words in @argv
 * @argv:	the process's own, @argv[0] is skipped
 * @errbuf:	gets one sentence without newline on failure: what, why not, what to do
 * @errlen:	octets in @errbuf, CONFIG_ERR_MAX is enough
 *
 * The file is read first and flags override it. With --help or --version, and in the hidden roles
 * agent and worker, no file is read and nothing but the syntax is checked.
 *
 * Return: 0; -EINVAL for a bad flag, line, value or combination (the caller exits with 2); another
 * negative errno when the file cannot be read
 */
int config_parse_args(struct sluice_config *cfg, int argc, char **argv, char *errbuf,
		      size_t errlen);

/**
 * config_parse_file() - apply the lines of a configuration file
 * @cfg:	initialised; partly changed on failure
 * @text:	the file's content, need not end in NUL
 * @len:	octets in @text
 * @file:	name for the error sentence
 * @errbuf:	as in config_parse_args()
 * @errlen:	octets in @errbuf
 *
 * Lines are `option = value`; a bool may stand alone. Empty lines and lines whose first visible
 * character is '#' are skipped. Combinations are not checked here.
 *
 * Return: 0 or -EINVAL or -ENOMEM
 */
int config_parse_file(struct sluice_config *cfg, const char *text, size_t len, const char *file,
		      char *errbuf, size_t errlen);

/**
 * config_print_flags() - write the configuration as flags, one a line
 * @cfg:	configuration, as config_parse_args() left it
 * @out:	stream
 *
 * No value holds a control character, so lines are words: `xargs -d '\n' sluiced` reads them back
 * and arrives at the same configuration. Actions (--help and the like) are left out.
 */
void config_print_flags(const struct sluice_config *cfg, FILE *out);

/**
 * config_print_help() - write what --help shows
 * @out:	stream
 */
void config_print_help(FILE *out);

/**
 * config_print_man() - write the option list of sluiced(8) as mdoc
 * @out:	stream
 */
void config_print_man(FILE *out);

/**
 * config_id_is_safe() - may this word name a directory of ours?
 * @id:		word
 *
 * Return: true for 1 to CONFIG_ID_MAX of letters, digits, '_', '.', '-', ':', not beginning with
 * '.' or '-'
 */
bool config_id_is_safe(const char *id);
