#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_pure.sh - the stack calls nothing and remembers nothing outside its objects
#
# Usage: check_pure.sh ARCHIVE     what the archive needs from outside, and what it keeps in writable
#                                  sections, against what is allowed
#        check_pure.sh --self-test archives with a planted call and a planted variable; needs $CC
#
# Not for builds with sanitizers: they add calls and data of their own.
set -euo pipefail

# The heap for pools, memory verbs (with FORTIFY's names), strlen, which gcc makes of a loop, the stack
# protector.
allowed='^(malloc|calloc|free|(__)?mem(cpy|move|set|cmp|chr)(_chk)?|strlen|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_)$'
# Tables of pointers are relocated and then read-only; everything else that can be written is state.
writable='^\.(data|bss|tdata|tbss)(\.|$)'
relocated='^\.data\.rel\.ro(\.|$)'

pure() {
	local archive=$1 defined needed calls state
	# A name that one member defines may be used by another.
	defined=$(nm --defined-only "$archive" | awk 'NF == 3 { print $3 }' | sort -u)
	needed=$(nm -u "$archive" | awk '$1 == "U" { print $2 }' | sort -u)
	calls=$(comm -13 <(printf '%s\n' "$defined") <(printf '%s\n' "$needed") | grep -Ev "$allowed" || true)
	state=$(nm -f sysv --defined-only "$archive" | tr -d ' ' |
		awk -F'|' -v w="$writable" -v r="$relocated" '$7 ~ w && $7 !~ r || $3 == "C" { print $1 }')
	[[ -n $defined ]] || {
		echo "$archive defines nothing: is it the stack?"
		return 1
	}
	[[ -z $calls ]] || echo "netstack is not pure, it calls: ${calls//$'\n'/ }"
	[[ -z $state ]] || echo "netstack is not pure, it keeps state in: ${state//$'\n'/ }"
	[[ -z $calls$state ]]
}

# planted WANT CODE - an archive of CODE must be complained about with the pattern WANT ('': not at all)
planted() {
	local want=$1 got
	rm -f "$tmp"/a.*
	printf '%s\n' "$2" >"$tmp/a.c"
	"${CC:-cc}" -O2 -fPIE -fstack-protector-strong -c -o "$tmp/a.o" "$tmp/a.c"
	ar rc "$tmp/a.a" "$tmp/a.o"
	if got=$(pure "$tmp/a.a"); then
		[[ -z $want ]] || { echo "not found: $want"; exit 1; }
	else
		[[ -n $want && $got == *$want* ]] || { echo "want '$want', got '$got'"; exit 1; }
	fi
}

self_test() {
	tmp=$(mktemp -d "${TMPDIR:-/tmp}/sl-lint-XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	planted '' '#include <stdlib.h>
		#include <string.h>
		static const char *const names[] = { "a", "b" };
		const char *name(int i) { return names[i]; }
		void *copy(const void *p, size_t n) { void *q = malloc(n); return q ? memcpy(q, p, n) : q; }'
	planted 'it calls: clock_gettime' '#include <time.h>
		long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_nsec; }'
	planted 'it calls: printf' '#include <stdio.h>
		void hello(int x) { printf("%d", x); }'
	planted 'it calls: __errno_location' '#include <errno.h>
		int last(void) { return errno; }'
	planted 'it keeps state in: *counter' 'int count(void) { static int counter; return counter++; }'
	planted 'it keeps state in: mode' 'int mode = 3;'
	planted 'it keeps state in: common' 'int common __attribute__((common));'
	planted 'it keeps state in: per_thread' '_Thread_local int per_thread;'
	echo "8 planted archives judged as they should be"
}

case ${1:?usage: check_pure.sh ARCHIVE|--self-test} in
--self-test) self_test ;;
*) pure "$1" ;;
esac
