#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mcasttest - what a program sees of multicast memberships and source filters, one line a look

mcast.sh runs it twice, once over the kernel and once over sluice, and holds the lines together: they must be the same.

    mcasttest.py US US6 PEER PEER6               the looks
    mcasttest.py --peer PEER PEER6 OTHER OTHER6   the peer: speaks to groups from either of its addresses when it is told to

What was sent before a datagram of the peer's to the program alone has come, or does not come any more.
"""
import socket
import struct
import sys

from looks import PATIENCE, check, name_of, outcome, run

CONTROL, PORT = 7400, 7401
V4, V6 = socket.IPPROTO_IP, socket.IPPROTO_IPV6
IP_MULTICAST_ALL, IPV6_MULTICAST_ALL = 49, 29
UNBLOCK, BLOCK, ADD, DROP, MSFILTER = 37, 38, 39, 40, 41
JOIN_GROUP, BLOCK_S, UNBLOCK_S, LEAVE_GROUP, JOIN_S, LEAVE_S, GROUP_MSFILTER = range(42, 49)
EXCLUDE, INCLUDE = 0, 1
GROUP, GROUP6 = "239.9.9.9", "ff05::9:9"
SSM, SSM6 = "232.9.9.9", "ff35::8000:9"


def peer(addresses):
    """One address of each family, then another of each."""
    control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    control.bind((addresses[0], CONTROL))
    speakers = []
    for address in addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_DGRAM)
        sock.bind((address, 7402))
        if family == socket.AF_INET:
            sock.setsockopt(V4, socket.IP_MULTICAST_IF, socket.inet_aton(address))
        else:
            sock.setsockopt(V6, socket.IPV6_MULTICAST_IF, socket.if_nametoindex("eth0"))
        speakers.append(sock)
    print("ready", flush=True)
    while True:
        data, who = control.recvfrom(2000)
        group, port = data.decode().split()
        is_v6 = ":" in group
        speakers[is_v6].sendto(b"A", (group, int(port)))
        speakers[2 + is_v6].sendto(b"B", (group, int(port)))
        control.sendto(b"told", who)


def sock4():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def sock6():
    return socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)


def ifindex():
    return socket.if_nametoindex("eth0")


def storage(address):
    """A struct sockaddr_storage."""
    if ":" in address:
        one = struct.pack("=HHI", socket.AF_INET6, 0, 0) + socket.inet_pton(socket.AF_INET6, address)
    else:
        one = struct.pack("=HH", socket.AF_INET, 0) + socket.inet_aton(address)
    return one.ljust(128, b"\0")


def mreqs(group, source, local=None):
    return socket.inet_aton(group) + socket.inet_aton(local or US) + socket.inet_aton(source)


def group_req(group, index=None):
    return struct.pack("=II", ifindex() if index is None else index, 0) + storage(group)


def source_req(group, source, index=None):
    return group_req(group, index) + storage(source)


def msfilter(group, mode, sources, cnt=None):
    return (socket.inet_aton(group) + socket.inet_aton(US) +
            struct.pack("=II", mode, len(sources) if cnt is None else cnt) +
            b"".join(map(socket.inet_aton, sources)))


def group_filter(group, mode, sources, cnt=None, index=None):
    return (group_req(group, index) + struct.pack("=II", mode, len(sources) if cnt is None else cnt) +
            b"".join(map(storage, sources)))


def put(sock, level, name, value):
    return outcome(sock.setsockopt, level, name, value) or "ok"


def get_raw(sock, level, name, value, room):
    """getsockopt() that reads its buffer first."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    buf = ctypes.create_string_buffer(value[:room].ljust(room, b"\0"), room)
    size = ctypes.c_uint32(room)
    if libc.getsockopt(sock.fileno(), level, name, buf, ctypes.byref(size)) < 0:
        return name_of(ctypes.get_errno())
    return size.value, buf.raw[:size.value]


def filter_of(sock, group, room=8, index=None, is_old=False):
    """Mode and sources, in the program's order."""
    level = V6 if ":" in group else V4
    if is_old:
        seen = get_raw(sock, V4, MSFILTER, msfilter(group, 7, [], room), 16 + 4 * room)
        at, step = 8, 4
    else:
        seen = get_raw(sock, level, GROUP_MSFILTER, group_filter(group, 7, [], room, index), 144 + 128 * room)
        at, step = 136, 128
    if isinstance(seen, str):
        return seen
    mode, cnt = struct.unpack_from("=II", seen[1], at)
    raw = [seen[1][i:i + step] for i in range(at + 8, seen[0], step)]
    if is_old:
        names = list(map(socket.inet_ntoa, raw))
    elif level == V4:
        names = [socket.inet_ntoa(r[4:8]) for r in raw]
    else:
        names = [socket.inet_ntop(socket.AF_INET6, r[8:24]) for r in raw]
    return seen[0], "IN" if mode else "EX", cnt, names


