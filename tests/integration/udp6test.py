#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""udp6test PEER US PEER4 US4 - what a program sees of its datagram sockets of IPv6, one line a look

udp6.sh runs it twice, over the kernel and over sluice; the lines must be the same. The peer
(udp_peer.py) has an echo on 7201 of both families; nobody is at 7202. A look never prints a port that was
chosen for it.
"""
import ctypes
import socket
import struct
import sys
import time

from looks import MSG_ERRQUEUE, PATIENCE, QUIET, check, name_of, outcome, readable, run

PEER, US, PEER4, US4 = sys.argv[1:5]
ECHO, NOBODY = (PEER, 7201), (PEER, 7202)
ECHO4 = ("::ffff:" + PEER4, 7201)
SIX = socket.IPPROTO_IPV6
RECVERR, MTU_DISCOVER, MTU, DONTFRAG, UNICAST_IF, MULTICAST_ALL = 25, 23, 24, 62, 76, 29
BINDTODEVICE, BINDTOIFINDEX = 25, 62
RECVPATHMTU, PATHMTU, MSG_MORE = 60, 61, 0x8000
RECVFRAGSIZE, IP_RECVFRAGSIZE = 77, 25
UDP, UDP_NO_CHECK6_TX, UDP_NO_CHECK6_RX, UDP_SEGMENT, UDP_GRO = 17, 101, 102, 103, 104
SCOPE = socket.if_nametoindex("eth0")


def six(**kw):
    sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    sock.settimeout(kw.get("timeout", PATIENCE))
    for option, value in kw.get("options", ()):
        sock.setsockopt(SIX, option, value)
    return sock


def connected(address=ECHO, **kw):
    sock = six(**kw)
    sock.connect(address)
    return sock


def until(sock, text):
    """What has come before is skipped."""
    while (got := sock.recv(65536)) != text:
        pass
    return got


def who(address):
    """A sender by its role; the scope with it."""
    return {ECHO: "the echo", NOBODY: "nobody", ECHO4: "the echo by IPv4"}.get(
        address[:2], address[0]) if address else address, address[3] if address else None


def control_of(control):
    """Ancillary data, readable: options by number, links by name."""
    seen = []
    for level, kind, data in control:
        if level == SIX and kind == socket.IPV6_PKTINFO:
            seen.append((kind, socket.inet_ntop(socket.AF_INET6, data[:16]),
                         socket.if_indextoname(struct.unpack("I", data[16:])[0])))
        elif len(data) == 4:
            seen.append((level, kind, struct.unpack("i", data)[0]))
        else:
            seen.append((level, kind, len(data)))
    return seen


def info(address, index=0):
    return SIX, socket.IPV6_PKTINFO, socket.inet_pton(socket.AF_INET6, address) + struct.pack("I", index)


@check
def what_kind_of_socket():
    with six() as sock:
        return sock.getsockname(), outcome(sock.getpeername), [
            (option, outcome(sock.getsockopt, SIX, option)) for option in (
                socket.IPV6_V6ONLY, socket.IPV6_UNICAST_HOPS, socket.IPV6_MULTICAST_HOPS,
                socket.IPV6_MULTICAST_LOOP, socket.IPV6_MULTICAST_IF, MULTICAST_ALL, MTU_DISCOVER, MTU,
                RECVERR, DONTFRAG, socket.IPV6_TCLASS, socket.IPV6_RECVTCLASS, UNICAST_IF,
                socket.IPV6_RECVHOPLIMIT, socket.IPV6_RECVPKTINFO)]


@check
def sendto_and_recvfrom():
    with six() as sock:
        sent = sock.sendto(b"hello", ECHO)
        data, sender = sock.recvfrom(100)
        return sent, data, who(sender), sock.getsockname()[0], sock.getsockname()[1] > 0


@check
def connected_send_and_recv():
    with connected() as sock:
        seen = [sock.getsockname()[0], who(sock.getpeername())]
        sock.send(b"one")
        seen.append(sock.recv(100))
        sock.send(b"two")
        data, sender = sock.recvfrom(100)
        return seen + [data, who(sender), sock.getsockopt(SIX, MTU)]


@check
def mapped_addresses():
    with six() as sock:
        sock.sendto(b"four", ECHO4)
        data, sender = sock.recvfrom(100)
        seen = [data, who(sender)]
        sock.connect(ECHO4)
        seen += [sock.getsockname()[0], who(sock.getpeername())]
        sock.send(b"again")
        seen.append(sock.recv(100))
        seen.append(outcome(sock.sendto, b"six", ECHO))
    with six(options=[(socket.IPV6_V6ONLY, 1)]) as sock:
        return seen + [outcome(sock.sendto, b"x", ECHO4), outcome(sock.connect, ECHO4),
                       outcome(sock.bind, ("::ffff:" + US4, 0))]


@check
def one_socket_for_both_families():
    with six() as server, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as four, six() as client:
        server.bind(("::", 0))
        four.sendto(b"four", ("127.0.0.1", server.getsockname()[1]))
        data, sender = server.recvfrom(100)
        seen = [data, sender[0]]
        server.sendto(b"back", sender)
        seen.append(four.recvfrom(100)[0])
        client.sendto(b"six", ("::1", server.getsockname()[1]))
        data, sender = server.recvfrom(100)
        return seen + [data, sender[0], outcome(four.bind, ("0.0.0.0", server.getsockname()[1]))]


@check
def two_sockets_for_two_families():
    with six(options=[(socket.IPV6_V6ONLY, 1)]) as one, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as two:
        one.bind(("::", 7311))
        seen = [outcome(two.bind, ("0.0.0.0", 7311)), outcome(one.setsockopt, SIX, socket.IPV6_V6ONLY, 0)]
        with six() as third:
            return seen + [outcome(third.bind, ("::", 7311)), outcome(third.bind, ("fd00:99::77", 0))]


@check
def this_host_by_any():
    with six() as server, six() as client:
        server.bind(("::", 0))
        client.sendto(b"x", ("::", server.getsockname()[1]))
        data, sender = server.recvfrom(10)
        client.connect(("::", server.getsockname()[1]))
        return data, sender[0], client.getsockname()[0], client.getpeername()[0]


LIBC = ctypes.CDLL(None, use_errno=True)
UNSPEC = bytes(16)


def in4(address, port=7201):
    return struct.pack("=H", socket.AF_INET) + struct.pack(">H", port) + socket.inet_aton(address) + bytes(8)


def in6(address, port=7201):
    return struct.pack("=H", socket.AF_INET6) + struct.pack(">HI", port, 0) + \
        socket.inet_pton(socket.AF_INET6, address) + bytes(4)


def raw_connect(sock, address, length=None):
    length = len(address) if length is None else length
    return 0 if LIBC.connect(sock.fileno(), address, length) == 0 else name_of(ctypes.get_errno())


@check
def sockaddr_in_on_a_socket_of_ipv6():
    seen = []
    for steps in ([in4("0.0.0.0")], [in4(PEER4)], [in6("::"), UNSPEC, in4("0.0.0.0")], [in6("::1"), UNSPEC, in4(PEER4)],
                  [in6("2001:db8::1"), in4(PEER4)], [in4(PEER4), UNSPEC, in6("::1")], [in4(PEER4), in6("::1")],
                  [in6(ECHO4[0]), UNSPEC, in4(PEER4), UNSPEC, in6("::1")]):
        with six() as sock:
            seen.append([(raw_connect(sock, step), sock.getsockname()[0]) for step in steps])
    with six() as sock:
        seen += [raw_connect(sock, in4(PEER4), 15), raw_connect(sock, in6(PEER), 23)]
        seen += [raw_connect(sock, in4(PEER4)), sock.send(b"four"), sock.recvfrom(100)[0]]
    with six(options=[(socket.IPV6_V6ONLY, 1)]) as sock:
        seen += [raw_connect(sock, in4(PEER4)), raw_connect(sock, in6(ECHO4[0]))]
    with six() as sock:
        sock.bind(("::", 7313))
        seen += [(raw_connect(sock, step), sock.getsockname()[:2]) for step in (in6("::1"), UNSPEC, in4(PEER4))]
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as sock:
        seen += [raw_connect(sock, in4(PEER4)), raw_connect(sock, in4(PEER4) + bytes(12))]
    with six() as sock:
        to = ctypes.create_string_buffer(in4(PEER4), 16)
        seen += [LIBC.sendto(sock.fileno(), b"four", 4, 0, to, 16), sock.recvfrom(100)[0]]
    return seen


@check
def order_in_which_a_library_tries_addresses():
    return [(entry[0], entry[4][0]) for host, flags in ((None, socket.AI_PASSIVE), (None, 0), ("localhost", 0))
            for entry in socket.getaddrinfo(host, 80, type=socket.SOCK_STREAM, flags=flags)]


@check
def half_closed():
    with connected() as sock:
        sock.send(b"before")
        seen = [sock.shutdown(socket.SHUT_WR), sock.recvfrom(100)[0], outcome(sock.sendto, b"x", ECHO),
                outcome(sock.sendmsg, [b"x"], [], 0, ECHO), readable(sock, 0.1), sock.shutdown(socket.SHUT_WR)]
        return seen + [sock.shutdown(socket.SHUT_RDWR), sock.settimeout(None), sock.recv(100)]


@check
def long_datagrams():
    seen = []
    with six() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        for length in (1452, 1453, 9000, 65527):
            data = bytes((i * 7 + length) % 251 for i in range(length))
            sock.sendto(data, ECHO)
            seen.append((length, sock.recvfrom(65536)[0] == data))
        return seen + [outcome(sock.sendto, bytes(65528), ECHO)]


@check
def largest_fragment():
    seen = []
    for kind in socket.SOCK_DGRAM, socket.SOCK_STREAM:
        with socket.socket(socket.AF_INET6, kind) as sock:
            for level, option in (SIX, RECVFRAGSIZE), (socket.IPPROTO_IP, IP_RECVFRAGSIZE):
                seen += [outcome(sock.setsockopt, level, option, value) for value in (0, 5, -1, b"", b"x")]
                seen.append(outcome(sock.getsockopt, level, option))
    for to in ECHO, ECHO4:
        with six(options=((RECVFRAGSIZE, 1),)) as sock:
            sock.setsockopt(socket.IPPROTO_IP, IP_RECVFRAGSIZE, 1)
            for length in 100, 1452, 1453, 1472, 1473, 4000:
                sock.sendto(bytes(length), to)
                seen += [(len(data), control_of(control)) for data, control, *_ in (sock.recvmsg(5000, 100),)]
    with connected(options=((RECVFRAGSIZE, 1),)) as sock:
        sock.send(bytes(3000))
        return seen + [control_of(sock.recvmsg(5000, 100)[1])]


@check
def too_long_for_the_path():
    seen = []
    for option, value in ((MTU_DISCOVER, 2), (DONTFRAG, 1)):
        with six(options=[(option, value), (RECVERR, 1)]) as sock:
            seen += [outcome(sock.sendto, bytes(1452), ECHO), outcome(sock.sendto, bytes(1453), ECHO)]
            time.sleep(0.1)
            _, control, flags, sender = sock.recvmsg(0, 512, MSG_ERRQUEUE)
            fields = struct.unpack("=IBBBBII", control[0][2][:16])
            seen += [control[0][:2], name_of(fields[0]), fields[1:6], flags & MSG_ERRQUEUE != 0, who(sender)]
    with six() as sock:
        return seen + [outcome(sock.setsockopt, SIX, MTU, 1279), outcome(sock.setsockopt, SIX, MTU, 1280)]


def path_mtu(sock, room=200, flags=0):
    """What a receive takes: a path's MTU in words, or whatever else."""
    sock.setblocking(False)  # Python would wait for poll(), which does not tell of it
    got = outcome(sock.recvmsg, 100, room, flags)
    if isinstance(got, str):
        return got
    data, control, flags, name = got
    seen = []
    for level, kind, value in control:
        if (level, kind, len(value)) == (SIX, PATHMTU, 32):
            seen.append((value[:8].hex(), socket.inet_ntop(socket.AF_INET6, value[8:24]),
                         struct.unpack("II", value[24:])))
        else:
            seen.append((level, kind, len(value)))
    return len(data), seen, flags, name[:2] + name[3:] if name[0] != US else "us"


