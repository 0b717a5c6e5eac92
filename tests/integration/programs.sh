#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# programs.sh - programs of Debian as they are, each once: as a client in the container, or as a server there
#
# A row says what is needed, and a command that ends with 0 when the program did its work. Rows whose program is not
# installed are named and left out; tests/packages.sh installs those of ALWAYS, so they are never left out.
# A program that fails here and not over the kernel is a fault of sluice:
#
#   programs.sh --kernel	runs the same rows without sluiced
# shellcheck disable=SC2016 # the shells that run a row expand it
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

ALWAYS="curl dig dnsmasq haproxy iperf3 memcached nc perl python3 socat"
PATIENCE=20 # seconds a row may take; LAB_TIMEOUT is beyond it, so that its own words are seen
left_out=()
done_cnt=0

# is_here PROGRAM... - all of them are installed
is_here() {
	local program
	for program; do
		command -v "$program" >/dev/null && continue
		[[ " $ALWAYS " != *" $program "* ]] || lab_fail "$program is not installed, and tests/packages.sh names it"
		left_out+=("$program")
		return 1
	done
}

# judge NAME STATUS
judge() {
	(($2 == 0)) || lab_fail "$1 ended with status $2: $(tail -c 400 "$LAB_DIR/out")"
	done_cnt=$((done_cnt + 1))
}

# client "PROGRAM..." NAME COMMAND - by a shell in the container; P is the peer, F the file it serves
client() {
	local status=0
	# shellcheck disable=SC2086 # a list of words
	is_here $1 || return 0
	lab_exec box timeout "$PATIENCE" bash -c "P=$LAB_PEER_ADDR F=http://$LAB_PEER_ADDR:8000/file; $3" >"$LAB_DIR/out" 2>&1 ||
		status=$?
	judge "$2" "$status"
}

# server "PROGRAM..." NAME PORT COMMAND CHECK - COMMAND in the container; then CHECK at the peer, A is the container.
# PORT is one of TCP to wait for; udp: CHECK waits by itself
server() {
	local status=0
	# shellcheck disable=SC2086 # a list of words
	is_here $1 || return 0
	lab_exec_start box "server-$2" bash -c "P=$LAB_PEER_ADDR; cd /tmp; $4"
	[[ $3 == udp ]] || lab_await 15 lab_peer nc -z "$LAB_ADDR" "$3" || lab_fail "$2 does not listen on port $3"
	lab_peer timeout "$PATIENCE" bash -c "A=$LAB_ADDR; $5" >"$LAB_DIR/out" 2>&1 || status=$?
	judge "$2" "$status"
}

# again COMMAND - text of a loop that tries until the command is content
again() {
	printf 'until %s; do sleep 0.05; done' "$1"
}

lab_open programs
LAB_TIMEOUT=$((PATIENCE + 10))
lab_file file 300000 >/dev/null
lab_peer_start http /usr/bin/python3 "$LAB_TOP/tests/integration/http_peer.py" 8000 "$LAB_DIR/share"
lab_peer_start echo socat TCP-LISTEN:7001,fork,reuseaddr EXEC:cat
lab_peer_start udp socat UDP4-LISTEN:7002,fork,reuseaddr EXEC:cat
lab_peer_listens 8000
lab_peer_listens 7001
if [[ ${1:-} == --kernel ]]; then
	shift
else
	lab_sluiced "$@"
fi
lab_start box sleep infinity

LAB_WHAT="as a client"
client socat socat-tcp 'head -c 200000 /dev/zero | socat -t9 - "TCP:$P:7001" | wc -c | grep -qx 200000'
client socat socat-udp 'echo hi | socat -t1 - "UDP:$P:7002" | grep -qx hi'
client nc nc-tcp 'echo hi | nc -N "$P" 7001 | grep -qx hi'
client nc nc-udp 'echo hi | nc -u -w1 "$P" 7002 | grep -qx hi'
client nc nc-refused '! nc -z "$P" 9'
client bash bash 'exec 3<>"/dev/tcp/$P/8000"; printf "GET /file HTTP/1.0\r\n\r\n" >&3; head -c 15 <&3 | grep -q 200'
client perl perl 'perl -MIO::Socket::INET -e "\$s = IO::Socket::INET->new(PeerAddr => q($P:7001), Timeout => 5) or die;
	print \$s qq(x\n); print scalar <\$s>" | grep -qx x'
