#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ping.sh - ping, unmodified, by echo sockets: ourselves, the peer, over IPv6, nobody there, unreachable
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

addr6=fd00:99::2
peer6=fd00:99::1
nobody=${LAB_PEER_ADDR%.*}.213

# pings STATUS WORD PROGRAM... - a program in the container ends with this status and says this
pings() {
	local want=$1 word=$2 status=0
	shift 2
	LAB_WHAT="$*"
	lab_exec box "$@" >"$LAB_DIR/out" 2>&1 || status=$?
	lab_equal "$want" "$status" "its exit status; it said: $(tail -n 4 "$LAB_DIR/out")"
	grep -q -- "$word" "$LAB_DIR/out" || lab_fail "it does not say \"$word\": $(cat "$LAB_DIR/out")"
}

lab_open ping
for side in "$LAB_NS $addr6" "$LAB_PEER $peer6"; do
	ip netns exec "${side% *}" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0
	ip -n "${side% *}" addr add "${side#* }/64" dev eth0 nodad
done
ip -n "$LAB_NS" route add unreachable 198.51.100.0/24
lab_sluiced "$@"
lab_start box /bin/sleep 600

[[ -x /usr/bin/ping ]] || lab_skip "ping (iputils) is not installed"
pings 0 "3 received, 0% packet loss" /usr/bin/ping -n -c 3 -i 0.2 -W 2 "$LAB_PEER_ADDR"
pings 0 "2 received" /usr/bin/ping -n -c 2 -i 0.2 -W 2 "$LAB_ADDR"
pings 0 "2 received" /usr/bin/ping -n -c 2 -i 0.2 -W 2 127.0.0.1
pings 0 "2 received" /usr/bin/ping -6 -n -c 2 -i 0.2 -W 2 "$peer6"
pings 0 "2 received" /usr/bin/ping -6 -n -c 2 -i 0.2 -W 2 "$addr6"
pings 0 "2 received" /usr/bin/ping -n -c 2 -i 0.2 -W 2 -s 8000 "$LAB_PEER_ADDR"
pings 0 "2 received" /usr/bin/ping -6 -n -c 2 -i 0.2 -W 2 -s 8000 "$peer6"
pings 1 "Destination Host Unreachable" /usr/bin/ping -n -c 1 -W 5 "$nobody"
pings 2 "No route to host" /usr/bin/ping -n -c 1 -W 1 198.51.100.1
# Only some busybox ask for an echo socket (Alpine's does); Debian's 1.35 asks for a raw one, which there is not.
if command -v busybox >/dev/null; then
	lab_exec box busybox ping -c 1 -W 2 "$LAB_PEER_ADDR" >"$LAB_DIR/out" 2>&1 || true
	if grep -q "are you root" "$LAB_DIR/out"; then
		echo "busybox here knows raw sockets alone"
	else
		pings 0 "2 packets received" busybox ping -c 2 -W 2 "$LAB_PEER_ADDR"
		pings 0 "1 packets received" busybox ping -6 -c 1 -W 2 "$peer6"
		pings 1 "0 packets received" busybox ping -c 1 -W 1 "$nobody"
	fi
fi
lab_stop box
lab_sluiced_stop