@check
def path_mtu_is_told():
    both = (RECVPATHMTU, 1), (DONTFRAG, 1)
    seen = []
    for options in both, both[:1], both[1:], both[:1] + ((MTU_DISCOVER, 2),), both + ((MTU, 1280),), both + ((RECVERR, 1),):
        with six(options=options) as sock:
            # of an error that waits poll() says ERR in Linux and nothing here
            seen += [outcome(sock.sendto, bytes(1453), NOBODY), (RECVERR, 1) in options or readable(sock, 0),
                     path_mtu(sock), path_mtu(sock)]
    for length, to in ((1452, NOBODY), (1473, ECHO4[:1] + (9,)), (65528, ECHO), (1453, ("fe80::99:1", 7201, 0, SCOPE))):
        with six(options=both) as sock:
            seen += [outcome(sock.sendto, bytes(length), to), path_mtu(sock)]
    for room in (0, 15, 16, 20, 47):
        with six(options=both) as sock:
            seen += [outcome(sock.sendto, bytes(1453), ECHO), path_mtu(sock, room)]
    with six(options=both[:1]) as sock:
        seen += [outcome(sock.sendmsg, [bytes(1453)], [(SIX, DONTFRAG, struct.pack("i", 1))], 0, ECHO), path_mtu(sock)]
    with six(options=both) as sock:
        seen += [outcome(sock.sendto, bytes(1000), MSG_MORE, ECHO) for _ in range(2)] + [path_mtu(sock)]
    return seen


