#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# calls.sh - a program that is hostile to its own sockets: what it sees is what the kernel would have shown it
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

# look MODE - the lines, into $LAB_DIR/MODE.txt
look() {
	lab_run look /usr/bin/python3 /tmp/tests/integration/hostile_calls.py \
		>"$LAB_DIR/$1.txt" 2>"$LAB_DIR/look.log" || lab_fail "the program ended with status $? ($1)"
	[[ $(tail -n 1 "$LAB_DIR/$1.txt") == "done" ]] || lab_fail "the program stopped half-way ($1)"
	cat "$LAB_DIR/look.log"
}

no_sockets_left() {
	[[ $(lab_sockets) == 0 ]]
}

lab_open calls
look kernel
lab_sluiced "$@"
mapfile -t before < <(lab_sluiced_pids)
look sluice
lab_until 20 "sluiced has freed every socket ($(lab_sockets) left)" no_sockets_left
kill -0 "${before[@]}" 2>/dev/null || lab_fail "a process of sluiced did not outlive the program"
lab_sluiced_stop
diff -U 0 --label kernel --label sluice "$LAB_DIR/kernel.txt" "$LAB_DIR/sluice.txt" ||
	lab_fail "a program can tell sluice's sockets from the kernel's: see the lines above"
printf '%s looks, all the same\n' "$(($(wc -l <"$LAB_DIR/kernel.txt") - 1))"
