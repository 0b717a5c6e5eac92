#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""take_silent.py - of what was taken the kernel never says a word, whatever is asked and whoever dies

A peer asks without pause, by AF_PACKET: ARP and neighbour solicitations for addresses that are taken, that are
not, and that the namespace is proxy for, echo to hosts and groups, SYNs and datagrams to closed ports, queries of
IGMP and MLD, a router solicitation. The links are taken and carried by nobody (--network=none), so each answer is
the kernel's. There must be none from the moment it is said that the namespace is taken until it is given back: not
while worker and monitor are killed, started anew, or dead; with --take=move, --take=strip and beside a TAP
device. Afterwards the kernel answers again.

Environment: see takelib.py. Exit 77: cannot be run here.
"""
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time

from takelib import (NS, PEER, SLUICED, STATE, ask, carrier_wait, children, csum, end, expect_same, fail, lab_open,
                     restore, sluiced, until, view)

MAC, CTR_MAC = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
ME, ME6 = "10.9.0.1", "fd00:9::1"
GRACE = 0.1  # what was on its way when the taking was done


# ---- what is asked ----

def arp(target, dst=b"\xff" * 6):
    return dst + MAC + b"\x08\x06" + struct.pack("!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, 1, MAC,
                                                 socket.inet_aton(ME), bytes(6), socket.inet_aton(target))


def ipv4(proto, dst, payload, mac=CTR_MAC, options=b""):
    head = struct.pack("!BBHHHBBH4s4s", 0x45 + len(options) // 4, 0, 20 + len(options) + len(payload), 1, 0, 64, proto,
                       0, socket.inet_aton(ME), socket.inet_aton(dst)) + options
    return mac + MAC + b"\x08\x00" + head[:10] + struct.pack("!H", csum(head)) + head[12:] + payload


def ipv6(proto, dst, payload, mac=CTR_MAC, at=2, src=ME6):
    """The checksum of @payload goes to octet @at of it."""
    src, dst = (socket.inet_pton(socket.AF_INET6, a) for a in (src, dst))
    total = csum(src + dst + struct.pack("!II", len(payload), proto) + payload + b"\0" * (len(payload) % 2))
    payload = payload[:at] + struct.pack("!H", total) + payload[at + 2:]
    return mac + MAC + b"\x86\xdd" + struct.pack("!IHBB16s16s", 6 << 28, len(payload), proto, 255, src, dst) + payload


def solicitation(target, src=ME6):
    raw = socket.inet_pton(socket.AF_INET6, target)
    body = struct.pack("!BBHI16sBB6s", 135, 0, 0, 0, raw, 1, 1, MAC)
    return ipv6(58, "ff02::1:ff" + raw[13:].hex()[:2] + ":" + raw[14:].hex(), body, b"\x33\x33\xff" + raw[13:], src=src)


def with_sum(text):
    return text[:2] + struct.pack("!H", csum(text)) + text[4:]


def syn(proto_sum, port):
    text = struct.pack("!HHIIBBHHH", 40000, port, 1, 0, 0x50, 2, 65535, 0, 0)
    return text[:16] + struct.pack("!H", csum(proto_sum + text)) + text[18:]


def questions():
    pseudo = socket.inet_aton(ME) + socket.inet_aton("10.9.0.2") + struct.pack("!HH", 6, 20)
    for target in ("10.9.0.2", "10.9.0.3", "192.0.2.9", "198.51.100.7", "10.9.0.99", "10.9.0.200"):
        yield arp(target)
        yield arp(target, CTR_MAC)
    for target in ("fd00:9::2", "fd00:9::4", "fe80::ff:fe00:2", "fd00:9::99"):
        yield solicitation(target)
    echo = with_sum(struct.pack("!BBHHH", 8, 0, 0, 1, 1))
    yield ipv4(1, "10.9.0.2", echo)
    yield ipv4(1, "10.9.255.255", echo, b"\xff" * 6)
    yield ipv4(1, "224.0.0.1", echo, bytes.fromhex("01005e000001"))
    yield ipv6(58, "fd00:9::2", struct.pack("!BBHHH", 128, 0, 0, 1, 1))
    yield ipv6(58, "ff02::1", struct.pack("!BBHHH", 128, 0, 0, 1, 1), bytes.fromhex("333300000001"))
    yield ipv6(58, "ff02::2", struct.pack("!BBHI", 133, 0, 0, 0), bytes.fromhex("333300000002"))
    for port in (1, 22, 80, 443, 6000, 40001):
        yield ipv4(6, "10.9.0.2", syn(pseudo, port))
        yield ipv4(17, "10.9.0.2", struct.pack("!HHHH", 40000, port, 8, 0))
        yield ipv6(6, "fd00:9::2", struct.pack("!HHIIBBHHH", 40000, port, 1, 0, 0x50, 2, 65535, 0, 0), at=16)
        yield ipv6(17, "fd00:9::2", struct.pack("!HHHH", 40000, port, 8, 0), at=6)
    yield ipv4(253, "10.9.0.2", b"nobody's protocol")
    query = with_sum(struct.pack("!BBH4s", 0x11, 10, 0, bytes(4)))
    yield ipv4(2, "224.0.0.1", query, bytes.fromhex("01005e000001"), b"\x94\x04\0\0")
    mld = struct.pack("!BBHHH16sBBH", 130, 0, 0, 10, 0, bytes(16), 2, 20, 0)
    yield ipv6(58, "ff02::1", mld, bytes.fromhex("333300000001"), src="fe80::1")


def ask_and_listen():
    """In the peer's namespace, until killed: a line for each frame that came: when, and its kind."""
    asked = list(questions())
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as s:
        s.bind(("peth0", 3))
        while True:
            for frame in asked:
                try:
                    s.send(frame)
                except OSError:  # the other end is down, or is being moved
                    pass
            stop = time.monotonic() + 0.05
            while (left := stop - time.monotonic()) > 0 and select.select([s], [], [], left)[0]:
                try:
                    frame, addr = s.recvfrom(65535)
                except OSError:
                    continue
                if addr[2] != socket.PACKET_OUTGOING:
                    print(f"{time.monotonic():.3f} {frame[12:14].hex()} {frame[14:60].hex()}", flush=True)


