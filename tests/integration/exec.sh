#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# exec.sh - a session executed in a running container has its own notify descriptor, and sockets
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

lab_open exec
lab_sluiced "$@"
sha=$(lab_file 1m.bin $((1 << 20)))
lab_start box sleep infinity
lab_peer_start http /usr/bin/python3 "$LAB_TOP/tests/integration/http_peer.py" 8000 "$LAB_DIR/share"
lab_peer_listens 8000

# A server in one session, clients in many others, one after the other and at once.
lab_exec_start box server busybox httpd -f -p 0.0.0.0:80 -h /tmp/share
lab_answers 80
for ((i = 0; i < 10; i++)); do
	lab_equal "$sha" "$(lab_exec box curl -sf --max-time 10 "http://$LAB_PEER_ADDR:8000/1m.bin" | lab_sha)" \
		"SHA-256 from the peer, session $i"
	lab_equal "$sha" "$(lab_exec box curl -sf --max-time 10 http://127.0.0.1/1m.bin | lab_sha)" \
		"SHA-256 from the session beside, session $i"
done
for ((i = 0; i < 5; i++)); do
	lab_exec box curl -sf --max-time 10 "http://$LAB_PEER_ADDR:8000/1m.bin" >"$LAB_DIR/out.$i" &
done
for job in $(jobs -p); do
	[[ $job == "$LAB_SLUICED" ]] || wait "$job" || lab_fail "one of five sessions at once failed"
done
for ((i = 0; i < 5; i++)); do
	lab_equal "$sha" "$(lab_sha <"$LAB_DIR/out.$i")" "SHA-256 of session $i of five"
done
lab_equal "$sha" "$(lab_peer curl -sf --max-time 10 "http://$LAB_ADDR/1m.bin" | lab_sha)" \
	"SHA-256 from the first session, at the end"
lab_stop box
lab_sluiced_stop
