#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile_calls.py - what a program does to its own sockets, one line a case: the same with the kernel and with sluice

Sizes of UDP_SEGMENT that make no sense, signals within calls, descriptors that are duplicated, replaced, closed
by another thread, passed on and inherited, no descriptor left, and connect() from all sides at once.
"""
import array
import contextlib
import os
import resource
import select
import signal
import socket
import ssl
import struct
import sys
import threading
import time

from looks import name_of, outcome

UDP, UDP_SEGMENT, UDP_GRO = 17, 103, 104
LOCAL = "127.0.0.1"
CASES = []


def case(func):
    """A generator of lines."""
    CASES.append(func)
    return func


def pair():
    """A connection through the stack: both ends."""
    with socket.create_server((LOCAL, 0)) as door:
        near = socket.create_connection(door.getsockname())
        far, _ = door.accept()
    near.settimeout(20)
    far.settimeout(20)
    return near, far


# ---- sizes of segments ----

def segments(size, total, family=socket.AF_INET):
    """A datagram of @total octets to be cut at @size; the lengths that arrive."""
    with socket.socket(family, socket.SOCK_DGRAM) as ear, socket.socket(family, socket.SOCK_DGRAM) as mouth:
        ear.bind((LOCAL if family == socket.AF_INET else "::1", 0))
        ear.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        control = [(UDP, UDP_SEGMENT, size if isinstance(size, bytes) else struct.pack("H", size))]
        sent = outcome(mouth.sendmsg, [b"x" * total], control, 0, ear.getsockname())
        got = []
        ear.settimeout(5 if isinstance(sent, int) else 0.05)
        try:
            while isinstance(sent, int) and sum(got) < total:
                got.append(len(ear.recv(65536)))
        except socket.timeout:
            got.append("lost")
        text = f"{len(got)} of {sorted(set(got), key=str)}" if got else "nothing"
        return f"{sent}, {text}"


@case
def segment_sizes():
    for family in (socket.AF_INET, socket.AF_INET6):
        for size, total in ((0, 100), (0, 0), (1, 100), (1, 128), (1, 129), (65535, 100), (65535, 9000),
                            (100, 12800), (100, 12801), (1, 65000), (1400, 60000), (100, 0), (60000, 60000)):
            yield f"{family.name} {size} of {total}: {segments(size, total, family)}"
    for text in (b"", b"\1", b"\1\0\0\0", struct.pack("i", -1)):
        yield f"control of {len(text)} octets: {segments(text, 100)}"


@case
def segment_options():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for option in (UDP_SEGMENT, UDP_GRO):
            for value in (0, 1, 65535, 65536, -1):
                r = outcome(s.setsockopt, UDP, option, value)
                yield f"{option} {value}: {r}, {outcome(s.getsockopt, UDP, option)}"
            yield f"{option} in two octets: {outcome(s.setsockopt, UDP, option, struct.pack('H', 1))}"
        s.setsockopt(UDP, UDP_SEGMENT, 0)
        s.connect((LOCAL, 9))
        yield f"UDP_GRO to be sent: {outcome(s.sendmsg, [b'x'], [(UDP, UDP_GRO, struct.pack('i', 100))])}"


# ---- signals ----

def storm():
    """
    SIGALRM every 100 us for the whole process, for a second: a call that traps is never answered while signals
    come faster than answers, which on a busy machine they do.
    """
    until = time.monotonic() + 1

    def rang(*_):
        if time.monotonic() > until:
            signal.setitimer(signal.ITIMER_REAL, 0)

    signal.signal(signal.SIGALRM, rang)
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)


def pattern(number, cnt):
    return bytes((number + i) % 251 for i in range(cnt))


def storm_client(where, rounds):
    for number in range(rounds):
        with socket.socket() as s:
            s.connect(where)
            s.sendall(pattern(number, 30000))
            s.shutdown(socket.SHUT_WR)
            got = b""
            while part := s.recv(5000):
                got += part
            if got != pattern(number, 30000):
                return 2
    return 0


@case
def signals_within_calls():
    """Handlers restart calls. Where they do not, a connect() may end before the agent has seen it: docs/hostile.md."""
    rounds = 5
    with socket.create_server((LOCAL, 0)) as door:
        where = door.getsockname()
        pid = os.fork()
        storm()
        if pid == 0:
            status = 3
            try:
                status = storm_client(where, rounds)
            finally:
                os._exit(status)
        for _ in range(rounds):
            conn, _ = door.accept()
            with conn:
                while part := conn.recv(5000):
                    conn.sendall(part)
        signal.setitimer(signal.ITIMER_REAL, 0)
        yield f"the client: {os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}"


# ---- one octet ----

@case
def one_octet():
    """recv(1), by which Python's ssl asks whether there is a connection."""
    with socket.socket() as sock:
        yield f"new: {outcome(sock.recv, 1)}"
        sock.setblocking(False)
        yield f"new, non-blocking: {outcome(sock.recv, 1)}"
        sock.bind((LOCAL, 0))
        yield f"bound: {outcome(sock.recv, 1)}"
        sock.listen()
        yield f"listening: {outcome(sock.recv, 1)}"
    near, far = pair()
    with near, far:
        far.sendall(b"ab")
        yield near.recv(1), near.recv(1)
        near.setblocking(False)
        yield f"nothing there: {outcome(near.recv, 1)}"
        yield f"peeking: {outcome(near.recv, 1, socket.MSG_PEEK)}"
        near.settimeout(20)
        thread = threading.Timer(0.1, far.sendall, [b"c"])
        thread.start()
        yield f"waited for: {near.recv(1)}"
        thread.join()
        far.close()
        yield f"the end: {near.recv(1)}"
    with socket.socket() as sock:
        sock.setblocking(False)
        sock.connect_ex(("192.0.2.1", 9))
        yield f"connecting: {outcome(sock.recv, 1)}"
    with socket.socket() as sock:
        yield f"connect: {outcome(sock.connect, (LOCAL, 9))}"
        yield f"refused: {outcome(sock.recv, 1)}"
    ends = socket.socketpair()
    ends[0].sendall(b"d")
    yield f"of no stack: {ends[1].recv(1)}"
    ends[0].close()
    ends[1].close()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ear, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mouth:
        ear.bind((LOCAL, 0))
        ear.settimeout(0.05)
        yield f"no datagram: {outcome(ear.recv, 1)}"
        ear.settimeout(5)
        mouth.sendto(b"ef", ear.getsockname())
        mouth.sendto(b"g", ear.getsockname())
        yield f"the first of a datagram: {ear.recv(1)}, the next: {ear.recv(1)}"


