#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""udp_segment send ADDRESS... - 12001 octets of one call each, as datagrams of 1200, to port 7210
udp_segment receive ONE-PIECE COUNT - on port 7210 of both families: a line for each message, COUNT of them

A line: family, octets, octets of each datagram in it (0: it is one), whether its octets are those sent.
ONE-PIECE: 1 asks for UDP_GRO.
"""
import socket
import struct
import sys

PORT, SIZE = 7210, 1200
UDP, UDP_SEGMENT, UDP_GRO = 17, 103, 104
DATA = bytes((i * 7 + i // 256) % 256 for i in range(12001))


def send(addresses):
    for address in addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            assert sock.sendmsg([DATA], [(UDP, UDP_SEGMENT, struct.pack("H", SIZE))], 0, (address, PORT)) == len(DATA)


def receive(one_piece, count):
    done = {4: 0, 6: 0}
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        sock.setsockopt(UDP, UDP_GRO, one_piece)
        sock.bind(("::", PORT))
        print("ready", flush=True)
        for _ in range(count):
            data, control, _, sender = sock.recvmsg(65536, 256)
            size = next((struct.unpack("i", c[2])[0] for c in control if c[:2] == (UDP, UDP_GRO)), 0)
            family = 4 if sender[0].startswith("::ffff:") else 6
            is_same = data == DATA[done[family]:done[family] + len(data)]
            done[family] += len(data)
            print(family, len(data), size, is_same, flush=True)
    print("done", flush=True)


if sys.argv[1] == "send":
    send(sys.argv[2:])
else:
    receive(int(sys.argv[2]), int(sys.argv[3]))
