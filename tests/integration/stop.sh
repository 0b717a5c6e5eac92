#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# stop.sh - SIGTERM gives the namespace back as it was, with and without a container in it
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

# state - all that ip tells of the namespace, without what counts, ages or is drawn anew
state() {
	{
		ip -n "$LAB_NS" -d -j link show
		ip -n "$LAB_NS" -d -j addr show
		ip -n "$LAB_NS" -d -j route show table all
		ip -n "$LAB_NS" -j neigh show nud permanent
	} | jq -S 'walk(if type == "object"
		then del(.ifindex, .link_index, .preferred_life_time, .valid_life_time, .tentative) else . end)
		| sort_by(tostring)'
}

same() {
	state >"$LAB_DIR/after"
	diff -u "$LAB_DIR/before" "$LAB_DIR/after" >"$LAB_DIR/difference"
}

# given_back WHEN
given_back() {
	local status=0
	lab_await 5 same || lab_fail "the namespace is not what it was, $1: $(<"$LAB_DIR/difference")"
	lab_peer curl -s --connect-timeout 2 "http://$LAB_ADDR:9/" || status=$?
	lab_equal 7 "$status" "curl's status for a port that the kernel refuses again, $1"
}

lab_open stop
ip -n "$LAB_NS" link set eth0 mtu 1400
ip -n "$LAB_NS" neigh add 10.99.0.9 lladdr 02:00:00:00:00:09 nud permanent dev eth0
ip -n "$LAB_NS" route add 192.0.2.0/24 via "$LAB_PEER_ADDR" metric 7
ip -n "$LAB_NS" route add blackhole 198.51.100.0/24
state >"$LAB_DIR/before"

lab_sluiced "$@"
lab_sluiced_stop
given_back "after a run without a container"

lab_sluiced "$@"
sha=$(lab_file 1m.bin $((1 << 20)))
lab_nginx web
lab_equal "$sha" "$(lab_peer curl -sf --max-time 20 "http://$LAB_ADDR/1m.bin" | lab_sha)" "SHA-256"
lab_sluiced_stop
given_back "after a run with nginx still there"
lab_stop web
