#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""againtest - sockets that begin anew, how much there is to read, and when a datagram came: one line a look

Usage: againtest.py PEER, an address where udp_peer.py and selftest_peer.py run.
"""
import array
import ctypes
import fcntl
import itertools
import os
import select
import socket
import struct
import sys
import termios
import threading
import time

from looks import PATIENCE, QUIET, check, mask, name_of, outcome, run, until

PEER = sys.argv[1]
ECHO, REFUSED, NOBODY = (PEER, 7001), (PEER, 9), (PEER.rsplit(".", 1)[0] + ".77", 9)
UDP_ECHO = (PEER, 7201)
SOCKET, TCP = socket.SOL_SOCKET, socket.IPPROTO_TCP
TCP_INQ = 36
SO_TIMESTAMP, SO_TIMESTAMPNS, SO_TIMESTAMPING = 29, 35, 37
SO_TIMESTAMP_NEW, SO_TIMESTAMPNS_NEW, SO_TIMESTAMPING_NEW = 63, 64, 65
libc = ctypes.CDLL(None, use_errno=True)


def errno_of(sock):
    number = sock.getsockopt(SOCKET, socket.SO_ERROR)
    return name_of(number) if number else "none"


def pair():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen(4)
        client = socket.create_connection(door.getsockname(), PATIENCE)
        client.settimeout(None)
        return client, door.accept()[0]


def waiting(sock):
    count = array.array("i", [-1])
    fcntl.ioctl(sock, termios.FIONREAD, count)
    return count[0]


def unconnect(sock):
    return libc.connect(sock.fileno(), bytes(16), 16)


def connect(sock, address):
    """connect_ex() in words; a second one in a row with the same memory would be another's business."""
    number = sock.connect_ex(address)
    return name_of(number) if number else "ok"


@check
def a_descriptor_that_was_refused_connects():
    seen = []
    with socket.socket() as sock:
        sock.setblocking(False)
        sock.setsockopt(TCP, socket.TCP_NODELAY, 1)
        seen.append(connect(sock, REFUSED))
        mask(sock, select.POLLERR)
        seen += [errno_of(sock), connect(sock, REFUSED), connect(sock, ECHO)]
        seen += [mask(sock, select.POLLOUT), errno_of(sock), sock.getpeername() == ECHO,
                 sock.getsockopt(TCP, socket.TCP_NODELAY), sock.send(b"again")]
        until(lambda: waiting(sock) == 5)
        return seen + [sock.recv(10)]


@check
def the_error_is_told_by_connect():
    with socket.socket() as sock:
        sock.setblocking(False)
        seen = [connect(sock, REFUSED)]
        mask(sock, select.POLLERR)
        return seen + [connect(sock, REFUSED), connect(sock, ECHO), mask(sock, select.POLLOUT)]


@check
def a_bound_port_is_kept():
    with socket.socket() as sock:
        port = 7555
        sock.setsockopt(SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("0.0.0.0", port))
        sock.setblocking(False)
        sock.connect_ex(REFUSED)
        mask(sock, select.POLLERR)
        seen = [sock.getsockname()[1] == port, connect(sock, REFUSED), connect(sock, ECHO)]
        mask(sock, select.POLLOUT)
        return seen + [sock.getsockname()[1] == port]


