#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tracetest - what a program hears of the errors that its datagrams meet on the way, one line a look

Usage: tracetest.py FAR FAR6: hosts behind a router whose far link takes 1300 octets (1400 of IPv6). Nobody is
at their ports; trace.sh has the picture.
"""
import ctypes
import socket
import struct
import sys
import time

from looks import MSG_ERRQUEUE, QUIET, check, mask, name_of, outcome, run, until

FAR, FAR6 = sys.argv[1:3]
NOBODY = 33434
IP, IPV6 = socket.IPPROTO_IP, socket.IPPROTO_IPV6
IP_MTU_DISCOVER, IP_RECVERR, IP_MTU, IP_RECVERR_RFC4884 = 10, 11, 14, 26
IPV6_RECVERR, IPV6_MTU_DISCOVER, IPV6_MTU = 25, 23, 24
IP_PKTINFO, IP_RECVTTL, IP_RECVTOS = 8, 12, 13
SO_TIMESTAMP = 29
DONT, WANT, DO, PROBE, INTERFACE, OMIT = range(6)


def udp(family=socket.AF_INET, *options):
    sock = socket.socket(family, socket.SOCK_DGRAM)
    sock.setsockopt(*((IP, IP_RECVERR, 1) if family == socket.AF_INET else (IPV6, IPV6_RECVERR, 1)))
    for option in options:
        sock.setsockopt(*option)
    return sock


def control_of(control):
    """Each message in words; what differs from run to run only by being there."""
    seen = []
    for level, kind, data in control:
        if (level, kind) in ((IP, IP_RECVERR), (IPV6, IPV6_RECVERR)):
            number, origin, what, code, _, info, more = struct.unpack("=IBBBBII", data[:16])
            if level == IP:
                offender = socket.inet_ntoa(data[20:24]) if data[16:18] != b"\0\0" else None
            else:
                offender = socket.inet_ntop(socket.AF_INET6, data[24:40])
            seen.append(("error", name_of(number), origin, what, code, info, more, offender))
        elif (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMP):
            seen.append(("time", abs(time.time() - struct.unpack("q", data[:8])[0]) < 10))
        elif (level, kind) == (IP, IP_PKTINFO):
            _, spec, address = struct.unpack("i4s4s", data)
            seen.append(("info", socket.inet_ntoa(spec), socket.inet_ntoa(address)))
        elif (level, kind) == (IPV6, socket.IPV6_PKTINFO):
            seen.append(("info6", socket.inet_ntop(socket.AF_INET6, data[:16])))
        elif len(data) == 4:
            seen.append((level, kind, struct.unpack("i", data)[0]))
        else:
            seen.append((level, kind, data))
    return seen


def error(sock, room=2000):
    """The next error: what it quotes, the control data, flags, whom the datagram was for."""
    taken = until(lambda: (lambda r: None if isinstance(r, str) else r)(
        outcome(sock.recvmsg, room, 1024, MSG_ERRQUEUE)))
    if not taken:
        return "no error"
    data, control, flags, name = taken
    return len(data), data[:24], control_of(control), flags, name[:2]


@check
def port_unreachable_quotes_the_payload():
    with udp() as sock:
        sock.sendto(b"where is everybody?", (FAR, NOBODY))
        return error(sock), outcome(sock.recvmsg, 10, 100, MSG_ERRQUEUE)


@check
def a_long_datagram_is_quoted_in_part():
    seen = []
    for length in (500, 1000):
        with udp() as sock:
            sock.sendto(bytes(range(250)) * 4 if length == 1000 else bytes(length), (FAR, NOBODY))
            seen.append(error(sock))
    return seen


@check
def little_room_for_the_quote():
    with udp() as sock:
        sock.sendto(b"0123456789", (FAR, NOBODY))
        return error(sock, 4)


@check
def the_hop_is_told():
    with udp(socket.AF_INET, (IP, socket.IP_TTL, 1), (IP, IP_RECVTTL, 1), (IP, IP_RECVTOS, 1),
             (IP, IP_PKTINFO, 1), (socket.SOL_SOCKET, SO_TIMESTAMP, 1)) as sock:
        sock.sendto(b"one hop", (FAR, NOBODY))
        return error(sock)


@check
def each_hop_in_turn_from_one_socket():
    seen = []
    with udp(socket.AF_INET, (IP, IP_RECVTTL, 1)) as sock:
        for ttl in (1, 2, 1):
            sock.setsockopt(IP, socket.IP_TTL, ttl)
            sock.sendto(b"probe %d" % ttl, (FAR, NOBODY + ttl))
            seen.append(error(sock))
    return seen


@check
def connected_and_waiting():
    with udp() as sock:
        sock.connect((FAR, NOBODY))
        sock.send(b"hello")
        sock.settimeout(2)
        first = outcome(sock.recv, 100) or "woken"
        sock.settimeout(None)  # Python would wait for poll() before it asks
        return first in ("ECONNREFUSED", "woken"), error(sock)


@check
def extensions_are_asked_for():
    with udp(socket.AF_INET, (IP, IP_RECVERR_RFC4884, 1)) as sock:
        sock.sendto(b"x", (FAR, NOBODY))
        return sock.getsockopt(IP, IP_RECVERR_RFC4884), error(sock), \
            outcome(sock.setsockopt, IP, IP_RECVERR_RFC4884, 2)


@check
def longer_than_the_far_link():
    seen = []
    for how in (DONT, WANT, DO, PROBE, INTERFACE, OMIT):
        with udp(socket.AF_INET, (IP, IP_MTU_DISCOVER, how)) as sock:
            sock.connect((FAR, NOBODY))
            seen.append((how, outcome(sock.sendto, bytes(1400), (FAR, NOBODY)), error(sock)[2:3],
                         sock.getsockopt(IP, IP_MTU), outcome(sock.sendto, bytes(1500), (FAR, NOBODY))))
    return seen


@check
def longer_than_our_link():
    seen = []
    for how in (DO, PROBE):
        with udp(socket.AF_INET, (IP, IP_MTU_DISCOVER, how)) as sock:
            seen.append((outcome(sock.sendto, bytes(1480), (FAR, NOBODY)), error(sock)))
    return seen


@check
def a_refusal_is_in_the_queue_at_once():
    seen = set()
    with udp(socket.AF_INET, (IP, IP_MTU_DISCOVER, DO)) as sock:
        for _ in range(300):
            refused = outcome(sock.sendto, bytes(1480), (FAR, NOBODY))
            queued = outcome(sock.recvmsg, 10, 100, MSG_ERRQUEUE)
            seen.add((refused, queued if isinstance(queued, str) else "queued"))
    return seen


@check
def the_path_of_ipv6():
    seen = []
    with udp(socket.AF_INET6, (IPV6, IPV6_MTU_DISCOVER, DO)) as sock:
        sock.connect((FAR6, NOBODY))
        sock.sendto(bytes(1400), (FAR6, NOBODY))
        seen += [error(sock), sock.getsockopt(IPV6, IPV6_MTU), outcome(sock.sendto, bytes(1400), (FAR6, NOBODY))]
        seen.append(error(sock))
        sock.setsockopt(IPV6, IPV6_MTU_DISCOVER, PROBE)
        seen.append(outcome(sock.sendto, bytes(1400), (FAR6, NOBODY)))
    return seen


def mtus(sock):
    return outcome(sock.getsockopt, IP, IP_MTU), outcome(sock.getsockopt, IPV6, IPV6_MTU)


@check
def the_path_of_a_datagram_socket_whatever_its_family():
    seen = []
    for family, to in ((socket.AF_INET, FAR), (socket.AF_INET6, "::ffff:" + FAR), (socket.AF_INET6, FAR6)):
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            seen.append(mtus(sock))
            sock.connect((to, NOBODY))
            seen.append(mtus(sock))
            seen.append([outcome(sock.setsockopt, *option, value) for option in ((IP, IP_MTU), (IPV6, IPV6_MTU))
                         for value in (-1, 0, 1279, 1280, 70000)])
            seen.append(mtus(sock))
            ctypes.CDLL(None).connect(sock.fileno(), bytes(16), 16)
            seen.append(mtus(sock))
    return seen


@check
def the_path_of_a_stream_whatever_its_family():
    seen = []
    for family, here, to in ((socket.AF_INET, "127.0.0.1", FAR),
                             (socket.AF_INET6, "::ffff:127.0.0.1", "::ffff:" + FAR), (socket.AF_INET6, "::1", FAR6)):
        with socket.socket(family) as ear, socket.socket(family) as sock, socket.socket(family) as begun:
            seen.append(mtus(sock))
            ear.bind((here, 0))
            ear.listen()
            seen.append(mtus(ear))
            sock.connect(ear.getsockname())
            with ear.accept()[0] as taken:
                # an interface of IPv6 may have one octet more than a packet of ours
                seen.append([[min(mtu, 65535) if isinstance(mtu, int) else mtu for mtu in mtus(end)]
                             for end in (sock, taken)])
                seen.append([outcome(sock.setsockopt, *option, value) for option in ((IP, IP_MTU), (IPV6, IPV6_MTU))
                             for value in (-1, 0, 1279, 1280, 70000)])
            begun.setblocking(False)
            # a host that is not there
            seen.append((outcome(begun.connect, (to + "7", NOBODY)), mtus(begun)))
    return seen


@check
def the_hop_of_ipv6():
    with udp(socket.AF_INET6, (IPV6, socket.IPV6_UNICAST_HOPS, 1), (IPV6, socket.IPV6_RECVHOPLIMIT, 1),
             (IPV6, socket.IPV6_RECVPKTINFO, 1), (IPV6, socket.IPV6_RECVTCLASS, 1)) as sock:
        sock.sendto(b"one hop", (FAR6, NOBODY))
        return error(sock)


@check
def ports_of_ipv6():
    with udp(socket.AF_INET6) as sock:
        sock.sendto(b"nobody", (FAR6, NOBODY))
        seen = [error(sock)]
    with udp(socket.AF_INET6, (IP, IP_RECVERR, 1)) as sock:
        sock.sendto(b"mapped", ("::ffff:" + FAR, NOBODY))
        return seen + [error(sock)]


@check
def an_echo_request_is_quoted_whole():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as sock:
        sock.setsockopt(IP, IP_RECVERR, 1)
        sock.setsockopt(IP, socket.IP_TTL, 1)
        sock.bind(("0.0.0.0", 4242))
        sock.sendto(struct.pack(">BBHHH", 8, 0, 0, 0, 7) + b"payload", (FAR, 0))
        return error(sock)


@check
def poll_wakes():
    with udp() as sock:
        sock.sendto(b"x", (FAR, NOBODY))
        until(lambda: mask(sock) not in ("OUT", "nothing"))
        time.sleep(QUIET)
        seen = [error(sock)[0]]
        outcome(sock.recv, 100, socket.MSG_DONTWAIT)
        return seen + [mask(sock)]


run(sys.argv[3:])