@check
def path_mtu_comes_first_and_once():
    both = (RECVPATHMTU, 1), (DONTFRAG, 1)
    seen = []
    with six(options=both) as sock:
        sock.bind((US, 0))
        with six() as other:
            other.sendto(b"hello", sock.getsockname())
        readable(sock)
        for to in (ECHO, (US, 9), ("fd00:99::77", 9)):
            seen.append(outcome(sock.sendto, bytes(1453), to))
        seen += [sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), path_mtu(sock), path_mtu(sock), path_mtu(sock)]
        outcome(sock.sendto, bytes(1453), ECHO)
        seen += [path_mtu(sock, flags=socket.MSG_PEEK), path_mtu(sock)]
        outcome(sock.sendto, bytes(1453), ECHO)
        seen += [outcome(sock.recvfrom, 100) for _ in range(2)]
        outcome(sock.sendto, bytes(1453), ECHO)
        sock.setsockopt(SIX, RECVPATHMTU, 0)
        seen.append(path_mtu(sock))
        sock.setsockopt(SIX, RECVPATHMTU, 1)
        return seen + [path_mtu(sock)]


@check
def path_mtu_is_asked_for():
    seen = []
    for family, kind in ((socket.AF_INET, socket.SOCK_DGRAM), (socket.AF_INET6, socket.SOCK_DGRAM),
                         (socket.AF_INET6, socket.SOCK_STREAM)):
        with socket.socket(family, kind) as sock:
            seen += [outcome(sock.setsockopt, SIX, option, value) for option in (RECVPATHMTU, PATHMTU)
                     for value in (1, 5, b"x", bytes(32))]
            seen += [outcome(sock.getsockopt, SIX, option, room) for option in (RECVPATHMTU, PATHMTU)
                     for room in (0, 4, 31, 32, 64)]
            if kind == socket.SOCK_DGRAM:
                sock.connect(ECHO4 if family == socket.AF_INET6 else (PEER4, 7201))
                seen += [outcome(sock.getsockopt, SIX, PATHMTU, room) for room in (0, 31, 32, 64)]
    with connected(options=((MTU, 1280),)) as sock:
        return seen + [outcome(sock.getsockopt, SIX, PATHMTU, 32)]


