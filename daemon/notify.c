/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify - what systemd is told (sd_notify(3)); nothing happens when it does not listen
 *
 * Syscalls: #syscalls monitor: socket connect sendmsg close
 */
#include "daemon/notify.h"

#include <stdarg.h>
#include <stdio.h>
#include <systemd/sd-daemon.h>

void notify_ready(const char *status)
{
	(void)sd_notifyf(0, "READY=1\nSTATUS=%s", status);
}

void notify_status(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)sd_notifyf(0, "STATUS=%s", text);
}

void notify_stopping(void)
{
	(void)sd_notify(0, "STOPPING=1\nSTATUS=Giving the container's links back");
}
