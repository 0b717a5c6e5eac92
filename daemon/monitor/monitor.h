/* SPDX-License-Identifier: Apache-2.0 */
/* monitor.h - the role with rights over the host's network: takes, starts, watches, gives back */
#pragma once

struct sluice_config;

/**
 * monitor_main() - run one sandbox until it ends
 * @cfg:	Checked configuration, borrowed
 *
 * Return: exit status; 0 when the container ended or SIGTERM came, and all was given back
 */
int monitor_main(const struct sluice_config *cfg);

/**
 * monitor_restore() - `sluiced --restore`: give back what a killed monitor's journal says
 * @cfg:	Checked configuration, borrowed
 *
 * Return: exit status; 0 when the namespace is as it was, or there is no journal
 */
int monitor_restore(const struct sluice_config *cfg);