@check
def refused_by_the_peer():
    with connected(NOBODY) as sock:
        sock.send(b"anybody?")
        woken = readable(sock)
        first = outcome(sock.recvfrom, 100)
        sock.send(b"anybody?")
        time.sleep(0.3)
        return woken, first, [name_of(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)) for _ in "12"]


@check
def error_queue():
    with six(options=[(RECVERR, 1)]) as sock:
        seen = [outcome(sock.recvmsg, 100, 512, MSG_ERRQUEUE)]
        sock.sendto(b"anybody?", NOBODY)
        time.sleep(0.3)
        _, control, flags, sender = sock.recvmsg(100, 512, MSG_ERRQUEUE)
        level, kind, data = control[0]
        fields = struct.unpack("=IBBBBII", data[:16])
        family, = struct.unpack("H", data[16:18])
        return seen + [level, kind, name_of(fields[0]), fields[1:6], flags & MSG_ERRQUEUE != 0,
                       family == socket.AF_INET6, socket.inet_ntop(socket.AF_INET6, data[24:40]) == PEER,
                       who(sender)]


@check
def no_route():
    with six() as sock:
        return outcome(sock.connect, ("2001:db8::1", 53)), outcome(sock.sendto, b"x", ("2001:db8::1", 53))


@check
def packet_info():
    wanted = [(socket.IPV6_RECVPKTINFO, 1), (socket.IPV6_RECVHOPLIMIT, 1), (socket.IPV6_RECVTCLASS, 1)]
    with six(options=wanted) as server, six() as client:
        server.bind(("::", 0))
        port = server.getsockname()[1]
        client.setsockopt(SIX, socket.IPV6_UNICAST_HOPS, 7)
        client.setsockopt(SIX, socket.IPV6_TCLASS, 0x20)
        seen = [client.getsockopt(SIX, socket.IPV6_UNICAST_HOPS), client.getsockopt(SIX, socket.IPV6_TCLASS)]
        client.sendto(b"q", ("::1", port))
        data, control, flags, sender = server.recvmsg(100, 256)
        seen += [data, control_of(control), flags, sender[0]]
        client.sendto(b"q", (US, port))
        data, control, _, sender = server.recvmsg(100, 256)
        seen += [control_of(control), sender[0]]
        # the answer comes from where the question went
        server.sendmsg([b"a"], [info(US)], 0, sender)
        seen.append(client.recvfrom(100)[1][0])
        client.sendmsg([b"q"], [(SIX, socket.IPV6_HOPLIMIT, struct.pack("i", 9)),
                                (SIX, socket.IPV6_TCLASS, struct.pack("i", 0x48))], 0, ("::1", port))
        seen.append(control_of(server.recvmsg(100, 256)[1]))
        client.sendto(b"four", ("::ffff:127.0.0.1", port))
        seen.append(control_of(server.recvmsg(100, 256)[1]))
        return seen + [outcome(client.sendmsg, [b"x"], [info("fd00:99::77")], 0, ECHO),
                       outcome(client.sendmsg, [b"x"], [info("::", 4711)], 0, ECHO),
                       outcome(client.sendmsg, [b"x"], [(SIX, socket.IPV6_HOPLIMIT, struct.pack("i", 256))], 0, ECHO),
                       outcome(client.setsockopt, SIX, socket.IPV6_UNICAST_HOPS, 256),
                       outcome(client.setsockopt, SIX, socket.IPV6_MULTICAST_LOOP, 2)]