@case
def wrapped_before_connect():
    """ssl of Python on a socket that is not connected yet: it asks by recv(1)."""
    def answer():
        with door.accept()[0] as far:
            hello = far.recv(4096)
            far.sendall(b"this is no TLS")
            seen.append(hello[:2])
            with contextlib.suppress(ConnectionResetError):
                while far.recv(4096):
                    pass

    seen = []
    with socket.create_server((LOCAL, 0)) as door:
        wrapped = ssl.create_default_context().wrap_socket(socket.socket(), server_hostname="x")
        wrapped.settimeout(5)
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        try:
            wrapped.connect(door.getsockname())
        except ssl.SSLError as err:
            yield f"{err.reason}"
        wrapped.close()
        thread.join(5)
        yield f"the peer got {seen}"


# ---- descriptors ----

@case
def duplicated():
    near, far = pair()
    with near, far:
        other = socket.socket(fileno=os.dup(near.fileno()))
        other.settimeout(20)
        near.close()
        other.sendall(b"by the duplicate")
        yield far.recv(100)
        far.sendall(b"and back")
        yield other.recv(100)
        other.close()
        yield f"after the last: {far.recv(100)}"


@case
def replaced_by_a_pipe():
    near, far = pair()
    ends = os.pipe()
    with far:
        os.dup2(ends[1], near.fileno())
        yield f"the peer: {far.recv(100)}"
        os.write(near.fileno(), b"pipe")
        yield f"the pipe: {os.read(ends[0], 100)}"
        yield f"connect: {outcome(near.connect, (LOCAL, 9))}"
        yield f"getsockname: {outcome(near.getsockname)}"
    near.close()


@case
def replaced_by_each_other():
    first, first_far = pair()
    second, second_far = pair()
    with first_far, second_far:
        os.dup2(second.fileno(), first.fileno())
        yield f"the first's peer: {first_far.recv(100)}"
        second.close()
        first.sendall(b"the second now")
        yield second_far.recv(100)
        first.close()
        yield f"the second's peer: {second_far.recv(100)}"


@case
def closed_while_receiving():
    near, far = pair()
    with far:
        got = []
        thread = threading.Thread(target=lambda: got.append(outcome(near.recv, 100)))
        near.settimeout(None)
        thread.start()
        time.sleep(0.1)
        os.close(near.fileno())
        far.sendall(b"late")
        thread.join(5)
        yield f"recv: {got}, ended {not thread.is_alive()}"
        near.detach()
        yield f"the peer: {outcome(far.recv, 100)}"