@check
def what_was_connected_says_so():
    client, server = pair()
    with client, server:
        server.setsockopt(SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        server.close()
        mask(client, select.POLLERR)
        seen = [connect(client, ECHO), unconnect(client), connect(client, ECHO)]
        return seen + [client.send(b"x"), client.recv(10)]


@check
def blocking_attempts_in_a_row():
    with socket.socket() as sock:
        return connect(sock, REFUSED), connect(sock, REFUSED), connect(sock, ECHO), sock.send(b"x"), sock.recv(9)


@check
def shutdown_ends_an_attempt():
    seen = []
    for how in (socket.SHUT_RD, socket.SHUT_WR, socket.SHUT_RDWR):
        with socket.socket() as sock:
            sock.setblocking(False)
            seen += [connect(sock, NOBODY), outcome(sock.shutdown, how), errno_of(sock),
                     outcome(sock.getpeername), connect(sock, ECHO), mask(sock, select.POLLOUT)]
    return seen


def shut_while(sock, call):
    """What the call says that waits while the socket is shut, and what shutdown() says"""
    seen = []
    thread = threading.Thread(target=lambda: seen.append(call()))
    thread.start()
    time.sleep(QUIET)
    seen.append(outcome(sock.shutdown, socket.SHUT_RDWR))
    thread.join(PATIENCE)
    return sorted(str(s) for s in seen)


@check
def shutdown_wakes_who_connects():
    with socket.socket() as sock:
        return shut_while(sock, lambda: connect(sock, NOBODY))


@check
def shutdown_without_a_connection():
    with socket.socket() as sock, socket.socket(type=socket.SOCK_DGRAM) as udp:
        return outcome(sock.shutdown, 1), outcome(udp.shutdown, 0), outcome(sock.shutdown, 7)


@check
def shutdown_wakes_who_waits_for_a_datagram():
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        return shut_while(sock, lambda: sock.recvfrom(10)[0])


@check
def an_attempt_is_undone():
    with socket.socket() as sock:
        sock.setblocking(False)
        return connect(sock, NOBODY), unconnect(sock), errno_of(sock), sock.getsockname()[0], connect(sock, ECHO), \
            mask(sock, select.POLLOUT)


@check
def a_shared_descriptor_lingers_at_its_last_close():
    client, server = pair()
    with server:
        client.setsockopt(SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        other = os.dup(client.fileno())
        client.close()
        seen = [mask(server)]
        os.close(other)
        return seen + [mask(server, select.POLLERR)]


@check
def as_much_as_there_is():
    client, server = pair()
    with client, server, socket.socket() as fresh, socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen(1)
        seen = [waiting(fresh), outcome(waiting, door), waiting(client)]
        total = 0
        server.setblocking(False)
        client.setsockopt(SOCKET, socket.SO_RCVBUF, 400000)
        while total < 300000:
            sent = outcome(server.send, bytes(10000))
            if isinstance(sent, int):
                total += sent
        got = until(lambda: waiting(client) == total)
        client.recv(1000)
        return seen + [got, waiting(client) == total - 1000]


@check
def the_next_datagram_alone():
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.settimeout(PATIENCE)
        seen = [waiting(sock)]
        for data in (b"12345", b"", b"123"):
            sock.sendto(data, UDP_ECHO)
            time.sleep(QUIET)
        for _ in range(3):
            seen += [waiting(sock), sock.recv(100)]
        return seen + [waiting(sock)]


@check
def what_is_left_behind_a_read():
    client, server = pair()
    with client, server:
        client.setsockopt(TCP, TCP_INQ, 1)
        seen = [client.getsockopt(TCP, TCP_INQ), outcome(client.setsockopt, TCP, TCP_INQ, 2)]
        server.send(b"0123456789")
        until(lambda: waiting(client) == 10)
        for room, space in ((4, 64), (4, 0), (1, 24)):
            data, control, flags, _ = client.recvmsg(room, space)
            seen.append((data, [(a, b, struct.unpack("i", d)[0]) for a, b, d in control], flags))
        data, control, flags, _ = client.recvmsg(10, 64, socket.MSG_PEEK)
        seen.append((data, control, flags))
        server.close()
        mask(client, 0x2000)
        for _ in range(2):
            data, control, flags, _ = client.recvmsg(100, 64)
            seen.append((data, control, flags))
        return seen


@check
def enough_to_be_woken():
    client, server = pair()
    with client, server:
        client.setsockopt(SOCKET, socket.SO_RCVLOWAT, 10)
        server.send(b"12345")
        time.sleep(QUIET)
        seen = [mask(client), waiting(client)]
        server.send(b"67890")
        seen += [mask(client, select.POLLIN), client.recv(100)]
        server.send(b"end")
        time.sleep(QUIET)
        seen.append(mask(client))
        server.close()
        return seen + [mask(client, select.POLLIN | 0x2000), client.recv(100)]


@check
def a_lower_threshold_wakes():
    client, server = pair()
    with client, server:
        client.setsockopt(SOCKET, socket.SO_RCVLOWAT, 10)
        server.send(b"12345")
        time.sleep(QUIET)
        seen = [mask(client)]
        client.setsockopt(SOCKET, socket.SO_RCVLOWAT, 1)
        return seen + [mask(client, select.POLLIN), client.recv(100)]


def stamps(sock):
    sock.sendto(b"when?", UDP_ECHO)
    sock.settimeout(PATIENCE)
    seen = []
    for level, kind, data in sock.recvmsg(100, 512)[1]:
        words = struct.unpack(f"{len(data) // 8}q", data)
        seen.append((level, kind, len(data), abs(time.time() - words[0]) < 10, words[1] > 999999, words[2:]))
    return [s[:4] + s[5:] for s in seen]


@check
def when_a_datagram_came():
    seen = []
    for options in ([(SO_TIMESTAMP, 1)], [(SO_TIMESTAMPNS, 1)], [(SO_TIMESTAMP_NEW, 1)], [(SO_TIMESTAMPNS_NEW, 1)],
                    [(SO_TIMESTAMPING, 0x18)], [(SO_TIMESTAMPING_NEW, 0x18)],
                    [(SO_TIMESTAMP, 1), (SO_TIMESTAMPNS, 1)], [(SO_TIMESTAMPNS, 1), (SO_TIMESTAMP, 0)],
                    [(SO_TIMESTAMPNS, 1), (SO_TIMESTAMPING, 0x18)]):
        with socket.socket(type=socket.SOCK_DGRAM) as sock:
            for option in options:
                sock.setsockopt(SOCKET, *option)
            seen.append((stamps(sock), [sock.getsockopt(SOCKET, o) for o in (SO_TIMESTAMP, SO_TIMESTAMPNS)],
                         sock.getsockopt(SOCKET, SO_TIMESTAMPING, 8)))
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        return seen, outcome(sock.setsockopt, SOCKET, SO_TIMESTAMPING, 1 << 30)


@check
def send_before_connect_is_through():
    with socket.socket() as sock, socket.socket() as other:
        sock.setblocking(False)
        seen = [sock.connect_ex(NOBODY) == 115, outcome(sock.send, b"x"), outcome(sock.send, bytes(100000)),
                outcome(sock.sendmsg, [b"x"]), outcome(sock.sendto, b"x", NOBODY), outcome(sock.recv, 1), mask(sock)]
        sock.shutdown(socket.SHUT_RDWR)
        # a send that waits goes on when the connection is there
        other.setblocking(False)
        other.connect_ex(ECHO)
        other.setblocking(True)
        seen.append(other.send(b"waited"))
        other.settimeout(PATIENCE)
        return seen, other.recv(100)


@check
def who_holds_a_port():
    """A connection of a listener that is gone, then its TIME-WAIT: bind() and listen() beside them."""
    def beside(place, port, options):
        with socket.socket() as sock:
            for option in options:
                sock.setsockopt(SOCKET, option, 1)
            return outcome(sock.bind, (place, port)) or outcome(sock.listen) or "listens"

    ways = (), (socket.SO_REUSEADDR,), (socket.SO_REUSEPORT,)
    seen = []
    for options in ways:
        for place in "127.0.0.1", "0.0.0.0":
            door = socket.socket()
            for option in options:
                door.setsockopt(SOCKET, option, 1)
            door.bind((place, 0))
            door.listen()
            port = door.getsockname()[1]
            client = socket.create_connection(("127.0.0.1", port), PATIENCE)
            with door, door.accept()[0] as server:
                seen += [beside(*args) for args in itertools.product(("127.0.0.1", "0.0.0.0"), (port,), ways)]
                door.close()
                seen += [beside(*args) for args in
                         itertools.product(("127.0.0.1", "0.0.0.0", "127.0.0.2"), (port,), ways)]
                server.close()
            client.close()
            seen += [beside(place, port, way) for way in ways]
    return seen


run(sys.argv[2:])
