#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# busybox.sh - a static program, which no preloaded library could reach: httpd and wget
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

busybox=$(command -v busybox) || lab_skip "busybox is not installed"
[[ $(LC_ALL=C ldd "$busybox" 2>&1) == *"not a dynamic executable"* ]] ||
	lab_skip "this busybox is linked to shared libraries: busybox-static is what this test is about"

lab_open busybox
lab_sluiced "$@"
sha=$(lab_file 10m.bin $((10 << 20)))
lab_start httpd busybox httpd -f -p 0.0.0.0:80 -h /tmp/share
lab_answers 80
lab_equal "$sha" "$(lab_peer curl -sf --max-time 20 "http://$LAB_ADDR/10m.bin" | lab_sha)" \
	"SHA-256 from httpd"

lab_peer_start http /usr/bin/python3 "$LAB_TOP/tests/integration/http_peer.py" 8000 "$LAB_DIR/share"
lab_peer_listens 8000
lab_exec httpd busybox wget -q -O - "http://$LAB_PEER_ADDR:8000/10m.bin" >"$LAB_DIR/out" ||
	lab_fail "wget from the peer failed"
lab_equal "$sha" "$(lab_sha <"$LAB_DIR/out")" "SHA-256 by wget from the peer"
lab_exec httpd busybox wget -q -O - http://127.0.0.1/10m.bin >"$LAB_DIR/out" ||
	lab_fail "wget over 127.0.0.1 failed"
lab_equal "$sha" "$(lab_sha <"$LAB_DIR/out")" "SHA-256 by wget over 127.0.0.1"

# What listens on 127.0.0.1 is there for the container alone.
lab_exec_start httpd private busybox httpd -f -p 127.0.0.1:81 -h /tmp/share
lab_until 10 "the private server answers inside" lab_exec httpd busybox wget -q -O /dev/null http://127.0.0.1:81/10m.bin
status=0
lab_peer curl -s --connect-timeout 2 "http://$LAB_ADDR:81/10m.bin" >"$LAB_DIR/out" || status=$?
lab_equal 7 "$status" "curl's status for a server on 127.0.0.1, from outside"
lab_stop httpd
lab_sluiced_stop
