#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hostile.sh - a container that attacks its sockets; afterwards sluiced still works and has lost none
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

no_sockets_left() {
	[[ $(lab_sockets) == 0 ]]
}

lab_open hostile
lab_sluiced "$@"
mapfile -t before < <(lab_sluiced_pids)
lab_start box sleep infinity
LAB_TIMEOUT=200 lab_exec box /tmp/build/hostile "$LAB_PEER_ADDR" || lab_fail "an attack ended otherwise than it should"
lab_until 20 "sluiced has freed every socket of the attackers ($(lab_sockets) left)" no_sockets_left

sha=$(lab_file 1m.bin $((1 << 20)))
lab_exec_start box httpd busybox httpd -f -p 0.0.0.0:80 -h /tmp/share
lab_answers 80
lab_equal "$sha" "$(lab_peer curl -sf --max-time 20 "http://$LAB_ADDR/1m.bin" | lab_sha)" \
	"SHA-256 after the attacks"
kill -0 "${before[@]}" 2>/dev/null || lab_fail "a process of sluiced did not outlive the attacks"
lab_stop box
lab_sluiced_stop