@check
def whom_a_datagram_was_to():
    """IPV6_RECVORIGDSTADDR and IP_RECVORIGDSTADDR, of an IPv6 socket that hears both families."""
    with six(options=[(74, 1)]) as server, six() as client, socket.socket(type=socket.SOCK_DGRAM) as four:
        server.setsockopt(socket.IPPROTO_IP, 20, 1)
        server.bind(("::", 0))
        four.bind(("0.0.0.0", 0))
        four.setsockopt(socket.IPPROTO_IP, 20, 1)
        port, seen = server.getsockname()[1], [four.getsockopt(socket.IPPROTO_IP, 20), server.getsockopt(SIX, 74)]
        for sock, to in (server, "::1"), (server, US), (server, "::ffff:127.0.0.1"), (four, "::ffff:127.0.0.2"):
            client.sendto(b"q", (to, sock.getsockname()[1]))
            sock.settimeout(PATIENCE)
            for level, kind, data in sock.recvmsg(100, 512)[1]:
                is_ours = struct.unpack("!H", data[2:4])[0] == sock.getsockname()[1]
                seen.append((level, kind, len(data), data[:2], is_ours, data[4:]))
        return seen


@check
def packet_info_from_outside():
    with connected(options=[(socket.IPV6_RECVPKTINFO, 1), (socket.IPV6_RECVHOPLIMIT, 1)]) as sock:
        sock.send(b"q")
        return control_of(sock.recvmsg(100, 256)[1])


@check
def link_local():
    near = socket.getaddrinfo("fe80::99:2", 7321, socket.AF_INET6)[0][4]
    with six() as server, six() as client, six() as bare:
        seen = [outcome(bare.bind, near), outcome(bare.connect, near)]
        server.bind(("fe80::99:2", 7321, 0, SCOPE))
        seen.append(server.getsockname() == ("fe80::99:2", 7321, 0, SCOPE))
        client.sendto(b"near", ("fe80::99:2", 7321, 0, SCOPE))
        data, sender = server.recvfrom(100)
        seen += [data, sender[0].split("%")[0], sender[3] == SCOPE]
        client.sendto(b"far", ("fe80::99:1", 7201, 0, SCOPE))
        data, sender = client.recvfrom(100)
        seen += [data, sender[0].split("%")[0], sender[3] == SCOPE]
        client.connect(("fe80::99:1", 7201, 0, SCOPE))
        client.send(b"connected")
        seen += [client.recv(100), client.getsockname()[0].split("%")[0], client.getsockname()[3] == SCOPE]
        return seen + [client.getsockopt(socket.SOL_SOCKET, BINDTOIFINDEX) == SCOPE]


