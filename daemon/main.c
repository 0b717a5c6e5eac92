/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - sluiced: read the configuration, do what it asks for, or become a role */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "config/options.h"
#include "daemon/role.h"

#define EXIT_USAGE 2

/* Descriptors 0 to 2 must not become something that a log line is written into. */
static int stdio_ensure(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int run(const struct sluice_config *cfg)
{
	if (cfg->help)
		config_print_help(stdout);
	else if (cfg->version)
		printf("sluiced %s\n", SLUICE_VERSION);
	else if (cfg->print_config)
		config_print_flags(cfg, stdout);
	else
		return role_run(cfg);
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	char err[CONFIG_ERR_MAX] = "";
	struct sluice_config cfg;
	int status, r;

	if (stdio_ensure() < 0)
		return EXIT_FAILURE;
	r = config_parse_args(&cfg, argc, argv, err, sizeof(err));
	if (r < 0) {
		(void)fprintf(stderr, "sluiced: %s\n", err);
		return r == -EINVAL ? EXIT_USAGE : EXIT_FAILURE;
	}
	status = run(&cfg);
	config_done(&cfg);
	return status;
}
