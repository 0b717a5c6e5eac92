#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# routes.sh - two links, tables and rules: packets take the kernel's ways, and sluicectl says which
#
#   LAB_NS eth0 10.99.0.2 -- 10.99.0.1 LAB_PEER      main: default via 10.99.0.1
#          eth1 10.98.0.2 -- 10.98.0.1               table 100: default via 10.98.0.1
#
# The decoys keep the kernel's tables in the container's namespace, so ip route get asks the same there.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

ctl() {
	"$SLUICE_BUILD/sluicectl" --state-dir "$LAB_DIR/state" "$@"
}

# kernel_says QUESTION... - the first line, without what a stack has no use for
kernel_says() {
	ip -n "$LAB_NS" route get "$@" 2>/dev/null | sed -n '1s/ uid.*//p' | sed 's/ *$//; s/ table local//'
}

we_say() {
	ctl routes "$LAB_ID" get "$@" 2>/dev/null | sed 's/ table local//'
}

# from_of ADDR - the address a connection to it comes from
from_of() {
	lab_exec box curl -s -o /dev/null --max-time 10 -w '%{local_ip}' "http://$1:8000/$file"
}

lab_open routes
ip -n "$LAB_NS" link add eth1 type veth peer name eth1 netns "$LAB_PEER"
ip -n "$LAB_NS" addr add 10.98.0.2/24 dev eth1
ip -n "$LAB_PEER" addr add 10.98.0.1/24 dev eth1
ip -n "$LAB_NS" link set eth1 up
ip -n "$LAB_PEER" link set eth1 up
for far in 10.66.0.1 10.67.0.1; do
	ip -n "$LAB_PEER" addr add "$far/32" dev lo
done
ip -n "$LAB_NS" -batch - <<-END
	route add default via 10.98.0.1 dev eth1 table 100
	route add prohibit 10.68.0.0/16
	route add blackhole 10.69.0.0/16
	route add throw 10.66.7.0/24 table 100
	rule add priority 100 to 10.66.0.0/16 lookup 100
	rule add priority 200 fwmark 1 lookup 100
	rule add priority 300 from 10.98.0.2 lookup 100
	rule add priority 400 uidrange 4242-4243 lookup 100
END
file=1m.bin
lab_file "$file" $((1 << 20)) >/dev/null
lab_peer_start http /usr/bin/python3 "$LAB_TOP/tests/integration/http_peer.py" 8000 "$LAB_DIR/share"
lab_peer_listens 8000
lab_sluiced "$@"
lab_start box sleep infinity

LAB_WHAT="connections"
lab_equal "$LAB_ADDR" "$(from_of 10.67.0.1)" "source by table main"
lab_equal 10.98.0.2 "$(from_of 10.66.0.1)" "source by table 100"
errnos=$(
	cat <<-'END'
		import errno, socket
		for host, want in ("10.68.0.1", errno.EACCES), ("10.69.0.1", errno.EINVAL):
		    got = socket.socket().connect_ex((host, 80))
		    assert got == want, (host, errno.errorcode[got])
		with socket.socket() as s:  # a rule by source, for a socket that has one
		    s.bind(("10.98.0.2", 0))
		    s.connect(("10.67.0.1", 8000))
	END
)
lab_exec box /usr/bin/python3 -c "$errnos" || lab_fail "errno of routes"

# SO_MARK and what else takes a capability, as the kernel does: with it, without it, and with it in a user
# namespace that does not own the network
LAB_WHAT="capabilities"
caps=$(
	cat <<-'END'
		import errno, socket
		def code(call, *args):
		    try:
		        call(*args)
		        return "0"
		    except OSError as e:
		        return errno.errorcode[e.errno]
		s, d = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		said = [code(x.setsockopt, socket.SOL_SOCKET, socket.SO_MARK, 1) for x in (s, d)]
		said += [code(s.setsockopt, socket.SOL_SOCKET, socket.SO_PRIORITY, p) for p in (7, 6)]
		said += [code(x.bind, ("", p)) for x, p in ((socket.socket(), 81), (d, 82), (socket.socket(), 8181))]
		s.connect(("10.67.0.1", 8000))
		d.connect(("10.67.0.1", 9))
		print(*said, s.getsockname()[0])
	END
)
lab_equal "0 0 0 0 0 0 0 10.98.0.2" "$(lab_exec box /usr/bin/python3 -c "$caps")" "with capabilities"
none="EPERM EPERM EPERM 0 EACCES EACCES 0 $LAB_ADDR"
lab_equal "$none" "$(lab_exec box /usr/bin/setpriv --bounding-set=-net_raw,-net_bind_service \
	/usr/bin/python3 -c "$caps")" "without capabilities"
lab_equal "$none" "$(lab_exec box /usr/bin/setpriv --reuid 1000 /usr/bin/unshare --user --map-root-user \
	/usr/bin/python3 -c "$caps")" "with those of another user namespace"

LAB_WHAT="rules by user"
user='import socket; s = socket.socket(); s.connect(("10.67.0.1", 8000)); print(s.getsockname()[0])'
for uid in 4241 4242; do
	lab_equal "$([[ $uid == 4242 ]] && echo 10.98.0.2 || echo "$LAB_ADDR")" \
		"$(lab_exec box /usr/bin/setpriv --reuid "$uid" /usr/bin/python3 -c "$user")" "user $uid"
done

LAB_WHAT="routes get"
while read -r question; do
	# shellcheck disable=SC2086 # words
	lab_equal "$(kernel_says $question)" "$(we_say $question)" "$question"
done <<-END
	10.66.0.1
	10.66.7.1
	10.67.0.1
	10.67.0.1 mark 1
	10.67.0.1 uid 4242
	10.67.0.1 from 10.98.0.2
	10.67.0.1 oif eth1
	10.99.0.1
	10.98.0.7
END
[[ -z $(we_say 10.68.0.1) ]] || lab_fail "a prohibited route has an answer"
lab_equal 10.98.0.1 "$(ctl routes "$LAB_ID" get 10.66.0.1 -json | jq -r '.[0].gateway')" "gateway as JSON"
ctl routes "$LAB_ID" | grep -q 'inet rule 200: from all fwmark 0x1/0xffffffff lookup 100' ||
	lab_fail "the rule by mark is not listed"
ctl routes "$LAB_ID" | grep -q 'inet route default via 10.98.0.1 dev eth1 table 100' ||
	lab_fail "the default of table 100 is not listed"

LAB_WHAT="after the daemon"
lab_stop box
lab_sluiced_stop
[[ $(ip -n "$LAB_NS" route show table 100) == *"default via 10.98.0.1"* ]] || lab_fail "table 100 is not there"
[[ $(ip -n "$LAB_NS" rule show) == *"200:"*"fwmark 0x1 lookup 100"* ]] || lab_fail "the rule is not there"
