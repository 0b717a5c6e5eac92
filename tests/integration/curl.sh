#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# curl.sh - the container as a client: downloads by hash, uploads, a refused port, a silent server
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

# inside STATUS WHAT COMMAND... - a program in the container, which must end with this status
inside() {
	local want=$1 what=$2 status=0
	shift 2
	lab_exec box "$@" >"$LAB_DIR/out" 2>"$LAB_DIR/err.log" || status=$?
	lab_equal "$want" "$status" "exit status of $what"
}

lab_open curl
url=http://$LAB_PEER_ADDR:8000
sha=$(lab_file 10m.bin $((10 << 20)))
lab_peer_start http /usr/bin/python3 "$LAB_TOP/tests/integration/http_peer.py" 8000 "$LAB_DIR/share"
lab_peer_listens 8000
lab_sluiced "$@"
lab_start box sleep infinity

inside 0 "the download" curl -sf --max-time 20 "$url/10m.bin"
lab_equal "$sha" "$(lab_sha <"$LAB_DIR/out")" "SHA-256 of the download"
inside 0 "four downloads at once" curl -sf --max-time 30 --parallel "$url/10m.bin" "$url/10m.bin" \
	"$url/10m.bin" "$url/10m.bin"
lab_equal $((40 << 20)) "$(stat -c %s "$LAB_DIR/out")" "bytes of four downloads"
inside 0 "the upload" curl -sf --max-time 20 --data-binary @/tmp/share/10m.bin "$url/sha256"
lab_equal "$sha" "$(<"$LAB_DIR/out")" "SHA-256 of the upload"
inside 0 "python3's urllib" /usr/bin/python3 -c "import hashlib, urllib.request
print(hashlib.sha256(urllib.request.urlopen('$url/10m.bin', timeout=20).read()).hexdigest())"
lab_equal "$sha" "$(<"$LAB_DIR/out")" "SHA-256 of urllib's download"

# curl's own words: 7 is "could not connect", 28 is "time is up".
inside 7 "a refused port" curl -sS --max-time 10 "http://$LAB_PEER_ADDR:9/"
grep -q 'refused' "$LAB_DIR/err.log" || grep -q "Couldn't connect" "$LAB_DIR/err.log" ||
	lab_fail "a refused port looks otherwise: $(<"$LAB_DIR/err.log")"
inside 28 "a server that says nothing" curl -sS --max-time 1 "$url/silence"
inside 28 "an address where nobody is" curl -sS --connect-timeout 1 http://10.99.0.77/
lab_stop box
lab_sluiced_stop
