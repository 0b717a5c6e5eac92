#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fastopen.sh - octets in the SYN: the container and the kernel, each as client and as server
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

program=tests/integration/fastopen.py

# syn_octets FROM - octets in the SYNs that the capture has from this address, a line each
syn_octets() {
	tcpdump -nr "$LAB_DIR/syn.pcap" "src host $1 and tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn" 2>/dev/null |
		sed -n 's/.* length \([0-9]*\).*/\1/p'
}

# has_syns FROM COUNT
has_syns() {
	(($(syn_octets "$1" | wc -l) >= $2))
}

# calls COMMAND... - each way twice: the first of all asks for a cookie, what follows has one
calls() {
	local how
	for how in send send message connect; do
		"${@/HOW/$how}" || lab_fail "$how: no answer"
	done
}

command -v tcpdump >/dev/null || lab_skip "tcpdump is not installed"
lab_open fastopen
lab_sluiced --sysctl net.ipv4.tcp_fastopen=3 "$@"
ip netns exec "$LAB_PEER" sh -c 'echo 3 >/proc/sys/net/ipv4/tcp_fastopen'
lab_peer_start capture tcpdump -i eth0 -U -w "$LAB_DIR/syn.pcap" "tcp port 7200 or tcp port 7201"
lab_until 5 "the capture has begun" test -s "$LAB_DIR/syn.pcap"
lab_start box /usr/bin/python3 "/tmp/$program" serve 7200
lab_answers 7200
lab_peer_start kernel /usr/bin/python3 "$LAB_TOP/$program" serve 7201
lab_peer_listens 7201

LAB_WHAT="the kernel calls us"
lab_equal "later syn syn syn" "$(calls lab_peer /usr/bin/python3 "$LAB_TOP/$program" HOW "$LAB_ADDR" 7200 | xargs)" \
	"when its octets were taken"
LAB_WHAT="we call the kernel"
lab_equal "later syn syn syn" "$(calls lab_exec box /usr/bin/python3 "/tmp/$program" HOW "$LAB_PEER_ADDR" 7201 | xargs)" \
	"when our octets were taken"

LAB_WHAT="on the wire"
lab_until 5 "the last SYN is in the capture" has_syns "$LAB_ADDR" 4
lab_equal "0 17 17 17" "$(syn_octets "$LAB_ADDR" | xargs)" "octets in our SYNs"
lab_equal "17 17 17" "$(syn_octets "$LAB_PEER_ADDR" | grep -v '^0$' | xargs)" "octets in the kernel's SYNs"

lab_stop box
lab_sluiced_stop
