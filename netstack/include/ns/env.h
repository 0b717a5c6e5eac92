/* SPDX-License-Identifier: Apache-2.0 */
/* env.h - what the stack needs from outside: random octets and, if wanted, a trace. No log, no clock. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** struct ns_env - filled by the embedder; must outlive the stack */
struct ns_env {
	void *ctx;
	/** fill @len octets with random of cryptographic quality; cannot fail */
	void (*random)(void *ctx, void *buf, size_t len);
	/** NULL or called at trace points; @event is a static string, @a and @b depend on it */
	void (*trace)(void *ctx, const char *event, uint64_t a, uint64_t b);
};
