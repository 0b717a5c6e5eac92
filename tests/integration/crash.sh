#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# crash.sh - the worker dies: its connections are reset, the container's listeners live on
#
# A program of the container must see what it would see if the peer had reset the connection: -ECONNRESET
# once, then end of file; poll says IN OUT HUP. Its listener must go on without a new bind() or listen().
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

# worker - the worker's pid
worker() {
	pgrep -P "$LAB_SLUICED" -f -- --role=worker
}

another_worker() {
	local now
	now=$(worker) && [[ $now != "$1" ]]
}

said() {
	grep -qx "$1" "$LAB_DIR/$2.log"
}

lab_open crash
lab_sluiced "$@"
lab_start server /usr/bin/python3 -uc '
import errno, itertools, select, socket, threading
def echo():
    bell = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    bell.bind(("0.0.0.0", 91))
    while True:
        bell.sendto(*bell.recvfrom(100))
threading.Thread(target=echo, daemon=True).start()
door = socket.create_server(("0.0.0.0", 90))
for number in itertools.count(1):
    conn, _ = door.accept()
    print("accepted", number)
    poll = select.poll()
    poll.register(conn, select.POLLIN | select.POLLOUT)
    try:
        conn.sendall(conn.recv(100))
    except OSError as err:
        print("reset", number, errno.errorcode[err.errno], conn.recv(100), poll.poll(0)[0][1],
              conn.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
    conn.close()
'
lab_answers 90
for pid in $(pgrep -P "$LAB_SLUICED" -f -- --role=); do
	for fd in 0 1 2; do
		lab_equal /dev/null "$(readlink "/proc/$pid/fd/$fd")" "descriptor $fd of child $pid"
	done
done
lab_until 5 "the server took the first connection" said "accepted 1" server

number=1
for round in first second; do
	LAB_WHAT="$round death of a worker"
	before=$(worker)
	number=$((number + 1))
	lab_peer_start "held$number" /usr/bin/python3 -c '
import socket, sys, time
conn = socket.create_connection((sys.argv[1], 90))
time.sleep(30)' "$LAB_ADDR"
	lab_until 5 "the server accepted" said "accepted $number" server
	kill -KILL "$before"
	# POLLIN | POLLOUT | POLLHUP; the error was taken by recv()
	lab_until 5 "the server sees the reset" said "reset $number ECONNRESET b'' 21 0" server
	lab_until 5 "another worker" another_worker "$before"
	number=$((number + 1))
	lab_equal "once more" "$(lab_peer timeout 10 /usr/bin/python3 -c '
import socket, sys
conn = socket.create_connection((sys.argv[1], 90))
conn.sendall(b"once more")
print(conn.recv(100).decode())' "$LAB_ADDR")" "echo by the next worker"
	# a datagram socket is the same one all the time
	lab_equal "a datagram" "$(lab_peer timeout 10 /usr/bin/python3 -c '
import socket, sys
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.settimeout(3)
sock.sendto(b"a datagram", (sys.argv[1], 91))
print(sock.recv(100).decode())' "$LAB_ADDR")" "echo of a datagram by the next worker"
done
lab_stop server
lab_sluiced_stop
