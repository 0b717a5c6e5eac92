#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# trace.sh - what the errors of a path tell: tracepath as it is, and a self test held against the kernel's
#
#   LAB_NS 10.99.0.2 -- 10.99.0.1 LAB_PEER (router) 10.99.1.1 -- MTU 1300, 1400 -- 10.99.1.2 LAB_MIDDLE
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

far=10.99.1.2
far6=fd00:99:1::2

# fresh - nobody remembers a path, as a stack that has just begun
fresh() {
	ip -n "$LAB_NS" route flush cache 2>/dev/null
	ip -n "$LAB_NS" -6 route flush cache 2>/dev/null
}

# look MODE - the self test's lines, and what tracepath says without its times, into $LAB_DIR/MODE.txt
look() {
	: >"$LAB_DIR/$1.txt"
	for to in "$far" "$far6"; do
		fresh
		lab_run look /usr/bin/tracepath -n "$to" 2>&1 | sed -E 's/ +[0-9.]+ms//; s/ +/ /g' >>"$LAB_DIR/$1.txt"
	done
	fresh
	lab_run look /usr/bin/python3 /tmp/tests/integration/tracetest.py "$far" "$far6" \
		>>"$LAB_DIR/$1.txt" 2>"$LAB_DIR/look.log" || lab_fail "the self test ended with status $? ($1)"
	[[ $(tail -n 1 "$LAB_DIR/$1.txt") == "done" ]] || lab_fail "the self test stopped half-way ($1)"
}

lab_open trace
ip netns exec "$LAB_NS" sysctl -qw net.ipv4.ping_group_range="0 2147483647"
LAB_MIDDLE=$LAB_ID-m
ip netns add "$LAB_MIDDLE"
ip -n "$LAB_PEER" link add far type veth peer name eth0 netns "$LAB_MIDDLE"
ip netns exec "$LAB_PEER" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
	net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0
ip netns exec "$LAB_MIDDLE" sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0
for side in "$LAB_NS eth0 - fd00:99::2" "$LAB_PEER eth0 - fd00:99::1" "$LAB_PEER far 10.99.1.1 fd00:99:1::1" \
	"$LAB_MIDDLE eth0 $far $far6"; do
	read -r space device address address6 <<<"$side"
	ip netns exec "$space" sysctl -qw "net.ipv6.conf.$device.disable_ipv6=0" "net.ipv6.conf.$device.accept_ra=0"
	[[ $address == - ]] || ip -n "$space" addr add "$address/24" dev "$device"
	ip -n "$space" addr add "$address6/64" dev "$device" nodad
	ip -n "$space" link set "$device" up
done
ip -n "$LAB_PEER" route replace 10.99.1.0/24 dev far mtu lock 1300
ip netns exec "$LAB_PEER" sysctl -qw net.ipv6.conf.far.mtu=1400
ip -n "$LAB_MIDDLE" route add default via 10.99.1.1
ip -n "$LAB_MIDDLE" -6 route add default via fd00:99:1::1
ip -n "$LAB_NS" -6 route add default via fd00:99::1
lab_until 5 "the way to $far" ip netns exec "$LAB_NS" ping -c 1 -W 1 "$far"
lab_until 5 "the way to $far6" ip netns exec "$LAB_NS" ping -c 1 -W 1 "$far6"

look kernel
lab_sluiced "$@"
look sluice
diff -U 0 --label kernel --label sluice "$LAB_DIR/kernel.txt" "$LAB_DIR/sluice.txt" ||
	lab_fail "a program hears other errors of sluice than of the kernel: see the lines above"
printf '%s lines, all the same\n' "$(wc -l <"$LAB_DIR/kernel.txt")"
lab_sluiced_stop
