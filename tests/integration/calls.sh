#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# calls.sh - a program that is hostile to its own sockets: what it sees is what the kernel would have shown it
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

# look MODE - the lines, into $LAB_DIR/MODE.txt
look() {
	lab_run look /usr/bin/python3 /tmp/tests/integration/hostile_calls.py \
		>"$LAB_DIR/$1.txt" 2>"$LAB_DIR/look.log" || lab_fail "the program ended with status $? after: $(tail -n 1 "$LAB_DIR/$1.txt") ($1)"
	[[ $(tail -n 1 "$LAB_DIR/$1.txt") == "done" ]] || lab_fail "the program stopped half-way ($1)"
	cat "$LAB_DIR/look.log"
}

no_sockets_left() {
	[[ $(lab_sockets) == 0 ]]
}

lab_open calls
look kernel
lab_sluiced "$@"
mapfile -t before < <(lab_sluiced_pids)
look sluice
lab_until 20 "sluiced has freed every socket ($(lab_sockets) left)" no_sockets_left
kill -0 "${before[@]}" 2>/dev/null || lab_fail "a process of sluiced did not outlive the program"
LAB_WHAT="a resolver of the engine's on the kernel's loopback"
ip netns exec "$LAB_NS" /usr/bin/python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.11", 53))
print("ready", flush=True)
while True:
    s.sendto(b"answer", s.recvfrom(512)[1])' >"$LAB_DIR/resolver.log" 2>&1 </dev/null &
LAB_PIDS+=("$!")
disown "$!"
lab_until 10 "the resolver" grep -q ready "$LAB_DIR/resolver.log"
lab_equal "ConnectionRefusedError" "$(lab_run ask /usr/bin/python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
s.connect(("127.0.0.11", 53))
try:
    s.send(b"question")
    print(s.recvfrom(512)) # what recv() cannot say: docs/architecture.md
except OSError as e:
    print(type(e).__name__)')" "its answer, which is refused at once as nobody listens in the stack"
LAB_WHAT="resolver configurations"
! nm -D --undefined-only "$SLUICE_BUILD/sluiced" | grep -E "getaddrinfo|getnameinfo|gethostby|res_" ||
	lab_fail "the daemon looks names up"
LAB_WHAT=
lab_sluiced_stop
diff -U 0 --label kernel --label sluice "$LAB_DIR/kernel.txt" "$LAB_DIR/sluice.txt" ||
	lab_fail "a program can tell sluice's sockets from the kernel's: see the lines above"
printf '%s looks, all the same\n' "$(($(wc -l <"$LAB_DIR/kernel.txt") - 1))"