@check
def multicast_on_this_host():
    group = "ff02::99"
    wanted = socket.inet_pton(socket.AF_INET6, group) + struct.pack("I", SCOPE)
    with six(options=[(socket.IPV6_RECVPKTINFO, 1)]) as member, six() as sender:
        member.bind(("::", 7305))
        seen = [outcome(member.setsockopt, SIX, socket.IPV6_JOIN_GROUP, wanted),
                outcome(member.setsockopt, SIX, socket.IPV6_JOIN_GROUP, wanted)]
        seen.append(outcome(sender.setsockopt, SIX, socket.IPV6_MULTICAST_IF, 4711))
        sender.setsockopt(SIX, socket.IPV6_MULTICAST_IF, SCOPE)
        seen.append(sender.getsockopt(SIX, socket.IPV6_MULTICAST_IF) == SCOPE)
        sender.setsockopt(SIX, socket.IPV6_MULTICAST_HOPS, 3)
        seen.append(sender.getsockopt(SIX, socket.IPV6_MULTICAST_HOPS))
        sender.sendto(b"all of you", (group, 7305))
        data, control, _, source = member.recvmsg(100, 256)
        seen += [data, source[0].split("%")[0], source[3] == SCOPE, control_of(control)]
        sender.setsockopt(SIX, socket.IPV6_MULTICAST_LOOP, 0)
        sender.sendto(b"not us", (group, 7305))
        seen.append(readable(member, 0.2))
        seen.append(outcome(member.setsockopt, SIX, socket.IPV6_LEAVE_GROUP, wanted))
        return seen + [outcome(member.setsockopt, SIX, socket.IPV6_LEAVE_GROUP, wanted)]


@check
def groups_by_the_loopback_link():
    """There is no way to one; another link's member hears what stays on this host."""
    seen = []
    for group in "ff01::99", "ff02::99", "ff05::99":
        for link in 1, SCOPE:
            for options in [(SIX, socket.IPV6_PKTINFO, info("::", link))], [(SIX, socket.IPV6_MULTICAST_IF, link)], \
                    [(socket.SOL_SOCKET, BINDTOIFINDEX, link)], [(SIX, UNICAST_IF, socket.htonl(link))]:
                with six() as sock:
                    seen += [outcome(sock.setsockopt, *option) for option in options]
                    seen.append(outcome(sock.sendto, b"x", (group, 9)))
            for source in "::", "::1":
                with six() as sock:
                    seen.append(outcome(sock.sendmsg, [b"x"], [info(source, link)], 0, (group, 9)))
            with six() as sock:
                sock.bind(("::1", 0))
                seen.append(outcome(sock.sendto, b"x", (group, 9, 0, link)))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        seen += [outcome(sock.sendmsg, [b"x"], [(socket.IPPROTO_IP, 8, struct.pack("i8x", link))], 0, ("224.0.0.99", 9))
                 for link in (1, SCOPE)]
    return seen


@check
def bound_to_a_link():
    def bound(name):
        sock = six()
        return sock, outcome(sock.setsockopt, socket.SOL_SOCKET, BINDTODEVICE, name)

    with six() as client:
        outside, first = bound(b"eth0")
        inside, second = bound(b"lo\0")
        _, third = bound(b"nosuch0")
        with outside, inside:
            seen = [first, second, third, outside.getsockopt(socket.SOL_SOCKET, BINDTODEVICE, 16),
                    client.getsockopt(socket.SOL_SOCKET, BINDTODEVICE, 16)]
            outside.bind(("::", 7331))
            inside.bind(("::", 7331))
            client.sendto(b"inside", ("::1", 7331))
            seen += [inside.recvfrom(100)[0], readable(outside, 0.1)]
            client.sendto(b"to a link's address", (US, 7331))
            seen += [outside.recvfrom(100)[0], readable(inside, 0.1)]
            outside.sendto(b"outside", ECHO)
            return seen + [outside.recvfrom(100)[0], outcome(inside.sendto, b"x", ECHO)]


@check
def streams_bound_to_a_link():
    def listening(name):
        sock = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        sock.settimeout(PATIENCE)
        sock.setsockopt(socket.SOL_SOCKET, BINDTODEVICE, name)
        sock.bind(("::", 7341))
        sock.listen()
        return sock

    def stream(name=None):
        sock = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        sock.settimeout(PATIENCE)
        if name:
            sock.setsockopt(socket.SOL_SOCKET, BINDTODEVICE, name)
        return sock

    with listening(b"lo") as inside, listening(b"eth0") as outside, stream() as a, stream() as b, stream(b"lo") as c:
        seen = [outcome(a.connect, ("::1", 7341)), inside.accept()[1][0], outcome(b.connect, (US, 7341))]
        conn, peer = outside.accept()
        with conn:
            return seen + [peer[0], conn.getsockopt(socket.SOL_SOCKET, BINDTODEVICE, 16), outcome(c.connect, (PEER, 9))]


