#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# udp6.sh - datagrams of IPv6: a self test held against the kernel's, names looked up over IPv6; UDP_SEGMENT
# over both families: one frame to the link, and what the peer has of it
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

addr6=fd00:99::2
peer6=fd00:99::1

# addresses NAMESPACE LAST - a global one and a link-local one, without duplicate address detection
addresses() {
	ip netns exec "$1" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0 net.ipv6.conf.eth0.addr_gen_mode=1
	ip -n "$1" addr flush dev eth0 scope link
	ip -n "$1" addr add "fd00:99::$2/64" dev eth0 nodad
	ip -n "$1" addr add "fe80::99:$2/64" dev eth0 nodad
}

# look MODE - the self test's lines, into $LAB_DIR/MODE.txt
look() {
	lab_run look /usr/bin/python3 /tmp/tests/integration/udp6test.py $peer6 $addr6 "$LAB_PEER_ADDR" "$LAB_ADDR" \
		>"$LAB_DIR/$1.txt" 2>"$LAB_DIR/look.log" || lab_fail "the self test ended with status $? ($1)"
	[[ $(tail -n 1 "$LAB_DIR/$1.txt") == "done" ]] || lab_fail "the self test stopped half-way ($1)"
}

# segments ONE-PIECE COUNT - UDP_SEGMENT to the peer, over both families; its COUNT messages, sorted, are $LAB_DIR/segments.txt
segments() {
	lab_peer_start "segments$1" /usr/bin/python3 "$LAB_TOP/tests/integration/udp_segment.py" receive "$1" "$2"
	lab_until 10 "the receiver's socket" grep -q ready "$LAB_DIR/segments$1.log"
	lab_exec box /usr/bin/python3 /tmp/tests/integration/udp_segment.py send "$LAB_PEER_ADDR" $peer6 ||
		lab_fail "UDP_SEGMENT ended with status $?"
	lab_until 10 "$2 messages at the peer" grep -q "done" "$LAB_DIR/segments$1.log"
	grep True "$LAB_DIR/segments$1.log" | sort | uniq -c | awk '{ $1 = $1; print }' \
		>"$LAB_DIR/segments.txt"
}

# counter NAME - one of the worker's; the stats have none that is 0
counter() {
	lab_ctl stats | jq ".worker.$1 // 0"
}

lab_open udp6
[[ -d /proc/sys/net/ipv6 ]] || lab_skip "this kernel has no IPv6"
LAB_TIMEOUT=60
addresses "$LAB_NS" 2
addresses "$LAB_PEER" 1
printf 'nameserver %s\noptions timeout:2 attempts:2\n' $peer6 >"$LAB_DIR/resolv.conf"
LAB_BINDS=("$LAB_DIR/resolv.conf:/etc/resolv.conf")
lab_peer_start peer /usr/bin/python3 "$LAB_TOP/tests/integration/udp_peer.py" "$LAB_PEER_ADDR" $peer6 fe80::99:1%eth0
lab_until 10 "the peer's sockets" grep -q ready "$LAB_DIR/peer.log"
look kernel
lab_sluiced "$@"
look sluice
diff -U 0 --label kernel --label sluice "$LAB_DIR/kernel.txt" "$LAB_DIR/sluice.txt" ||
	lab_fail "a program can tell sluice's datagram sockets of IPv6 from the kernel's: see the lines above"
printf '%s looks, all the same\n' "$(($(wc -l <"$LAB_DIR/kernel.txt") - 1))"

LAB_WHAT="UDP_SEGMENT in one piece"
lab_start box /bin/sleep 600 # the counters are of a stack, which a container brings along
supers=$(counter LINK_TX_GSO)
segments 1 2
lab_equal "1 4 12001 1200 True
1 6 12001 1200 True" "$(<"$LAB_DIR/segments.txt")" "what a peer with UDP_GRO has"
lab_equal $((supers + 2)) "$(counter LINK_TX_GSO)" "super-frames sent"
lab_equal 0 "$(counter LINK_USO_FALLBACK)" "refusals of them"
lab_stop box
lab_sluiced_stop

# Without these the link's device has the frame cut and summed, and the peer's kernel verifies the sums.
LAB_WHAT="UDP_SEGMENT cut by the kernel"
ip netns exec "$LAB_NS" ethtool -K eth0 tx-udp-segmentation off tx off >/dev/null
lab_sluiced "$@"
lab_start box /bin/sleep 600
segments 0 22
lab_equal "1 4 1 0 True
10 4 1200 0 True
1 6 1 0 True
10 6 1200 0 True" "$(<"$LAB_DIR/segments.txt")" "what the peer has"
lab_equal 2 "$(counter LINK_TX_GSO)" "super-frames sent"
lab_equal "0 0" "$(lab_peer nstat -asz UdpInCsumErrors Udp6InCsumErrors | awk 'NR > 1 { printf "%s%d", sep, $2; sep = " " }')" \
	"datagrams with a wrong checksum"
lab_stop box
lab_sluiced_stop
