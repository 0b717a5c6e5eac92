#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""udp_peer - the other end of udptest.py and udp.sh: an echo on 7201, a sink on 7203, DNS on 53

Nobody is at port 7202. The echo answers "twice" with two datagrams, "late" after a fifth of a second.
"""
import selectors
import socket
import struct
import sys
import threading
import time

NAMES = {"sluice.test": "10.99.0.77", "localpeer.test": "10.99.0.1"}


def answer(question):
    """A DNS answer: A records of NAMES, nothing for other types, NXDOMAIN for other names."""
    ident, = struct.unpack(">H", question[:2])
    labels, at = [], 12
    while question[at]:
        labels.append(question[at + 1:at + 1 + question[at]].decode())
        at += 1 + question[at]
    asked = question[12:at + 5]
    kind, = struct.unpack(">H", question[at + 1:at + 3])
    address = NAMES.get(".".join(labels).lower())
    found = [socket.inet_aton(address)] if address and kind == 1 else []
    flags = 0x8580 if address else 0x8583
    records = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + a for a in found)
    return struct.pack(">HHHHHH", ident, flags, 1, len(found), 0, 0) + asked + records


def echo(sock):
    data, sender = sock.recvfrom(65536)
    if data == b"late":
        threading.Timer(0.2, sock.sendto, (data, sender)).start()
        return
    for _ in range(2 if data == b"twice" else 1):
        sock.sendto(data, sender)


def serve_dns(sock):
    question, sender = sock.recvfrom(4096)
    sock.sendto(answer(question), sender)


def main(address):
    chooser = selectors.DefaultSelector()
    for port, func in ((7201, echo), (7203, lambda s: s.recv(65536)), (53, serve_dns)):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        sock.bind((address, port))
        chooser.register(sock, selectors.EVENT_READ, func)
    print("ready", time.time(), flush=True)
    while True:
        for key, _ in chooser.select():
            key.data(key.fileobj)


main(sys.argv[1])
