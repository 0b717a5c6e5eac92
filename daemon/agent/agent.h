/* SPDX-License-Identifier: Apache-2.0 */
/* agent.h - the role that answers the container's trapped socket calls */
#pragma once

/**
 * agent_main() - run the role until the monitor says STOP or goes away
 *
 * The channel to the monitor is descriptor CHILD_MONITOR_FD.
 *
 * Return: exit status
 */
int agent_main(void);