@case
def closed_while_accepting():
    door = socket.create_server((LOCAL, 0))
    where, fd = door.getsockname(), door.fileno()
    got = []

    def accept():
        try:
            conn, _ = door.accept()
            got.append(conn.recv(100))
            conn.close()
        except OSError as e:
            got.append(name_of(e.errno))

    thread = threading.Thread(target=accept)
    thread.start()
    time.sleep(0.1)
    os.close(fd)
    # the kernel goes on accepting, sluice ends accept() with EINVAL and the port: neither may hang
    try:
        with socket.create_connection(where, timeout=5) as s:
            s.sendall(b"late")
            thread.join(5)
    except ConnectionRefusedError:
        got = got or ["nothing"]
    yield f"accept: {got in ([b'late'], ['EINVAL'])}"
    door.detach()
    thread.join(5)
    yield f"ended: {not thread.is_alive()}, connect again: {outcome(socket.create_connection, where)}"


@case
def passed_on():
    near, far = pair()
    with far:
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            far.close()
            near.close()
            ours.close()
            _, rights, _, _ = theirs.recvmsg(1, socket.CMSG_SPACE(4))
            fds = array.array("i")
            fds.frombytes(rights[0][2])
            with socket.socket(fileno=fds[0]) as s:
                s.settimeout(5)
                s.sendall(b"from the other process: " + s.recv(100))
            os._exit(0)
        theirs.close()
        ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [near.fileno()]))])
        near.close()
        far.sendall(b"hello")
        yield far.recv(100)
        os.waitpid(pid, 0)
        yield f"after its end: {far.recv(100)}"
        ours.close()


@case
def inherited_by_many():
    near, far = pair()
    go = os.pipe()
    pids = []
    with far:
        for number in range(20):
            pid = os.fork()
            if pid == 0:
                far.close()
                os.close(go[1])
                near.sendall(bytes([number]))
                os.read(go[0], 1)
                os._exit(0)
            pids.append(pid)
        near.close()
        got = b""
        while len(got) < 20:
            got += far.recv(100)
        yield f"from each: {sorted(got) == list(range(20))}"
        yield f"while they live: {select.select([far], [], [], 0.1)[0]}"
        os.close(go[1])
        yield f"after the last: {far.recv(100)}"
        for pid in pids:
            os.waitpid(pid, 0)
    os.close(go[0])


@case
def no_descriptor_left():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with socket.create_server((LOCAL, 0)) as door:
        first = socket.create_connection(door.getsockname())
        first.sendall(b"the first")
        select.select([door], [], [], 5)
        lowest = os.dup(0)
        os.close(lowest)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
        try:
            yield f"socket: {outcome(socket.socket)}"
            for _ in range(3):
                yield f"accept: {outcome(door.accept)}"
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        door.settimeout(5)
        conn, _ = door.accept()
        yield f"accept with room: {conn.recv(100)}"
        conn.close()
        first.close()


# ---- all at once ----

def spin(port, until):
    def one():
        while time.monotonic() < until:
            with socket.socket() as s:
                outcome(s.connect, (LOCAL, port))
    for _ in range(7):
        threading.Thread(target=one, daemon=True).start()
    one()
    os._exit(0)


@case
def everybody_connects_at_once():
    """Two processes of eight threads spin on connect(): a third one's round trips go on."""
    until = time.monotonic() + 2
    pids = []
    for _ in range(2):
        pid = os.fork()
        if pid == 0:
            spin(1, until)
        pids.append(pid)
    done = 0
    with socket.create_server((LOCAL, 0)) as door:
        while time.monotonic() < until:
            near = socket.create_connection(door.getsockname(), timeout=10)
            far, _ = door.accept()
            near.sendall(b"x")
            done += far.recv(100) == b"x"
            near.close()
            far.close()
    for pid in pids:
        os.waitpid(pid, 0)
    print(f"everybody_connects_at_once: {done} round trips", file=sys.stderr)
    yield f"the third goes on: {done >= 10}"


def main():
    for func in CASES:
        if sys.argv[1:] and func.__name__ not in sys.argv[1:]:
            continue
        try:
            for line in func():
                print(f"{func.__name__}: {line}", flush=True)
        except OSError as e:  # the line is the verdict
            print(f"{func.__name__}: {type(e).__name__}: {e}", flush=True)
    print("done", flush=True)


main()
