#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# udp.sh - datagrams: a self test held against the kernel's, names looked up, iperf3, dnsmasq
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

# look MODE - the self test's lines, into $LAB_DIR/MODE.txt
look() {
	lab_run look /usr/bin/python3 /tmp/tests/integration/udptest.py "$LAB_PEER_ADDR" "$LAB_ADDR" \
		>"$LAB_DIR/$1.txt" 2>"$LAB_DIR/look.log" || lab_fail "the self test ended with status $? ($1)"
	[[ $(tail -n 1 "$LAB_DIR/$1.txt") == "done" ]] || lab_fail "the self test stopped half-way ($1)"
}

lab_open udp
LAB_TIMEOUT=100
printf 'nameserver %s\noptions timeout:2 attempts:2\n' "$LAB_PEER_ADDR" >"$LAB_DIR/resolv.conf"
LAB_BINDS=("$LAB_DIR/resolv.conf:/etc/resolv.conf")
lab_peer_start peer /usr/bin/python3 "$LAB_TOP/tests/integration/udp_peer.py" "$LAB_PEER_ADDR"
lab_until 10 "the peer's sockets" grep -q ready "$LAB_DIR/peer.log"
look kernel
lab_sluiced "$@"
look sluice
diff -U 0 --label kernel --label sluice "$LAB_DIR/kernel.txt" "$LAB_DIR/sluice.txt" ||
	lab_fail "a program can tell sluice's datagram sockets from the kernel's: see the lines above"
printf '%s looks, all the same\n' "$(($(wc -l <"$LAB_DIR/kernel.txt") - 1))"

lab_start box /bin/sleep 600
LAB_WHAT="getent"
lab_equal "10.99.0.77" "$(lab_exec box /usr/bin/getent ahostsv4 sluice.test | awk 'NR == 1 { print $1 }')" \
	"the address of sluice.test"
if lab_exec box /usr/bin/getent ahostsv4 nosuch.test >/dev/null; then
	lab_fail "there is an address for nosuch.test"
fi
if command -v dig >/dev/null; then
	LAB_WHAT="dig"
	lab_equal "10.99.0.77" "$(lab_exec box /usr/bin/dig +short +tries=2 +time=3 "@$LAB_PEER_ADDR" sluice.test)" \
		"the answer for sluice.test"
fi
if command -v dnsmasq >/dev/null && command -v dig >/dev/null; then
	LAB_WHAT="dnsmasq"
	lab_exec_start box dnsmasq "$(command -v dnsmasq)" --no-daemon --user=root --group=root --no-hosts \
		--no-resolv --port=5300 --address=/inside.test/10.99.0.88 --server="$LAB_PEER_ADDR"
	lab_until 10 "dnsmasq's answer" lab_peer dig +short +tries=1 +time=1 -p 5300 "@$LAB_ADDR" inside.test
	lab_equal "10.99.0.88" "$(lab_peer dig +short -p 5300 "@$LAB_ADDR" inside.test)" \
		"dnsmasq's answer of its own"
	lab_equal "10.99.0.77" "$(lab_peer dig +short -p 5300 "@$LAB_ADDR" sluice.test)" \
		"dnsmasq's answer from its server"
fi
# Slow, and some loss is allowed: on a busy machine it is the peer that does not keep up.
if command -v iperf3 >/dev/null; then
	LAB_WHAT="iperf3"
	lab_peer_start iperf3 iperf3 -s -B "$LAB_PEER_ADDR"
	lab_peer_listens 5201
	for way in "" -R; do
		# shellcheck disable=SC2086 # no word when empty
		lab_exec box /usr/bin/iperf3 -u -c "$LAB_PEER_ADDR" -b 10M -t 2 -J $way >"$LAB_DIR/iperf3.json" ||
			lab_fail "iperf3 -u $way ended with status $?"
		jq -e '.end.sum | (.bits_per_second > 8e6) and (.lost_percent < 20)' \
			"$LAB_DIR/iperf3.json" >/dev/null ||
			lab_fail "iperf3 -u $way: $(jq -c .end.sum "$LAB_DIR/iperf3.json")"
		printf 'iperf3 -u %s: %s\n' "$way" \
			"$(jq -c '.end.sum | [.bits_per_second, .lost_percent]' "$LAB_DIR/iperf3.json")"
	done
fi
lab_stop box
lab_sluiced_stop
