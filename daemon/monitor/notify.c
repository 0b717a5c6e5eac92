/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify - what systemd is told (sd_notify(3)); nothing happens when it does not listen
 *
 * libsystemd is loaded when there is a NOTIFY_SOCKET, and not linked: with the five libraries it
 * needs it would cost each of a container's three processes 0.8 MiB of resident memory, and two of
 * them never talk to systemd.
 *
 * Syscalls: #syscalls monitor: openat mmap mprotect socket connect sendmsg close
 */
#include "daemon/monitor/notify.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>

#include "daemon/common/log.h"

/* NULL without a service manager. */
static __typeof__(&sd_notify) notify_fn;

void notify_init(void)
{
	void *lib;

	if (!getenv("NOTIFY_SOCKET"))
		return;
	lib = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
	if (lib)
		notify_fn = (__typeof__(notify_fn))dlsym(lib, "sd_notify");
	if (!notify_fn)
		log_warnx("cannot tell systemd when the stack is up: %s; install libsystemd0",
			  dlerror());
}

static void notify_send(const char *text)
{
	if (notify_fn)
		(void)notify_fn(0, text);
}

void notify_ready(const char *status)
{
	char text[320];

	(void)snprintf(text, sizeof(text), "READY=1\nSTATUS=%s", status);
	notify_send(text);
}

void notify_status(const char *fmt, ...)
{
	char line[256], text[320];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	(void)snprintf(text, sizeof(text), "STATUS=%s", line);
	notify_send(text);
}

void notify_stopping(void)
{
	notify_send("STOPPING=1\nSTATUS=Giving the container's links back");
}
