#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fastopen - both ends of TCP Fast Open (RFC 7413), for the container and for the kernel at its peer

Usage: fastopen.py serve PORT		answers with what came, in capitals; one line tells of each connection
       fastopen.py HOW ADDRESS PORT	HOW: send (MSG_FASTOPEN), message (the same by sendmsg()), connect
					(TCP_FASTOPEN_CONNECT), free (likewise with TCP_FASTOPEN_NO_COOKIE); tells
					whether the SYN's octets were taken
       fastopen.py look ADDRESS PORT	one line a look at the options and calls
"""
import select
import signal
import socket
import sys

from looks import PATIENCE, check, mask, name_of, outcome, run

TCP = socket.IPPROTO_TCP
TCP_FASTOPEN, TCP_FASTOPEN_CONNECT, TCP_FASTOPEN_KEY, TCP_FASTOPEN_NO_COOKIE = 23, 30, 33, 34
TCPI_OPT_SYN_DATA, TCPI_OPT_TFO_CHILD = 32, 128
WORDS = b"octets of the syn"


def info(sock):
    """(tcpi_options that are about Fast Open, tcpi_fastopen_client_fail)"""
    octets = sock.getsockopt(TCP, socket.TCP_INFO, 104)
    return octets[5] & (TCPI_OPT_SYN_DATA | TCPI_OPT_TFO_CHILD), octets[7] >> 1 & 3


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def serve(port):
    server = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=16)
    server.setsockopt(TCP, TCP_FASTOPEN, 16)
    while True:
        sock, _ = server.accept()
        with sock:
            data = sock.recv(1000)
            if data:
                sock.sendall(data.upper())
            while more := outcome(sock.recv, 1000):
                if isinstance(more, str):  # reset: the client did not read its answer
                    break
                data += more
            if data:
                print(f"{data.decode()}: {'syn' if info(sock)[0] & TCPI_OPT_SYN_DATA else 'later'}", flush=True)


def call(how, address, port):
    signal.alarm(10)  # a timeout of the socket's own would make it non-blocking
    with socket.socket(family(address)) as sock:
        if how == "send":
            sock.sendto(WORDS, socket.MSG_FASTOPEN, (address, port))
        elif how == "message":
            sock.sendmsg([WORDS], [], socket.MSG_FASTOPEN, (address, port))
        else:
            sock.setsockopt(TCP, TCP_FASTOPEN_CONNECT, 1)
            sock.setsockopt(TCP, TCP_FASTOPEN_NO_COOKIE, how == "free")
            sock.connect((address, port))
            sock.sendall(WORDS)
        answer = sock.recv(1000)
        assert answer == WORDS.upper(), answer
        print("syn" if info(sock)[0] & TCPI_OPT_SYN_DATA else "later")


def look(address, port):
    peer = (address, port)

    def client(blocks=False):
        sock = socket.socket(family(address))
        if blocks:
            sock.settimeout(None)
            signal.alarm(20)
        else:
            sock.setblocking(False)
        return sock

    def answered(sock):
        sock.settimeout(PATIENCE)
        return sock.recv(1000), info(sock)

    def states():
        """A fresh socket, a listener, both ends of a connection."""
        listener = socket.create_server(("127.0.0.1", 0))
        end = socket.create_connection(listener.getsockname(), PATIENCE)
        return socket.socket(), listener, end, listener.accept()[0]

    @check
    def without_cookie_nobody_waits():
        with client() as sock:
            seen = [outcome(sock.sendto, WORDS, socket.MSG_FASTOPEN, peer), mask(sock, select.POLLOUT)]
            return seen, sock.send(WORDS), answered(sock)

    @check
    def with_cookie_the_octets_are_taken():
        with client() as sock:
            return outcome(sock.sendto, WORDS, socket.MSG_FASTOPEN, peer), answered(sock)

    @check
    def dontwait_of_a_socket_that_blocks():
        with client(True) as sock:
            return outcome(sock.sendto, WORDS, socket.MSG_FASTOPEN | socket.MSG_DONTWAIT, peer), answered(sock)

    @check
    def connect_with_a_cookie_succeeds_at_once():
        with client() as sock:
            sock.setsockopt(TCP, TCP_FASTOPEN_CONNECT, 1)
            seen = sock.connect_ex(peer), mask(sock, select.POLLOUT), sock.send(WORDS)
            return seen, answered(sock)

    @check
    def message_with_a_cookie():
        with client() as sock:
            return outcome(sock.sendmsg, [WORDS], [], socket.MSG_FASTOPEN, peer), answered(sock)

    @check
    def wrong_moments():
        nobody = address.rsplit(".", 1)[0] + ".77", port
        with client(True) as sock, client() as other:
            sock.connect(peer)
            other.connect_ex(nobody)
            return [outcome(sock.sendto, WORDS, socket.MSG_FASTOPEN, peer),
                    outcome(other.sendto, WORDS, socket.MSG_FASTOPEN, nobody)]

    @check
    def refused():
        with client() as sock:
            return (outcome(sock.sendto, WORDS, socket.MSG_FASTOPEN, (address, 9)), mask(sock, select.POLLHUP),
                    name_of(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)))

    @check
    def options_by_state():
        return [[outcome(sock.setsockopt, TCP, option, value), sock.getsockopt(TCP, option)]
                for option in (TCP_FASTOPEN, TCP_FASTOPEN_CONNECT, TCP_FASTOPEN_NO_COOKIE)
                for value in (-1, 0, 1, 2) for sock in states()]

    @check
    def keys():
        seen = []
        for sock in states():
            seen.append(sock.getsockopt(TCP, TCP_FASTOPEN_KEY, 64))
            for size in (0, 15, 16, 17, 31, 32, 33):
                seen.append(outcome(sock.setsockopt, TCP, TCP_FASTOPEN_KEY, bytes(range(size))))
                seen += [sock.getsockopt(TCP, TCP_FASTOPEN_KEY, room) for room in (64, 32, 20, 16, 3)]
        return seen

    @check
    def key_is_not_inherited():
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setsockopt(TCP, TCP_FASTOPEN_KEY, bytes(16))
        end = socket.create_connection(listener.getsockname(), PATIENCE)
        return end.getsockopt(TCP, TCP_FASTOPEN_KEY, 64), listener.accept()[0].getsockopt(TCP, TCP_FASTOPEN_KEY, 64)

    def pair(listener, blocks=True):
        """Both ends of a connection whose client sends with its SYN."""
        end = client(blocks)
        outcome(end.sendto, WORDS, socket.MSG_FASTOPEN, listener.getsockname())
        accepted = listener.accept()[0]
        return end, accepted

    def listening(place=("127.0.0.1", 0)):
        listener = socket.create_server(place, reuse_port=True)
        listener.settimeout(PATIENCE)
        listener.setsockopt(TCP, TCP_FASTOPEN, 4)
        return listener

    @check
    def both_ends_on_this_host():
        listener = listening()
        return [[info(end) for end in pair(listener)] for _ in range(3)]

    @check
    def a_changed_key_makes_an_old_cookie_worthless_but_for_the_backup():
        listener, seen = listening(("127.0.0.9", 0)), []
        for key in (b"a" * 16, b"b" * 16 + b"a" * 16, b"b" * 16, b"c" * 16, b"c" * 16):
            listener.setsockopt(TCP, TCP_FASTOPEN_KEY, key)
            seen += [[info(end) for end in pair(listener)] for _ in range(2)]
        return seen

    @check
    def a_listener_without_cookies():
        listener = listening(("127.0.0.10", 0))
        listener.setsockopt(TCP, TCP_FASTOPEN_NO_COOKIE, 1)
        with client() as sock:
            sock.setsockopt(TCP, TCP_FASTOPEN_NO_COOKIE, 1)
            seen = [outcome(sock.sendto, WORDS, socket.MSG_FASTOPEN, listener.getsockname())]
            return seen, [info(end) for end in (sock, listener.accept()[0])]

    run([])


if sys.argv[1] == "serve":
    serve(int(sys.argv[2]))
elif sys.argv[1] == "look":
    look(sys.argv[2], int(sys.argv[3]))
else:
    call(sys.argv[1], sys.argv[2], int(sys.argv[3]))