# ---- the cases ----

class Listener:
    def __init__(self):
        self.path = STATE.parent / (STATE.name + ".heard")
        with open(self.path, "w", encoding="ascii") as out:
            self.child = subprocess.Popen(["ip", "netns", "exec", PEER, "env", f"TAKE_STATE={STATE}", sys.executable,
                                           __file__, "--ask"], stdout=out)
        children.append(self.child)

    def heard(self, since, before=1e12):
        lines = [line.split() for line in self.path.read_text().splitlines()]
        return [x for x in lines if len(x) == 3 and since < float(x[0]) < before]

    def stop(self):
        self.child.kill()
        self.child.wait()
        self.path.unlink()


def answers_of_kernel(listener, what):
    now = time.monotonic()
    until(10, f"an answer of the kernel, {what}", lambda: listener.heard(now))


def silence(listener, since, what):
    time.sleep(0.3)
    heard = listener.heard(since + GRACE)
    if heard:
        fail(f"{what}: the kernel said {len(heard)} times something, first: {' '.join(heard[0])}")
    print(f"ok: {what}: not a word", flush=True)


def taken(child, *, worker=True):
    def is_there():
        state = ask("state")
        return child.poll() is not None or (state and state["taken"] and (state["worker"]["ready"] or not worker))
    until(20, "the namespace to be taken", is_there)
    if child.poll() is not None:
        fail(f"sluiced ended at once: {child.stderr.read()}")
    return time.monotonic()


def kill_worker():
    first = ask("state")["worker"]["pid"]
    os.kill(first, signal.SIGKILL)
    until(10, "a new worker", lambda: ask("state")["worker"]["pid"] not in (0, first) and ask("state")["worker"]["ready"])


def mode(how, before):
    listener = Listener()
    answers_of_kernel(listener, f"{how}, before")
    child = sluiced(f"--netns=/run/netns/{NS}", f"--take={how}", "--network=none")
    since = taken(child)
    silence(listener, since, f"{how}, taken")
    kill_worker()
    silence(listener, since, f"{how}, after a new worker")
    child.kill()
    child.wait()
    child.stderr.close()
    silence(listener, since, f"{how}, the monitor is dead")
    restore(f"{how}, restored")
    answers_of_kernel(listener, f"{how}, given back")
    listener.stop()
    carrier_wait()
    expect_same(before, f"{how}, asked without pause")


def beside_tap(before):
    """The stack speaks by the TAP device, the link that was taken must say nothing."""
    listener = Listener()
    child = subprocess.Popen(["nsenter", f"--net=/run/netns/{PEER}", SLUICED, "--id=t", f"--state-dir={STATE}",
                              "--config=/dev/null", f"--netns=/run/netns/{NS}", "--tap=tap9"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    children.append(child)
    since = taken(child)
    silence(listener, since, "beside a TAP device")
    kill_worker()
    silence(listener, since, "beside a TAP device, after a new worker")
    child.send_signal(signal.SIGTERM)
    end(child, 0, "beside a TAP device")
    listener.stop()
    carrier_wait()
    expect_same(before, "beside a TAP device, asked without pause")


def main():
    lab_open()
    before = view()
    mode("move", before)
    mode("strip", before)
    beside_tap(before)
    print("take_silent.py: all passed")


if __name__ == "__main__":
    if sys.argv[1:] == ["--ask"]:
        ask_and_listen()
    else:
        main()
