#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fastopen.sh - octets in the SYN: the container and the kernel, each as client and as server, over both families; a
# program's options and calls as the kernel's; keys that change under a client
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

program=tests/integration/fastopen.py
addr6=fd00:99::2
peer6=fd00:99::1
key1=00010203-04050607-08090a0b-0c0d0e0f
key2=10111213-14151617-18191a1b-1c1d1e1f

# look MODE - the program's lines, into $LAB_DIR/MODE.txt
look() {
	lab_run look /usr/bin/python3 /tmp/$program look "$LAB_PEER_ADDR" 7201 >"$LAB_DIR/$1.txt" 2>"$LAB_DIR/look.log" ||
		lab_fail "the program ended with status $? ($1)"
	[[ $(tail -n 1 "$LAB_DIR/$1.txt") == "done" ]] || lab_fail "the program stopped half-way ($1)"
}

# syn_octets FROM - octets in the SYNs that the capture has from this address, a line each
syn_octets() {
	local syn="tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn"
	[[ $1 != *:* ]] || syn="ip6[6] == 6 and ip6[53] & 0x12 == 2"
	tcpdump -nr "$LAB_DIR/syn.pcap" "src host $1 and $syn" 2>/dev/null |
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

# called - what the peer's next call to the container finds
called() {
	lab_peer /usr/bin/python3 "$LAB_TOP/$program" "${1:-send}" "$LAB_ADDR" 7200
}

# sysctl_set NAME VALUE - in the container's namespace; returns when the stack has it
sysctl_set() {
	ip netns exec "$LAB_NS" sh -c "echo $2 >/proc/sys/net/ipv4/$1"
	lab_until 5 "the stack has $1" sysctl_is "$1" "$2"
}

sysctl_is() {
	[[ $(lab_ctl sysctl | jq -r ".sysctls[\"net.ipv4.$1\"]") == "$2" ]]
}

# counter NAME - of the stack
counter() {
	lab_ctl stats | jq ".worker.$1"
}

command -v tcpdump >/dev/null || lab_skip "tcpdump is not installed"
[[ -d /proc/sys/net/ipv6 ]] || lab_skip "this kernel has no IPv6"
lab_open fastopen
ip -n "$LAB_NS" addr add $addr6/64 dev eth0 nodad
ip -n "$LAB_PEER" addr add $peer6/64 dev eth0 nodad
for space in "$LAB_NS" "$LAB_PEER"; do
	ip netns exec "$space" sh -c 'echo 3 >/proc/sys/net/ipv4/tcp_fastopen'
done
lab_peer_start kernel /usr/bin/python3 "$LAB_TOP/$program" serve 7201
lab_peer_listens 7201

look kernel
ip netns exec "$LAB_NS" sh -c "echo $key1 >/proc/sys/net/ipv4/tcp_fastopen_key"
lab_sluiced "$@"
look sluice
diff -U 0 --label kernel --label sluice "$LAB_DIR/kernel.txt" "$LAB_DIR/sluice.txt" ||
	lab_fail "a program can tell sluice's Fast Open from the kernel's: see the lines above"

lab_peer_start capture tcpdump -i eth0 -U -w "$LAB_DIR/syn.pcap" "tcp port 7200 or tcp port 7201 or ip6"
lab_until 5 "the capture has begun" test -s "$LAB_DIR/syn.pcap"
lab_start box /usr/bin/python3 "/tmp/$program" serve 7200
lab_answers 7200

for family in 4 6; do
	to=$LAB_ADDR from=$LAB_PEER_ADDR
	[[ $family == 4 ]] || to=$addr6 from=$peer6
	LAB_WHAT="the kernel calls us over IPv$family"
	lab_equal "later syn syn syn" "$(calls lab_peer /usr/bin/python3 "$LAB_TOP/$program" HOW "$to" 7200 | xargs)" \
		"when its octets were taken"
	LAB_WHAT="we call the kernel over IPv$family"
	lab_equal "later syn syn syn" "$(calls lab_exec box /usr/bin/python3 "/tmp/$program" HOW "$from" 7201 | xargs)" \
		"when our octets were taken"
	LAB_WHAT="on the wire over IPv$family"
	lab_until 5 "the last SYN is in the capture" has_syns "$to" 4
	lab_equal "0 17 17 17" "$(syn_octets "$to" | xargs)" "octets in our SYNs"
	lab_equal "17 17 17" "$(syn_octets "$from" | grep -v '^0$' | xargs)" "octets in the kernel's SYNs"
done

LAB_WHAT="another key"
before=$(counter TCP_TFO_PASSIVE_OLD)
sysctl_set tcp_fastopen_key $key2,$key1
lab_equal "syn syn" "$(called) $(called)" "a cookie of the backup key, and the one that came for it"
lab_equal $((before + 1)) "$(counter TCP_TFO_PASSIVE_OLD)" "cookies of the backup key"
sysctl_set tcp_fastopen_key $key2
lab_equal "syn" "$(called)" "the backup key is gone, the client has the new cookie"
sysctl_set tcp_fastopen_key $key1
lab_equal "later syn" "$(called) $(called)" "its key is gone"

LAB_WHAT="no cookie"
lab_equal "later" "$(called free)" "a SYN without a cookie"
sysctl_set tcp_fastopen $((3 + 0x200))
lab_equal "syn" "$(called free)" "a SYN without a cookie, of a server that wants none"

lab_stop box
lab_sluiced_stop
