#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# again.sh - connect() after a failure, shutdown(), FIONREAD, TCP_INQ, SO_RCVLOWAT, timestamps: as the kernel's
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

# look MODE - the self test's lines, into $LAB_DIR/MODE.txt
look() {
	lab_run look /usr/bin/python3 /tmp/tests/integration/againtest.py "$LAB_PEER_ADDR" \
		>"$LAB_DIR/$1.txt" 2>"$LAB_DIR/look.log" || lab_fail "the self test ended with status $? ($1)"
	[[ $(tail -n 1 "$LAB_DIR/$1.txt") == "done" ]] || lab_fail "the self test stopped half-way ($1)"
}

lab_open again
lab_peer_start stream /usr/bin/python3 "$LAB_TOP/tests/integration/selftest_peer.py"
lab_peer_start dgram /usr/bin/python3 "$LAB_TOP/tests/integration/udp_peer.py" "$LAB_PEER_ADDR"
lab_peer_listens 7001
lab_until 10 "the peer's sockets" grep -q ready "$LAB_DIR/dgram.log"
look kernel
lab_sluiced "$@"
look sluice
diff -U 0 --label kernel --label sluice "$LAB_DIR/kernel.txt" "$LAB_DIR/sluice.txt" ||
	lab_fail "a program can tell sluice's sockets from the kernel's: see the lines above"
printf '%s looks, all the same\n' "$(($(wc -l <"$LAB_DIR/kernel.txt") - 1))"
lab_sluiced_stop
