#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""frames - frames that no host sends, and what a capture says of frames

  frames.py send INTERFACE MAC ADDRESS   three frames that a stack must drop
  frames.py comments FILE                a line a frame of a pcapng file: rx or tx, the comment or none
"""
import socket
import struct
import sys


def send(interface, mac, address):
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    link.bind((interface, 0))
    ours = link.getsockname()[4]
    ether = bytes.fromhex(mac.replace(":", "")) + ours
    src, dst = socket.inet_aton("10.99.0.1"), socket.inet_aton(address)

    def ip4(ihl):
        head = struct.pack("!BBHHHBBH4s4s", 0x40 | ihl, 0, 40, 7, 0x4000, 64, 6, 0, src, dst)
        total = sum(struct.unpack("!10H", head))
        total = (total & 0xffff) + (total >> 16)
        return head[:10] + struct.pack("!H", ~total & 0xffff) + head[12:]

    tcp = struct.pack("!HHIIBBHHH", 9, 80, 1, 0, 0x50, 2, 1000, 0xbad, 0)
    link.send(ether + b"\x08\x06" + b"\x00\x01\x08\x00\x06\x04")
    link.send(ether + b"\x08\x00" + ip4(4) + tcp)
    link.send(ether + b"\x08\x00" + ip4(5) + tcp)


def comments(path):
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at + 12 <= len(data):
        kind, size = struct.unpack_from("=II", data, at)
        if size < 12 or at + size > len(data):
            break  # the daemon is about to write the rest
        if kind == 6:
            kept = struct.unpack_from("=I", data, at + 20)[0]
            option, end = at + 28 + (kept + 3) // 4 * 4, at + size - 4
            way, comment = "?", "none"
            while option + 4 <= end:
                code, length = struct.unpack_from("=HH", data, option)
                value = data[option + 4:option + 4 + length]
                if code == 1:
                    comment = value.decode()
                elif code == 2:
                    way = "rx" if value[0] & 3 == 1 else "tx"
                option += 4 + (length + 3) // 4 * 4
                if code == 0:
                    break
            print(way, comment)
        at += size


if __name__ == "__main__":
    {"send": send, "comments": comments}[sys.argv[1]](*sys.argv[2:])
