#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mcast.sh - multicast memberships and source filters of both families: a self test held against the kernel's, and what
# filters refuse is counted
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

addr6=fd00:99::2
peer6=fd00:99::1
other=10.99.0.3
other6=fd00:99::3

# look MODE - the self test's lines, into $LAB_DIR/MODE.txt
look() {
	lab_run look /usr/bin/python3 /tmp/tests/integration/mcasttest.py "$LAB_ADDR" $addr6 "$LAB_PEER_ADDR" \
		$peer6 $other $other6 >"$LAB_DIR/$1.txt" 2>"$LAB_DIR/look.log" ||
		lab_fail "the self test ended with status $? ($1)"
	[[ $(tail -n 1 "$LAB_DIR/$1.txt") == "done" ]] || lab_fail "the self test stopped half-way ($1)"
}

lab_open mcast
LAB_TIMEOUT=60
for side in "$LAB_NS 2" "$LAB_PEER 1"; do
	read -r space last <<<"$side"
	ip netns exec "$space" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0 net.ipv6.conf.eth0.accept_ra=0
	ip -n "$space" addr add "fd00:99::$last/64" dev eth0 nodad
done
ip -n "$LAB_PEER" addr add $other/24 dev eth0
ip -n "$LAB_PEER" addr add $other6/64 dev eth0 nodad
ip -n "$LAB_PEER" route add 224.0.0.0/4 dev eth0
lab_peer_start peer /usr/bin/python3 "$LAB_TOP/tests/integration/mcasttest.py" --peer "$LAB_PEER_ADDR" $peer6 \
	$other $other6
lab_until 10 "the peer's sockets" grep -q ready "$LAB_DIR/peer.log"
look kernel
lab_sluiced "$@"
look sluice
diff -U 0 --label kernel --label sluice "$LAB_DIR/kernel.txt" "$LAB_DIR/sluice.txt" ||
	lab_fail "a program can tell sluice's groups from the kernel's: see the lines above"
printf '%s looks, all the same\n' "$(($(wc -l <"$LAB_DIR/kernel.txt") - 1))"
lab_equal 0 "$(grep -c Error "$LAB_DIR/sluice.txt" || true)" "looks that ended in an exception"
lab_start box /bin/sleep 600
lab_exec box /usr/bin/python3 /tmp/tests/integration/mcasttest.py "$LAB_ADDR" $addr6 "$LAB_PEER_ADDR" $peer6 $other \
	$other6 blocking_by_the_old_options two_members_hear_by_their_own_filters >/dev/null
[[ $(lab_ctl stats) =~ DROP_GROUP_FILTERED[^0-9]*([0-9]+) && ${BASH_REMATCH[1]} -ge 1 ]] ||
	lab_fail "sluicectl stats does not count DROP_GROUP_FILTERED"
lab_stop box
lab_sluiced_stop
