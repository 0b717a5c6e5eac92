/* SPDX-License-Identifier: Apache-2.0 */
/* role.h - which of the three processes this is, and its main function */
#pragma once

struct sluice_config;

/**
 * role_run() - name the log after the role and run it
 * @cfg:	Checked configuration; of the children's only the role says anything
 *
 * Return: exit status
 */
int role_run(const struct sluice_config *cfg);
