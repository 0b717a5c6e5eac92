#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ipv6.sh - TCP over IPv6: nginx on [::]:80, curl as a client, one listener for both families, ::1,
# link-local addresses with their scope
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

addr6=fd00:99::2
peer6=fd00:99::1

# address NAMESPACE ADDRESS - without duplicate address detection, which takes a second
address() {
	ip netns exec "$1" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0
	ip -n "$1" addr add "$2/64" dev eth0 nodad
}

# link_local NAMESPACE - its address on eth0
link_local() {
	ip -n "$1" -6 -o addr show dev eth0 scope link | awk '{ sub("/.*", "", $4); print $4 }'
}

no_tentative() {
	[[ -n $(link_local "$1") && $(ip -n "$1" -6 addr show dev eth0) != *tentative* ]]
}

# fetch URL OPTION... - from the peer, by its hash
fetch() {
	local url=$1
	shift
	lab_peer curl -sfg --max-time 20 "$@" "$url" | lab_sha
}

# counter NAME - of the stack
counter() {
	lab_ctl stats | jq ".worker.$1"
}

lab_open ipv6
[[ -d /proc/sys/net/ipv6 ]] || lab_skip "this kernel has no IPv6"
address "$LAB_NS" $addr6
address "$LAB_PEER" $peer6
ip -n "$LAB_NS" route add default via $peer6
lab_until 5 "addresses are tentative" no_tentative "$LAB_NS"
lab_until 5 "addresses are tentative" no_tentative "$LAB_PEER"
local6=$(link_local "$LAB_NS")
peer_local6=$(link_local "$LAB_PEER")
lab_sluiced "$@"
sha=$(lab_file 10m.bin $((10 << 20)))

LAB_WHAT="nginx on [::]:80"
lab_nginx web
lab_equal "$sha" "$(fetch "http://[$addr6]/10m.bin" -6)" "SHA-256 over IPv6"
lab_equal "$sha" "$(fetch "http://$LAB_ADDR/10m.bin")" "SHA-256 over IPv4 beside it"
lab_equal "$sha" "$(fetch "http://[$local6%25eth0]/10m.bin" -6)" "SHA-256 by the link-local address"
report=$(lab_peer ab -q -n 40 -c 8 "http://[$addr6]/10m.bin") || lab_fail "ab ended without a result"
grep -q '^Failed requests: *0$' <<<"$report" || lab_fail "some of 40 requests failed"

LAB_WHAT="curl in the container"
lab_peer_start http /usr/bin/python3 -m http.server 8006 --bind :: --directory "$LAB_DIR/share"
lab_peer_listens 8006
lab_equal "$sha" "$(lab_exec web curl -sfg --max-time 20 "http://[$peer6]:8006/10m.bin" | lab_sha)" "SHA-256 of the download"
lab_equal "$sha" "$(lab_exec web curl -sfg --max-time 20 "http://[$peer_local6%25eth0]:8006/10m.bin" | lab_sha)" \
	"SHA-256 of the download from a link-local address"
status=0
lab_exec web curl -sg --max-time 10 "http://[$peer6]:9/" >/dev/null || status=$?
lab_equal 7 "$status" "exit status of a refused port"

LAB_WHAT="one listener for both families"
lab_exec_start web dual /usr/bin/python3 /tmp/tests/integration/dual_stack.py 8081
lab_answers 8081
lab_equal "::ffff:$LAB_PEER_ADDR 0 ::ffff:$LAB_ADDR 0" "$(lab_peer curl -s --http0.9 --max-time 5 "http://$LAB_ADDR:8081/")" \
	"names of an IPv4 connection"
lab_equal "$peer6 0 $addr6 0" "$(lab_peer curl -sg --http0.9 --max-time 5 "http://[$addr6]:8081/")" "names of an IPv6 connection"
scope=$(ip -n "$LAB_NS" -o link show eth0 | cut -d : -f 1)
lab_equal "$peer_local6 $scope $local6 $scope" \
	"$(lab_peer curl -sg --http0.9 --max-time 5 "http://[$local6%25eth0]:8081/")" "names of a link-local connection"
lab_equal "::1 0 ::1 0" "$(lab_exec web curl -sg --http0.9 --max-time 5 'http://[::1]:8081/')" "names of a connection by ::1"
lab_equal "::ffff:127.0.0.1 0 ::ffff:127.0.0.1 0" \
	"$(lab_exec web curl -s --http0.9 --max-time 5 'http://127.0.0.1:8081/')" "names of a connection by 127.0.0.1"
lab_exec web /usr/bin/python3 /tmp/tests/integration/dual_stack.py errors || lab_fail "what bind() and connect() say differs"
[[ $(counter ND_ADVERTISEMENTS) -ge 1 ]] || lab_fail "no neighbour was answered"
lab_stop web
lab_sluiced_stop
[[ $(ip -n "$LAB_NS" -6 -br addr show eth0) == *"$addr6/64"* ]] || lab_fail "$addr6 did not come back"
