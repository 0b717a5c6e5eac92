/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify - what systemd is told (sd_notify(3)); nothing happens when it does not listen
 */
#pragma once

/**
 * notify_init() - get ready to talk to the service manager that started this process, if one did
 *
 * Called once by the monitor, before it narrows itself.
 */
void notify_init(void);

/**
 * notify_ready() - the stack is up, or the socket the runtime connects to is there
 * @status:	One line for `systemctl status`
 */
void notify_ready(const char *status);

/**
 * notify_status() - what the daemon is doing
 * @fmt:	printf format of one line
 */
__attribute__((format(printf, 1, 2))) void notify_status(const char *fmt, ...);

/** notify_stopping() - giving back and ending */
void notify_stopping(void);