client python3 python-fd-passing 'python3 /tmp/tests/integration/programs.py pass'
client python3 python-multiprocessing 'python3 /tmp/tests/integration/programs.py processes'
client dig dig-refused 'dig +tcp +time=2 +tries=1 "@$P" x | grep -q refused'
client wget wget 'wget -qO- "$F" | cmp - /tmp/share/file'
client ruby ruby 'ruby -rnet/http -e "exit Net::HTTP.get(URI(%q($F))).size == 300000"'
client php php 'php -r "exit((int)(strlen(file_get_contents(\"$F\")) != 300000));"'
client node node-fetch 'node -e "fetch(\"$F\").then(r => r.arrayBuffer()).then(b => process.exit(b.byteLength == 300000 ? 0 : 1))"'
client node node-dgram 'node -e "const d = require(\"dgram\").createSocket(\"udp4\");
	d.on(\"message\", () => process.exit(0)); d.send(\"yo\", 7002, \"$P\")"'
client erl erlang 'HOME=/tmp erl -noshell -eval "{ok,S}=gen_tcp:connect(\"$P\",7001,[binary,{active,false}]),
	ok=gen_tcp:send(S,<<\"abc\">>),{ok,<<\"abc\">>}=gen_tcp:recv(S,3),{ok,L}=gen_tcp:listen(0,[]),
	{ok,N}=inet:port(L),{ok,_}=gen_tcp:connect(\"127.0.0.1\",N,[]),halt(0)."'
client mtr mtr 'mtr -r -c1 -n "$P" | grep -q "$P"'
client nmap nmap 'nmap -sT -Pn -n -p 8000 "$P" | grep -q "8000/tcp open"'

LAB_WHAT="as a server"
server haproxy haproxy 8081 'printf "defaults\nmode http\ntimeout connect 3s\ntimeout client 9s\ntimeout server 9s\nfrontend f\nbind :8081\ndefault_backend b\nbackend b\nserver s $P:8000 check\n" >h.cfg; haproxy -f h.cfg -db' \
	'curl -sf "http://$A:8081/file" | wc -c | grep -qx 300000'
server memcached memcached 11211 'memcached -u nobody -l 0.0.0.0 2>memcached.log' \
	'printf "set a 0 0 1\r\nx\r\nget a\r\nquit\r\n" | nc -N "$A" 11211 | grep -q "VALUE a"'
client memcached memcached-found-no-listener-readable-for-nothing '! grep -q accept /tmp/memcached.log'
server dnsmasq dnsmasq udp 'dnsmasq -d -u root -p 5354 --no-resolv --no-hosts --address=/x.test/1.2.3.4' \
	"$(again 'dig +time=1 +tries=1 "@$A" -p 5354 x.test +short | grep -qx 1.2.3.4')"
server "dnsmasq curl" tftp udp 'dnsmasq -d -u root -p 0 --enable-tftp --tftp-root=/tmp/share' \
	"$(again 'curl -sf -m 2 "tftp://$A/file" | wc -c | grep -qx 300000')"
server socat socat-udp-listen udp 'socat UDP4-LISTEN:7101,fork,reuseaddr EXEC:cat' \
	"for i in 1 2 3; do $(again 'echo "hi$i" | socat -t0.5 - "UDP:$A:7101" | grep -qx "hi$i"'); done"
server socat socat-udp-recvfrom udp 'socat UDP4-RECVFROM:7102,fork,reuseaddr EXEC:cat' \
	"for i in 1 2 3; do $(again 'echo "hi$i" | socat -t0.5 - "UDP:$A:7102" | grep -qx "hi$i"'); done"
server socat socat-group udp 'socat UDP4-RECVFROM:7108,ip-add-membership=239.1.2.3:eth0,fork,reuseaddr EXEC:cat' \
	"ip route add 239.0.0.0/8 dev eth0; $(again 'echo m | socat -t0.5 - UDP4-DATAGRAM:239.1.2.3:7108 | grep -qx m')"
server socat socat-tcp6-mapped 7109 'socat TCP6-LISTEN:7109,fork,reuseaddr,ipv6only=0 EXEC:cat' \
	'echo hi | socat -t2 - "TCP4:$A:7109" | grep -qx hi'
server socat socat-udp6-mapped udp 'socat UDP6-LISTEN:7107,fork,reuseaddr EXEC:cat' \
	"$(again 'echo hi | socat -t0.5 - "UDP4:$A:7107" | grep -qx hi')"
server iperf3 iperf3 5201 'iperf3 -s' \
	'for how in "" -R "-u -b 20M" "--bidir -P 4"; do iperf3 -c "$A" -t 1 $how; done'
server sshd sshd 2222 'mkdir -p /run/sshd; ssh-keygen -q -t ed25519 -N "" -f hk; /usr/sbin/sshd -D -e -h /tmp/hk -p 2222 -o UsePAM=no' \
	'ssh-keyscan -T 5 -p 2222 "$A" | grep -q ed25519'
server rsync rsync 8730 'printf "use chroot = no\nreverse lookup = no\nuid = root\ngid = root\n[s]\npath = /tmp/share\n" >r.cfg; rsync --daemon --no-detach --config=r.cfg --port=8730' \
	'rsync --port=8730 "rsync://$A/s/file" - >/dev/null && rsync --port=8730 "rsync://$A/s/" | grep -q file'
server "mosquitto mosquitto_sub" mosquitto 1883 'printf "listener 1883 0.0.0.0\nallow_anonymous true\nuser root\n" >m.cfg; mosquitto -c m.cfg' \
	'mosquitto_sub -h "$A" -t a -C 1 | grep -qx hi & until ! kill -0 $! 2>/dev/null; do mosquitto_pub -h "$A" -t a -m hi; sleep 0.1; done; wait $!'
server "nghttpd h2load" nghttpd 8083 'nghttpd --no-tls -d /tmp/share 8083' \
	'h2load -n 200 -c 10 "http://$A:8083/file" | grep -q "200 succeeded"'
server lighttpd lighttpd 8082 'printf "server.document-root=\"/tmp/share\"\nserver.port=8082\n" >l.cfg; lighttpd -D -f l.cfg' \
	'curl -sf "http://$A:8082/file" | wc -c | grep -qx 300000'
server unbound unbound udp 'printf "server:\n interface: 0.0.0.0@5353\n access-control: 0.0.0.0/0 allow\n chroot: \"\"\n username: \"\"\n pidfile: \"\"\n use-syslog: no\n do-ip6: no\n local-data: \"a.test. A 1.2.3.4\"\nremote-control:\n control-enable: no\n" >u.cfg; unbound -d -c /tmp/u.cfg' \
	"$(again 'dig +time=1 +tries=1 "@$A" -p 5353 a.test +short | grep -qx 1.2.3.4'); $(again 'dig +tcp +time=1 +tries=1 "@$A" -p 5353 a.test +short | grep -qx 1.2.3.4')"
server node node-cluster 9201 'echo "const c = require(\"cluster\"); if (c.isPrimary) for (let i = 0; i < 3; i++) c.fork();
	else require(\"http\").createServer((q, r) => r.end(String(process.pid))).listen(9201)" >c.js; node c.js' \
	'for i in {1..20}; do curl -sf "http://$A:9201/"; echo; done | sort -u | wc -l | grep -qvx 1'
server gunicorn gunicorn 8090 'printf "def app(e, s):\n s(\"200 OK\", [(\"Content-Length\", \"2\")])\n return [b\"ok\"]\n" >wsgi_app.py; gunicorn -w 3 -b 0.0.0.0:8090 wsgi_app:app' \
	'for i in {1..20}; do curl -sf "http://$A:8090/" | grep -qx ok || exit 1; done'
server php php-server 8092 'PHP_CLI_SERVER_WORKERS=3 php -S 0.0.0.0:8092 -t /tmp/share' \
	'curl -sf "http://$A:8092/file" | wc -c | grep -qx 300000'
server tinyproxy tinyproxy 8888 'printf "Port 8888\nTimeout 20\n" >t.cfg; tinyproxy -d -c t.cfg' \
	'curl -sf -x "http://$A:8888" "http://10.99.0.1:8000/file" | wc -c | grep -qx 300000'
lab_stop box
[[ -z $LAB_SLUICED ]] || lab_sluiced_stop
printf '%s programs did their work%s\n' "$done_cnt" "${left_out[0]:+; not installed: ${left_out[*]}}"