def hears(sock, group, port=PORT):
    """Who of A and B is heard in the group."""
    with sock4() as control:
        control.settimeout(PATIENCE)
        heard = []
        control.sendto(f"{group} {port}".encode(), (PEER, CONTROL))
        control.recv(100)
        # what the peer said came by the same link before its answer
        sock.settimeout(0.03)
        while True:
            try:
                heard.append(sock.recv(100).decode())
            except OSError:
                return "".join(sorted(heard)) or "nobody"


def bound(group, is_all=False):
    sock = sock6() if ":" in group else sock4()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((group, PORT))
    if not is_all:
        sock.setsockopt(*((V6, IPV6_MULTICAST_ALL) if ":" in group else (V4, IP_MULTICAST_ALL)), 0)
    return sock


@check
def sources_by_the_old_options():
    seen = []
    with bound(SSM) as sock:
        for name, source in ((ADD, PEER), (ADD, PEER), (ADD, OTHER), (BLOCK, PEER), (UNBLOCK, PEER),
                             (DROP, "10.1.2.3"), (DROP, PEER)):
            seen.append((put(sock, V4, name, mreqs(SSM, source)), filter_of(sock, SSM), hears(sock, SSM)))
        seen.append((put(sock, V4, DROP, mreqs(SSM, OTHER)), filter_of(sock, SSM), hears(sock, SSM)))
        seen.append(put(sock, V4, DROP, mreqs(SSM, OTHER)))
    return seen


@check
def blocking_by_the_old_options():
    seen = []
    with bound(GROUP) as sock:
        seen.append(put(sock, V4, BLOCK, mreqs(GROUP, PEER)))
        seen.append(put(sock, V4, socket.IP_ADD_MEMBERSHIP, mreqs(GROUP, PEER)[:8]))
        seen.append(hears(sock, GROUP))
        for name, source in ((UNBLOCK, PEER), (BLOCK, PEER), (BLOCK, PEER), (BLOCK, OTHER), (UNBLOCK, PEER),
                             (ADD, PEER), (DROP, OTHER), (UNBLOCK, OTHER), (ADD, PEER)):
            seen.append((put(sock, V4, name, mreqs(GROUP, source)), filter_of(sock, GROUP, is_old=True),
                         hears(sock, GROUP)))
        seen.append(put(sock, V4, socket.IP_DROP_MEMBERSHIP, mreqs(GROUP, PEER)[:8]))
        seen.append(hears(sock, GROUP))
    return seen


@check
def modes_change_without_a_list():
    seen = []
    with bound(GROUP) as sock:
        join = mreqs(GROUP, PEER)[:8]
        for name, value in ((socket.IP_ADD_MEMBERSHIP, join), (DROP, mreqs(GROUP, PEER)),
                            (UNBLOCK, mreqs(GROUP, PEER)), (ADD, mreqs(GROUP, PEER)),
                            (socket.IP_ADD_MEMBERSHIP, join), (socket.IP_DROP_MEMBERSHIP, join)):
            seen.append((put(sock, V4, name, value), filter_of(sock, GROUP), hears(sock, GROUP)))
    return seen


def by_group_options(group, one, other):
    level = V6 if ":" in group else V4
    seen = []
    with bound(group) as sock:
        for name, source in ((LEAVE_S, one), (BLOCK_S, one), (JOIN_S, one), (JOIN_S, one), (JOIN_S, other),
                             (BLOCK_S, one), (LEAVE_S, one), (LEAVE_S, other), (LEAVE_S, other)):
            seen.append((put(sock, level, name, source_req(group, source)), filter_of(sock, group),
                         hears(sock, group)))
        seen.append(put(sock, level, LEAVE_GROUP, group_req(group)))
        seen.append(put(sock, level, JOIN_GROUP, group_req(group)))
        seen.append(put(sock, level, JOIN_GROUP, group_req(group)))
        for name, source in ((BLOCK_S, one), (BLOCK_S, one), (JOIN_S, other), (UNBLOCK_S, other), (UNBLOCK_S, one),
                             (JOIN_S, other)):
            seen.append((put(sock, level, name, source_req(group, source)), filter_of(sock, group),
                         hears(sock, group)))
        seen.append(put(sock, level, LEAVE_GROUP, group_req(group)))
        seen.append(put(sock, level, LEAVE_GROUP, group_req(group)))
        seen.append(filter_of(sock, group))
    return seen


@check
def sources_by_group_options():
    return by_group_options(GROUP, PEER, OTHER)


@check
def sources_by_group_options_of_ipv6():
    return by_group_options(GROUP6, PEER6, OTHER6)


