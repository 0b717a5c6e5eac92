#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# python.sh - python3's http.server and asyncio in the container, and 500 connections at once
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

lab_open python
lab_sluiced "$@"
sha=$(lab_file 10m.bin $((10 << 20)))
lab_start box /usr/bin/python3 -m http.server --bind 0.0.0.0 --directory /tmp/share 8080
lab_answers 8080
lab_equal "$sha" "$(lab_peer curl -sf --max-time 20 "http://$LAB_ADDR:8080/10m.bin" | lab_sha)" \
	"SHA-256 from http.server"

# asyncio on both sides, and the container in both roles; every stream is checked.
crowd=$LAB_TOP/tests/integration/crowd.py
lab_exec_start box server /usr/bin/python3 /tmp/tests/integration/crowd.py serve 7100
lab_answers 7100
lab_peer_start crowd /usr/bin/python3 "$crowd" serve 7101
lab_peer_listens 7101
for ((round = 0; round < LAB_ROUNDS; round++)); do
	lab_peer /usr/bin/python3 "$crowd" call "$LAB_ADDR" 7100 500 ||
		lab_fail "500 connections into the container: not all were served"
	lab_exec box /usr/bin/python3 /tmp/tests/integration/crowd.py call "$LAB_PEER_ADDR" 7101 500 ||
		lab_fail "500 connections out of the container: not all were served"
done
lab_stop box
lab_sluiced_stop
