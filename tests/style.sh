#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# style.sh - the layout of C files and the soundness of shell scripts, as ctest entries
#
# Usage: style.sh clang-format|shellcheck, from the top of the tree. Exit 77 where the tool is missing.
set -euo pipefail

tool=${1:?usage: style.sh clang-format|shellcheck}
command -v "$tool" >/dev/null || {
	echo "$tool is not installed: ./check installs it"
	exit 77
}

# sources PATTERN... - the project's files, never those of a build folder
sources() {
	find . -path ./build -prune -o -path ./.git -prune -o -type f \( "$@" \) -print0
}

case $tool in
clang-format)
	# X-macro tables (.def) are laid out by hand: clang-format 14 takes them apart.
	sources -name '*.c' -o -name '*.h' | xargs -0 -r -n 64 clang-format --dry-run --Werror
	;;
shellcheck)
	mapfile -d '' -t scripts < <(
		sources -name '*.sh'
		while IFS= read -r -d '' file; do
			IFS= read -r first <"$file" 2>/dev/null || continue
			[[ $first == '#!'*sh ]] && printf '%s\0' "$file"
		done < <(sources ! -name '*.*' -o -path './.ci/*')
	)
	((${#scripts[@]})) || exit 1
	shellcheck -x -P SCRIPTDIR "${scripts[@]}"
	;;
esac