def whole_filters(group, one, other):
    level = V6 if ":" in group else V4
    far = [one[:-1] + "f%d" % i if level == V6 else "10.8.0.%d" % i for i in range(80)]
    seen = []
    with bound(group) as sock:
        def turn(*args, **kw):
            seen.append((put(sock, level, GROUP_MSFILTER, group_filter(group, *args, **kw)),
                         filter_of(sock, group), hears(sock, group)))
        turn(INCLUDE, [one])
        turn(INCLUDE, [])
        seen.append(put(sock, level, JOIN_GROUP, group_req(group)))
        turn(INCLUDE, [one])
        turn(EXCLUDE, [one])
        turn(INCLUDE, [other, one])
        turn(EXCLUDE, [])
        turn(EXCLUDE, [one, one])
        turn(INCLUDE, [other] + far[:8])
        seen.append([filter_of(sock, group, room) for room in (0, 1, 3, 30)])
        seen.append(filter_of(sock, group, 3, 0))
        seen.append(filter_of(sock, group, 3, 77))
        for cnt in (10, 11, 63, 64, 65):
            seen.append(put(sock, level, GROUP_MSFILTER, group_filter(group, INCLUDE, far[:cnt])))
        seen.append(put(sock, level, GROUP_MSFILTER, group_filter(group, INCLUDE, far[:3], 4)))
        seen.append(put(sock, level, GROUP_MSFILTER, group_filter(group, INCLUDE, far[:4], 3)))
        seen.append(put(sock, level, GROUP_MSFILTER, group_filter(group, 2, far[:3])))
        seen.append(put(sock, level, GROUP_MSFILTER, group_filter(group, INCLUDE, [one], index=0)))
        seen.append(put(sock, level, GROUP_MSFILTER, group_filter(group, INCLUDE, [one], index=77)))
        seen.append(put(sock, level, GROUP_MSFILTER, group_filter(one, INCLUDE, [one])))
        seen.append(put(sock, level, GROUP_MSFILTER, group_filter(group, INCLUDE, [one])[:143]))
        turn(INCLUDE, [])
        turn(INCLUDE, [])
    return seen


@check
def filters():
    return whole_filters(GROUP, PEER, OTHER)


@check
def filters_of_ipv6():
    return whole_filters(GROUP6, PEER6, OTHER6)


@check
def filters_by_the_old_option():
    far = ["10.8.0.%d" % i for i in range(12)]
    seen = []
    with bound(GROUP) as sock:
        seen.append(filter_of(sock, GROUP, is_old=True))
        seen.append(put(sock, V4, MSFILTER, msfilter(GROUP, EXCLUDE, [PEER])))
        seen.append(put(sock, V4, socket.IP_ADD_MEMBERSHIP, mreqs(GROUP, PEER)[:8]))
        for mode, sources, cnt in ((EXCLUDE, [PEER], None), (INCLUDE, far[:10], None), (INCLUDE, far[:11], None),
                                   (INCLUDE, [OTHER], 2), (INCLUDE, [OTHER], None), (5, [OTHER], None),
                                   (EXCLUDE, [], None)):
            seen.append((put(sock, V4, MSFILTER, msfilter(GROUP, mode, sources, cnt)),
                         filter_of(sock, GROUP, is_old=True), filter_of(sock, GROUP, 1, is_old=True),
                         hears(sock, GROUP)))
        seen.append(put(sock, V4, MSFILTER, msfilter(GROUP, EXCLUDE, [])[:15]))
        seen.append(put(sock, V4, MSFILTER, msfilter(PEER, EXCLUDE, [])))
        seen.append(get_raw(sock, V4, MSFILTER, msfilter(PEER, 0, []), 16))
        seen.append(get_raw(sock, V4, MSFILTER, msfilter(GROUP, 0, []), 15))
        seen.append(get_raw(sock, V4, GROUP_MSFILTER, group_filter(GROUP6, 0, []), 144))
        seen.append(put(sock, V4, MSFILTER, msfilter(GROUP, INCLUDE, [])))
        seen.append(put(sock, V4, MSFILTER, msfilter(GROUP, INCLUDE, [])))
    return seen


