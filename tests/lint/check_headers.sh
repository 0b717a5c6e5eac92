#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_headers.sh - every header compiles alone, and twice
#
# Usage: check_headers.sh ROOT | --self-test; $CC is the compiler, $HEADER_FLAGS what it needs to find
# the libraries. What a header needs it includes itself, in whatever order others include it.
set -euo pipefail

# _int.h too: private is not the same as incomplete.
headers() {
	(cd "$1" && find netstack daemon ctl config seccomp tests/support tests/unit -name '*.h' 2>/dev/null | sort) || true
}

check() {
	local root=$1 header out bad=0 cnt=0
	local flags=(-std=gnu17 -D_GNU_SOURCE -Wall -Werror -fsyntax-only -x c
		"-I$root" "-I$root/netstack" "-I$root/netstack/include" "-I$root/tests" "-I$root/tests/unit")
	read -ra extra <<<"${HEADER_FLAGS-}"
	while IFS= read -r header; do
		cnt=$((cnt + 1))
		out=$(printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
			"${CC:-cc}" "${flags[@]}" "-I$root/${header%/*}" "${extra[@]}" - 2>&1) || {
			printf '%s does not compile alone:\n%s\n' "$header" "$out"
			bad=1
		}
	done < <(headers "$root")
	((cnt)) || { echo "no header found below $root"; return 1; }
	echo "$cnt headers"
	return "$bad"
}

# planted WANT PATH CODE - a tree with that header must fail with WANT, or be fine when WANT is empty
planted() {
	local want=$1 got
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree/$(dirname "$2")"
	printf '%s\n' "$3" >"$tmp/tree/$2"
	if got=$(check "$tmp/tree"); then
		[[ -z $want ]] || { echo "not found: $want"; exit 1; }
	else
		[[ -n $want && $got == *"$want"* ]] || { echo "want '$want', got '$got'"; exit 1; }
	fi
}

self_test() {
	tmp=$(mktemp -d "${TMPDIR:-/tmp}/sl-lint-XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	planted '' netstack/a/a.h $'#pragma once\n#include <stdint.h>\nstruct a { uint8_t b; };'
	planted 'netstack/a/a.h does not compile alone' netstack/a/a.h $'#pragma once\nstruct a { uint8_t b; };'
	planted 'redefinition' daemon/a.h 'struct a { int b; };'
	planted 'daemon/a_int.h does not compile alone' daemon/a_int.h $'#pragma once\nstatic int f(void)\n{\n}'
	planted 'no header found' netstack/a.c ''
	echo "5 planted trees judged as they should be"
}

case ${1:?usage: check_headers.sh ROOT|--self-test} in
--self-test) self_test ;;
*) check "$1" ;;
esac