@check
def gathered():
    more, cork, data = socket.MSG_MORE, (UDP, 1), bytes(65000)
    with six() as sock:
        seen = [outcome(sock.sendto, b"one ", more, ECHO), outcome(sock.sendto, b"data", more, NOBODY),
                outcome(sock.send, b"gram"), sock.recvfrom(100)[0]]
        seen += [outcome(sock.sendto, b"by ", more, ECHO4), outcome(sock.sendto, b"IPv4", ECHO), sock.recvfrom(100)[0]]
        seen += [outcome(sock.sendto, data, more, ECHO), outcome(sock.sendto, data[:528], ECHO)]
        seen += [outcome(sock.sendto, b"after", ECHO), sock.recvfrom(100)[0]]
    with connected() as sock:
        seen += [outcome(sock.setsockopt, *cork, 1), sock.getsockopt(*cork), sock.send(b"a"), sock.send(b"b")]
        return seen + [readable(sock, 0.1), outcome(sock.setsockopt, *cork, 0), sock.recv(100)]


def segment(size):
    return UDP, UDP_SEGMENT, struct.pack("H", size)


@check
def udp_segment():
    data = bytes(i % 251 for i in range(5000))
    with connected() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        seen = [sock.getsockopt(UDP, UDP_SEGMENT), outcome(sock.sendmsg, [data], [segment(1200)])]
        got = [sock.recvfrom(65536)[0] for _ in range(5)]
        seen += [[len(d) for d in got], b"".join(got) == data]
        for size, length in ((0, 10), (65535, 1452), (65535, 1453), (1453, 3000), (1, 128), (1, 129)):
            seen.append((size, length, outcome(sock.sendmsg, [data[:length]], [segment(size)])))
        seen.append(outcome(sock.sendmsg, [b"x"], [(UDP, UDP_SEGMENT, b"1234")]))
        seen.append(outcome(sock.sendmsg, [b"x"], [(UDP, 4711, b"12")]))
    with connected() as sock:
        seen += [outcome(sock.setsockopt, UDP, UDP_SEGMENT, v) for v in (-1, 65536, 1000)]
        seen.append(sock.getsockopt(UDP, UDP_SEGMENT))
        sock.send(data[:2500])
        return seen + [[len(sock.recv(65536)) for _ in range(3)]]


@check
def udp_gro():
    data = bytes(i % 251 for i in range(5000))
    with six() as server, six() as client:
        seen = [server.getsockopt(UDP, UDP_GRO), outcome(server.setsockopt, UDP, UDP_GRO, 1)]
        seen.append(server.getsockopt(UDP, UDP_GRO))
        server.bind(("::1", 0))
        client.sendmsg([data], [segment(1200)], 0, server.getsockname())
        got, control, flags, _ = server.recvmsg(65536, 256)
        seen += [got == data, control_of(control), flags]
        client.sendto(b"alone", server.getsockname())
        return seen + [server.recvmsg(65536, 256)[:3]]


@check
def pktinfo_of_the_socket():
    """RFC 3542 6.1: Linux takes the link of what is sent from it, and whether there is one shows then."""
    def info(address, link):
        return socket.inet_pton(socket.AF_INET6, address) + struct.pack("i", link)

    with six() as sock, socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as stream:
        seen = [outcome(s.setsockopt, SIX, socket.IPV6_PKTINFO, value) for s in (sock, stream) for value in (
            b"", b"1234", info("::", 0) + b"1234", info("fd00::77", 0), info("::", SCOPE))]
        seen += [outcome(s.getsockopt, SIX, socket.IPV6_PKTINFO, 64) for s in (sock, stream)]
        for link in (4711, -1, 1, SCOPE, 0):
            sock.setsockopt(SIX, socket.IPV6_PKTINFO, info("::", link))
            seen += [outcome(sock.sendto, b"x", to) for to in (ECHO, ("::1", 9), ("ff02::99", 9))]
        sock.setsockopt(SIX, socket.IPV6_PKTINFO, info("::", SCOPE))
        sock.sendto(b"by this link", ECHO)
        seen.append(until(sock, b"by this link"))
    for link in (4711, 1, SCOPE):
        with six() as sock:
            sock.setsockopt(SIX, socket.IPV6_PKTINFO, info("::", link))
            seen += [outcome(sock.connect, ECHO), outcome(sock.connect, ("fe80::99", 9)), outcome(sock.sendto, b"x", ("fe80::99", 9))]
    with six() as sock:
        sock.setsockopt(socket.SOL_SOCKET, BINDTOIFINDEX, SCOPE)
        return seen + [outcome(sock.setsockopt, SIX, socket.IPV6_PKTINFO, info("::", link)) for link in (1, SCOPE, 0)]


