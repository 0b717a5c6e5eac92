#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# uploads.sh - request bodies around one segment and far above it: nothing is sent twice
#
# With segmentation offload a wrong gso_size or header length does not lose the connection; it
# shows as retransmissions and duplicate acknowledgments only. So those are counted on both sides.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

FEW=3

# few GOT WHAT - on a busy machine a probe of the tail may run out before its answer is read (RFC 8985 7.2), once
# or twice in a run; a wrong header would show with every body
few() {
	(($1 <= FEW)) || lab_fail "$2: wanted $FEW at most, got $1"
}

# peer_count NAME - a counter of the peer's kernel
peer_count() {
	ip netns exec "$LAB_PEER" nstat -asz "$1" 2>/dev/null | awk -v name="$1" '$1 == name { print $2 }'
}

lab_open uploads
lab_peer_start http /usr/bin/python3 "$LAB_TOP/tests/integration/http_peer.py" 8000 "$LAB_DIR/share"
lab_peer_listens 8000
lab_sluiced "$@"
lab_start box sleep infinity
for gro in on off; do
	ip netns exec "$LAB_PEER" ethtool -K eth0 gro "$gro" >/dev/null 2>&1 || true
	for bytes in 1000 1400 1448 1449 1500 65536 10485760; do
		sha=$(lab_file body "$bytes")
		got=$(lab_exec box curl -sf --max-time 20 --data-binary @/tmp/share/body "http://$LAB_PEER_ADDR:8000/sha256") ||
			lab_fail "the upload of $bytes bytes failed (gro $gro)"
		lab_equal "$sha" "$got" "SHA-256 of an upload of $bytes bytes (gro $gro)"
		got=$(lab_exec box curl -sf --max-time 20 "http://$LAB_PEER_ADDR:8000/body" | lab_sha) ||
			lab_fail "the download of $bytes bytes failed (gro $gro)"
		lab_equal "$sha" "$got" "SHA-256 of a download of $bytes bytes (gro $gro)"
	done
done
few "$(peer_count TcpRetransSegs)" "retransmissions of the peer"
few "$(peer_count TcpExtTCPDSACKOfoSent)" "out-of-order duplicates the peer saw"
few "$(peer_count TcpExtTCPDSACKOldSent)" "segments the peer got twice"
lab_equal 0 "$(peer_count TcpInErrs)" "segments with a bad checksum at the peer"
lab_equal 0 "$(peer_count TcpExtTCPOFOQueue)" "segments that reached the peer out of order"
lab_stop box
lab_sluiced_stop
