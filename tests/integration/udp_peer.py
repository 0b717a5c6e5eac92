#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""udp_peer ADDRESS... - the other end of udptest.py and udp.sh: an echo on 7201, a sink on 7203, DNS on 53

Nobody is at port 7202. The echo answers "twice" with two datagrams, "late" after a fifth of a second.
"""
import selectors
import socket
import struct
import sys
import threading
import time

NAMES = {"sluice.test": "10.99.0.77", "localpeer.test": "10.99.0.1"}
NAMES6 = {"sluice.test": "fd00:99::77"}


def answer(question):
    """A DNS answer: A and AAAA records of NAMES, nothing for other types, NXDOMAIN for other names."""
    ident, = struct.unpack(">H", question[:2])
    labels, at = [], 12
    while question[at]:
        labels.append(question[at + 1:at + 1 + question[at]].decode())
        at += 1 + question[at]
    asked = question[12:at + 5]
    kind, = struct.unpack(">H", question[at + 1:at + 3])
    name = ".".join(labels).lower()
    address = NAMES.get(name)
    found = [socket.inet_aton(address)] if address and kind == 1 else []
    if kind == 28 and name in NAMES6:
        found = [socket.inet_pton(socket.AF_INET6, NAMES6[name])]
    flags = 0x8580 if address else 0x8583
    records = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 60, len(a)) + a for a in found)
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


def main(addresses):
    chooser = selectors.DefaultSelector()
    for address in addresses:
        for port, func in ((7201, echo), (7203, lambda s: s.recv(65536)), (53, serve_dns)):
            family, _, _, _, name = socket.getaddrinfo(address, port, type=socket.SOCK_DGRAM)[0]
            sock = socket.socket(family, socket.SOCK_DGRAM)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            sock.bind(name)
            chooser.register(sock, selectors.EVENT_READ, func)
    print("ready", time.time(), flush=True)
    while True:
        for key, _ in chooser.select():
            key.data(key.fileobj)


main(sys.argv[1:])
