#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# capture.sh - --pcap has every frame, and of those that the stack drops the reason; stats counts them
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

frames() {
	/usr/bin/python3 -B "$LAB_TOP/tests/integration/frames.py" "$@"
}

# has WHAT - a line about a frame in the capture has it
has() {
	[[ $(frames comments "$LAB_DIR/capture.pcapng") == *"$1"* ]]
}

lab_open capture
lab_sluiced --pcap "$LAB_DIR/capture.pcapng" "$@"
mac=$(ip -n "$LAB_NS" -j link show eth0 | jq -r '.[0].address')
status=0
lab_peer curl -s --connect-timeout 2 "http://$LAB_ADDR:81/" >/dev/null || status=$?
lab_equal 7 "$status" "curl's status for a closed port"
lab_peer /usr/bin/python3 -B "$LAB_TOP/tests/integration/frames.py" send eth0 "$mac" "$LAB_ADDR"
lab_until 10 "a short ARP in the capture, with its reason" has \
	"dropped: ARP_BAD: ARP malformed or of another kind (RFC 826)"
lab_until 10 "a header that lies in the capture, with its reason" has "dropped: IP4_BAD_HEADER: "
lab_until 10 "a wrong checksum in the capture, with its reason" has "dropped: TCP_CSUM: "
has "rx none" || lab_fail "no frame came in that was not dropped"
has "tx none" || lab_fail "no frame went out"
lab_start box sleep infinity
status=0
lab_exec box curl -s --connect-timeout 1 http://10.99.0.77/ >"$LAB_DIR/out" || status=$?
lab_equal 28 "$status" "curl's status for an address where nobody is"
lab_until 10 "a SYN that nobody's MAC was found for" has \
	"tx dropped: NEIGH_FAILED: neighbour did not answer (RFC 826)"
stats=$(lab_ctl stats)
for reason in DROP_ARP_BAD DROP_IP4_BAD_HEADER DROP_TCP_CSUM DROP_NEIGH_FAILED; do
	[[ $stats =~ ${reason}[^0-9]*([0-9]+) && ${BASH_REMATCH[1]} -ge 1 ]] ||
		lab_fail "sluicectl stats does not count $reason"
done
lab_sluiced_stop