@check
def values_that_are_none():
    seen = []
    with sock4() as sock, sock6() as six:
        for name in (ADD, DROP, BLOCK, UNBLOCK):
            seen.append([put(sock, V4, name, mreqs(GROUP, PEER)[:11]),
                         put(sock, V4, name, mreqs(GROUP, PEER) + b"\0"), put(sock, V4, name, mreqs(PEER, PEER)),
                         put(sock, V4, name, mreqs(GROUP, PEER, "10.77.0.1"))])
        for level, group, source, other in ((V4, GROUP, PEER, GROUP6), (V6, GROUP6, PEER6, GROUP)):
            who = six if level == V6 else sock
            for name in (JOIN_S, LEAVE_S, BLOCK_S, UNBLOCK_S):
                value = source_req(group, source)
                seen.append([put(who, level, name, value[:-1]), put(who, level, name, value + b"\0"),
                             put(who, level, name, source_req(other, source)),
                             put(who, level, name, source_req(group, other)),
                             put(who, level, name, source_req(source, source)),
                             put(who, level, name, source_req(group, source, 77)),
                             put(who, level, name, source_req(group, source, 0))])
            for name in (JOIN_GROUP, LEAVE_GROUP):
                seen.append([put(who, level, name, group_req(group)[:-1]), put(who, level, name, group_req(other)),
                             put(who, level, name, group_req(source)), put(who, level, name, group_req(group, 77)),
                             put(who, level, name, group_req(group, 0))])
        seen.append(put(sock, V6, JOIN_GROUP, group_req(GROUP6)))
        seen.append(put(six, V4, JOIN_S, source_req(GROUP, PEER)))
        seen.append(filter_of(six, GROUP))
        seen.append(get_raw(sock, V6, GROUP_MSFILTER, group_filter(GROUP6, 0, []), 144))
        seen.append(get_raw(six, V6, GROUP_MSFILTER, group_filter(GROUP, 0, []), 144))
        seen.append(get_raw(six, V6, GROUP_MSFILTER, group_filter(GROUP6, 0, []), 143))
        seen.append(put(six, V6, GROUP_MSFILTER, group_filter(GROUP, 0, [])))
        seen.append(put(six, V6, JOIN_GROUP, group_req("::ffff:239.1.2.3")))
        seen.append(put(six, V6, JOIN_S, source_req("::ffff:239.1.2.3", PEER6)))
    return seen


@check
def two_members_hear_by_their_own_filters():
    with bound(SSM) as one, bound(SSM) as two, bound(SSM, True) as any_group:
        seen = [hears(any_group, SSM)]
        seen.append([put(one, V4, ADD, mreqs(SSM, PEER)), put(two, V4, ADD, mreqs(SSM, OTHER))])
        seen += [hears(one, SSM), hears(two, SSM), hears(any_group, SSM)]
        seen.append([put(two, V4, socket.IP_DROP_MEMBERSHIP, mreqs(SSM, OTHER)[:8])])
        for sock in (one, two, any_group):
            sock.settimeout(0)
            while isinstance(outcome(sock.recv, 100), bytes):
                pass
        seen += [hears(one, SSM), hears(any_group, SSM)]
    return seen


@check
def two_members_of_ipv6_hear_by_their_own_filters():
    with bound(SSM6) as one, bound(SSM6) as two:
        seen = [put(one, V6, JOIN_S, source_req(SSM6, PEER6)), put(two, V6, JOIN_S, source_req(SSM6, OTHER6))]
        seen += [hears(one, SSM6), hears(two, SSM6)]
        seen.append(put(two, V6, BLOCK_S, source_req(SSM6, OTHER6)))
        seen.append(put(two, V6, LEAVE_GROUP, group_req(SSM6)))
        seen.append(hears(one, SSM6))
    return seen


@check
def limits():
    seen = []
    with sock4() as sock, sock6() as six:
        results = [put(sock, V4, ADD, mreqs("239.1.1.%d" % i, PEER)) for i in range(22)]
        seen.append([results.count("ok"), results[-1]])
        results = [put(sock, V4, ADD, mreqs("239.1.1.1", "10.7.0.%d" % i)) for i in range(12)]
        seen.append([results.count("ok"), results[-1]])
        results = [put(six, V6, JOIN_S, source_req(GROUP6, "fd00:7::%x" % i)) for i in range(70)]
        seen.append([results.count("ok"), results[-1]])
        results = [put(six, V6, JOIN_GROUP, group_req("ff05::7:%x" % i)) for i in range(100)]
        seen.append([results.count("ok"), results[-1]])
    return seen


@check
def what_we_send_is_filtered_as_well():
    with bound(GROUP) as sock, sock4() as speaker:
        speaker.bind((US, 0))
        speaker.setsockopt(V4, socket.IP_MULTICAST_IF, socket.inet_aton(US))
        seen = []
        sock.settimeout(0.2)
        for name, source in ((ADD, PEER), (ADD, US), (DROP, US)):
            seen.append(put(sock, V4, name, mreqs(GROUP, source)))
            speaker.sendto(b"ours", (GROUP, PORT))
            seen.append(outcome(sock.recv, 100))
    return seen


if sys.argv[1] == "--peer":
    peer(sys.argv[2:])
US, US6, PEER, PEER6, OTHER, OTHER6 = sys.argv[1:7]
run(sys.argv[7:])
