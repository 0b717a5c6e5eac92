#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sockets.sh - what a program sees of its sockets is what the kernel would have shown it
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

# look MODE - the self test's lines, into $LAB_DIR/MODE.txt
look() {
	lab_run look /usr/bin/python3 /tmp/tests/integration/selftest.py "$LAB_PEER_ADDR" \
		>"$LAB_DIR/$1.txt" 2>"$LAB_DIR/look.log" || lab_fail "the self test ended with status $? ($1)"
	[[ $(tail -n 1 "$LAB_DIR/$1.txt") == "done" ]] || lab_fail "the self test stopped half-way ($1)"
}

lab_open sockets
LAB_TIMEOUT=150
lab_peer_start peer /usr/bin/python3 "$LAB_TOP/tests/integration/selftest_peer.py"
for port in 7001 7002 7003 7004; do
	lab_peer_listens "$port"
done
look kernel
lab_sluiced "$@"
look sluice
lab_sluiced_stop
diff -U 0 --label kernel --label sluice "$LAB_DIR/kernel.txt" "$LAB_DIR/sluice.txt" ||
	lab_fail "a program can tell sluice's sockets from the kernel's: see the lines above"
printf '%s looks, all the same\n' "$(($(wc -l <"$LAB_DIR/kernel.txt") - 1))"