@check
def udp_without_checksum():
    """A server hears it once it has agreed to; what came before is gone."""
    with six() as server, six() as client:
        server.bind(("::1", 0))
        seen = [[sock.getsockopt(UDP, option), outcome(sock.setsockopt, UDP, option, 2), sock.getsockopt(UDP, option)]
                for sock, option in ((client, UDP_NO_CHECK6_TX), (client, UDP_NO_CHECK6_RX))]
        seen.append(outcome(client.sendto, b"not agreed", server.getsockname()))
        server.setsockopt(UDP, UDP_NO_CHECK6_RX, 1)
        client.sendto(b"agreed", server.getsockname())
        seen += [server.recv(100), outcome(client.sendmsg, [bytes(3000)], [segment(1200)], 0, server.getsockname())]
        client.setsockopt(UDP, UDP_NO_CHECK6_TX, 0)
        client.sendto(b"with one", server.getsockname())
        return seen + [server.recv(100)]


def stamps(sock, room=2000):
    """Reports of sends: length, kind and time of each in words, its error and who is named; and the datagram's end."""
    seen = []
    sock.setblocking(False)  # Python would wait for poll()
    while len(seen) < 8:
        end = time.monotonic() + (QUIET if seen else PATIENCE if room else QUIET)
        while isinstance(got := outcome(sock.recvmsg, room or 2000, 512, MSG_ERRQUEUE), str) and time.monotonic() < end:
            time.sleep(0.005)
        if isinstance(got, str):
            break
        data, control, flags, name = got
        words = []
        for level, kind, value in control:
            if level == socket.SOL_SOCKET and len(value) == 48:
                when = struct.unpack("6q", value)
                words.append((kind, abs(when[0] - time.time()) < 5, when[2:]))
            elif (level, kind) in ((SIX, RECVERR), (socket.IPPROTO_IP, 11)):
                words.append((struct.unpack("IBBBBII", value[:16]), value[16:].hex()))
            else:
                words.append((level, kind, len(value)))
        seen.append((len(data), data[12:15], data[-5:], words, flags, name))
    return seen


def stamped(flags, to, text=b"hello", option=37, **kw):
    sock = socket.socket(kw.get("family", socket.AF_INET6), socket.SOCK_DGRAM)
    with sock:
        seen = [outcome(sock.setsockopt, socket.SOL_SOCKET, option, flags)]
        for more in kw.get("options", ()):
            sock.setsockopt(*more)
        if kw.get("connect"):
            sock.connect(to)
        for _ in range(kw.get("count", 1)):
            seen.append(sock.send(text) if kw.get("connect") else outcome(
                sock.sendmsg, [text], kw.get("control", []), 0, to))
        return seen + [stamps(sock, kw.get("room", 2000))]


@check
def when_it_was_sent():
    sent, told, number, sched, packet, only = 2, 16, 128, 256, 1024, 2048
    four, plain = socket.AF_INET, (PEER4, 7202)
    seen = [stamped(flags, NOBODY) for flags in (sent | told, sent, sent | told | only, sched | sent | told | number | only)]
    seen += [stamped(flags, plain, family=four) for flags in (sent | told, sent | told | packet, sent | told | only | packet)]
    seen += [stamped(sent | told | number, plain, family=four, count=3), stamped(sent | told | number, ECHO, connect=True, count=2),
             stamped(sent | told | number | only, NOBODY, option=65), stamped(sent | told, ("::ffff:" + PEER4, 7202)),
             stamped(sent | told | packet, plain, family=four, options=[(socket.IPPROTO_IP, 8, 1)]),
             stamped(sent | told, ("::1", 9)), stamped(sent | told | only, NOBODY, options=[(UDP, UDP_SEGMENT, 2)])]
    for when in sent, sched:
        for kind in 37, 65:
            seen.append(stamped(told | number, NOBODY, control=[(socket.SOL_SOCKET, kind, struct.pack("I", when))]))
    for kind, value in (37, struct.pack("I", 8)), (37, b"abc"), (99, struct.pack("I", 8)):
        seen.append(stamped(told, NOBODY, control=[(socket.SOL_SOCKET, kind, value)], room=0))
    with six() as sock:
        for flags in sent | told | number, sent | told | number, 0, sent | told | number:
            sock.setsockopt(socket.SOL_SOCKET, 37, flags)
            sock.sendto(b"numbered", NOBODY)
        return seen + [[report[3][-1] for report in stamps(sock)]]


@check
def names_are_looked_up():
    return sorted({a[4][0] for a in socket.getaddrinfo("sluice.test", 80, type=socket.SOCK_DGRAM)})


run(set(sys.argv[5:]))
