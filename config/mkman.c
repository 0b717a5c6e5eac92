/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mkman.c - build step: a manual page from its template
 *
 *   mkman TEMPLATE >PAGE
 *
 * The line @OPTIONS@ becomes the option list made from options.def, all else is copied.
 */
#include <stdio.h>
#include <string.h>

#include "config/options.h"

int main(int argc, char **argv)
{
	char line[1024];
	FILE *f;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: mkman TEMPLATE\n");
		return 2;
	}
	f = fopen(argv[1], "re");
	if (!f) {
		perror(argv[1]);
		return 1;
	}
	while (fgets(line, sizeof(line), f)) {
		if (!strcmp(line, "@OPTIONS@\n"))
			config_print_man(stdout);
		else
			(void)fputs(line, stdout);
	}
	(void)fclose(f);
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
