/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h - the role that holds the stack and touches everything hostile */
#pragma once

/**
 * worker_main() - run the role until the monitor says STOP or goes away
 *
 * The channel to the monitor is descriptor CHILD_MONITOR_FD.
 *
 * Return: exit status
 */
int worker_main(void);
