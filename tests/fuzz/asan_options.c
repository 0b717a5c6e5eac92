/* SPDX-License-Identifier: Apache-2.0 */
/* asan_options.c - how AddressSanitizer runs under a fuzzer; ASAN_OPTIONS of the environment win */

const char *__asan_default_options(void);

/*
 * Each run makes and frees a stack with its pools. What is kept of freed memory to find later uses of it need
 * not outlive the run by much, fresh memory needs no pattern, and memory that is free is wanted again at once.
 */
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=4:malloc_context_size=2:max_malloc_fill_size=0:"
	       "allocator_release_to_os_interval_ms=-1";
}
