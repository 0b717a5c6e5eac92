/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h - the role that carries the stack */
#pragma once

/**
 * worker_main() - run the role until the monitor says STOP, or the monitor or the agent goes away
 *
 * The channel to the monitor is descriptor CHILD_MONITOR_FD.
 *
 * Return: exit status
 */
int worker_main(void);
