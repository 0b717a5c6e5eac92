#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sysctl.sh - sysctls of the container are knobs of the stack, whoever writes them, and come back
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

# file NAME - what /proc/sys/net/NAME says in the container's namespace
file() {
	ip netns exec "$LAB_NS" cat "/proc/sys/net/$1"
}

# knob NAME - what the stack does
knob() {
	lab_ctl sysctl | jq -r --arg name "$1" '.sysctls[$name]'
}

is_knob() {
	[[ $(knob "$1") == "$2" ]]
}

lab_open sysctl
ip netns exec "$LAB_NS" sh -c 'echo 17 >/proc/sys/net/ipv4/tcp_fin_timeout'
lab_sluiced --sysctl net.ipv4.tcp_rmem='4096 200000 20000000' --sysctl net.ipv4.tcp_no_such_thing=1 "$@"

LAB_WHAT="what was there before the start"
lab_equal 17 "$(knob net.ipv4.tcp_fin_timeout)" "tcp_fin_timeout"
LAB_WHAT="--sysctl"
lab_equal "- 200000 20000000" "$(knob net.ipv4.tcp_rmem)" "tcp_rmem of the stack"
lab_equal $'4096\t200000\t20000000' "$(file ipv4/tcp_rmem)" "tcp_rmem of /proc/sys"
lab_equal net.ipv4.tcp_no_such_thing "$(lab_ctl sysctl | jq -r '.ignored[]')" "what has no effect"
"$SLUICE_BUILD/sluicectl" --state-dir "$LAB_DIR/state" doctor >"$LAB_DIR/doctor.log" || true
grep -q "net.ipv4.tcp_no_such_thing has no effect in sandbox $LAB_ID" "$LAB_DIR/doctor.log" ||
	lab_fail "doctor does not list it"

LAB_WHAT="linux.sysctl of the container"
lab_bundle box sleep infinity
jq '.linux.sysctl = {"net.ipv4.ip_default_ttl": "33", "net.ipv4.tcp_syn_retries": "2",
	"net.ipv4.tcp_autocorking": "0"}' "$LAB_DIR/box/config.json" >"$LAB_DIR/box/new.json"
mv "$LAB_DIR/box/new.json" "$LAB_DIR/box/config.json"
LAB_CONTAINERS+=("$LAB_ID-box")
lab_oci run --detach --pid-file "$LAB_DIR/box.pid" --bundle "$LAB_DIR/box" "$LAB_ID-box" \
	</dev/null >"$LAB_DIR/box.log" 2>&1 || lab_fail "the container did not start"
lab_until 3 "ip_default_ttl is in force" is_knob net.ipv4.ip_default_ttl 33
lab_equal 2 "$(knob net.ipv4.tcp_syn_retries)" "tcp_syn_retries"
lab_equal 33 "$(lab_exec box cat /proc/sys/net/ipv4/ip_default_ttl)" "what the program reads"
lab_ctl sysctl | jq -e '.ignored | index("net.ipv4.tcp_autocorking")' >/dev/null ||
	lab_fail "a knob of the kernel alone is not listed"

# On the wire: the TTL of a SYN, as the peer's kernel tells it to a raw socket.
lab_peer timeout 10 python3 - "$LAB_DIR/listening" >"$LAB_DIR/ttl" <<'PY' &
import socket
import sys
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
open(sys.argv[1], "w").close()
while True:
    p = s.recv(2048)
    if p[12:16] == bytes([10, 99, 0, 2]) and p[22:24] == (4321).to_bytes(2, "big"):
        print(p[8])
        break
PY
waiter=$!
lab_until 10 "the peer's raw socket" test -e "$LAB_DIR/listening"
lab_exec box busybox nc -w 2 "$LAB_PEER_ADDR" 4321 || true
wait "$waiter" || lab_fail "no SYN came"
lab_equal 33 "$(<"$LAB_DIR/ttl")" "TTL on the wire"

LAB_WHAT="sluicectl sysctl"
timeout 10 "$SLUICE_BUILD/sluicectl" --state-dir "$LAB_DIR/state" sysctl "$LAB_ID" net.ipv4.tcp_fin_timeout=9 >/dev/null
lab_equal 9 "$(knob net.ipv4.tcp_fin_timeout)" "tcp_fin_timeout"
lab_equal 9 "$(file ipv4/tcp_fin_timeout)" "tcp_fin_timeout of /proc/sys"
! timeout 10 "$SLUICE_BUILD/sluicectl" --state-dir "$LAB_DIR/state" sysctl "$LAB_ID" net.ipv4.tcp_sack=7 >/dev/null ||
	lab_fail "7 was taken for tcp_sack"
timeout 10 "$SLUICE_BUILD/sluicectl" --state-dir "$LAB_DIR/state" sysctl "$LAB_ID" net.ipv4.tcp_congestion_control=reno >/dev/null
lab_equal reno "$(lab_exec box python3 -c 'import socket
print(socket.socket().getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode())')" \
	"what a new socket says"
LAB_WHAT="a write at run time"
ip netns exec "$LAB_NS" sh -c 'echo 40000 40100 >/proc/sys/net/ipv4/ip_local_port_range'
lab_until 3 "the port range is in force" is_knob net.ipv4.ip_local_port_range "40000 40100"

LAB_WHAT="after the daemon"
lab_stop box
lab_sluiced_stop
lab_equal 17 "$(file ipv4/tcp_fin_timeout)" "what sluicectl wrote over"
lab_equal 33 "$(file ipv4/ip_default_ttl)" "what the container wrote"
lab_equal $'40000\t40100' "$(file ipv4/ip_local_port_range)" "what was written at run time"
[[ $(file ipv4/tcp_rmem) != *20000000 ]] || lab_fail "tcp_rmem is still the daemon's"
