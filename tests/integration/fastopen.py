#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fastopen - both ends of TCP Fast Open (RFC 7413), for the container and for the kernel at its peer

Usage: fastopen.py serve PORT		answers with what came, in capitals; one line tells of each connection
       fastopen.py HOW ADDRESS PORT	HOW: send (MSG_FASTOPEN), message (the same by sendmsg()), connect
					(TCP_FASTOPEN_CONNECT); tells whether the SYN's octets were taken
"""
import signal
import socket
import struct
import sys

TCP_FASTOPEN_CONNECT = 30
TCPI_OPT_SYN_DATA = 32
WORDS = b"octets of the syn"


def syn_data(sock):
    options = struct.unpack_from("B", sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 5)
    return bool(options[0] & TCPI_OPT_SYN_DATA)


def serve(port):
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 16)
    server.bind(("", port))
    server.listen(16)
    while True:
        sock, _ = server.accept()
        with sock:
            data = sock.recv(1000)
            sock.sendall(data.upper())
            while more := sock.recv(1000):
                data += more
            if data:
                print(f"{data.decode()}: {'syn' if syn_data(sock) else 'later'}", flush=True)


def call(how, address, port):
    signal.alarm(10)  # a timeout of the socket's own would make it non-blocking
    with socket.socket() as sock:
        if how == "send":
            sock.sendto(WORDS, socket.MSG_FASTOPEN, (address, port))
        elif how == "message":
            sock.sendmsg([WORDS], [], socket.MSG_FASTOPEN, (address, port))
        else:
            sock.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
            sock.connect((address, port))
            sock.sendall(WORDS)
        answer = sock.recv(1000)
        assert answer == WORDS.upper(), answer
        print("syn" if syn_data(sock) else "later")


if sys.argv[1] == "serve":
    serve(int(sys.argv[2]))
else:
    call(sys.argv[1], sys.argv[2], int(sys.argv[3]))
