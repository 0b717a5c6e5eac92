#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""udptest - what a program sees of its datagram sockets, one line a look

udp.sh runs it twice, once over the kernel and once over sluice, and holds the lines together: they must be
the same. The peer (udp_peer.py) has an echo on 7201; nobody is at 7202. A look never prints a port
that was chosen for it.
"""
import array
import contextlib
import ctypes
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import termios
import threading
import time

from looks import MSG_ERRQUEUE, PATIENCE, QUIET, check, mask, name_of, outcome, readable, run

PEER = sys.argv[1]
ECHO = (PEER, 7201)
NOBODY = (PEER, 7202)
US = sys.argv[2]
IP_PKTINFO, IP_RECVERR, IP_MTU_DISCOVER, IP_RECVTOS, IP_RECVTTL = 8, 11, 10, 13, 12


def udp(**kw):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(kw.get("timeout", PATIENCE))
    return sock


def connected(address=ECHO):
    sock = udp()
    sock.connect(address)
    return sock


def who(address):
    """A sender by its role."""
    return {ECHO: "the echo", NOBODY: "nobody"}.get(address, address[0] if address else address)


@check
def what_kind_of_socket():
    with udp() as sock:
        return (sock.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE),
                sock.getsockopt(socket.SOL_SOCKET, 39), sock.getsockopt(socket.SOL_SOCKET, 38),
                sock.getsockname(), outcome(sock.getpeername))


@check
def other_kinds_are_refused():
    return [outcome(socket.socket, f, t, p) for f, t, p in (
        (socket.AF_INET, socket.SOCK_DGRAM, 6), (socket.AF_INET, socket.SOCK_DGRAM, 250))]


@check
def sendto_and_recvfrom():
    with udp() as sock:
        sent = sock.sendto(b"hello", ECHO)
        data, sender = sock.recvfrom(100)
        return sent, data, who(sender), sock.getsockname()[0], sock.getsockname()[1] > 0


@check
def connected_send_and_recv():
    with connected() as sock:
        seen = [sock.getsockname()[0], who(sock.getpeername())]
        sock.send(b"one")
        seen.append(sock.recv(100))
        os.write(sock.fileno(), b"two")
        assert readable(sock)
        seen.append(os.read(sock.fileno(), 100))
        sock.send(b"three")
        data, sender = sock.recvfrom(100)
        return seen + [data, who(sender)]


@check
def sendto_somewhere_else_while_connected():
    with connected(NOBODY) as sock, contextlib.suppress(OSError):
        return sock.sendto(b"x", ECHO)


@check
def half_closed():
    with connected() as sock:
        sock.send(b"before")
        seen = [sock.shutdown(socket.SHUT_WR), sock.recv(100), outcome(sock.sendto, b"x", ECHO),
                outcome(sock.sendmsg, [b"x"], [], 0, ECHO), readable(sock, 0.1), sock.shutdown(socket.SHUT_WR)]
        seen += [sock.shutdown(socket.SHUT_RDWR), sock.settimeout(None), sock.recv(100)]
    with udp() as sock:
        sock.bind(("", 0))
        seen += [outcome(sock.shutdown, socket.SHUT_WR), outcome(sock.sendto, b"x", ECHO)]
        sock.connect(ECHO)
        return seen + [outcome(sock.sendto, b"x", ECHO), sock.getsockname()[0]]


@check
def shut_for_sending():
    """No call sends, whether it traps or not, and none brings a signal; what comes in is heard."""
    signals = []
    before = signal.signal(signal.SIGPIPE, lambda number, _: signals.append(number))
    with connected() as sock:
        sock.send(b"before")
        seen = [sock.shutdown(socket.SHUT_WR), outcome(sock.send, b"x"), outcome(os.write, sock.fileno(), b"x"),
                outcome(os.writev, sock.fileno(), [b"x", b"y"]), outcome(sock.sendto, b"x", ECHO), outcome(sock.sendmsg, [b"x"])]
        seen += [sock.recv(100), mask(sock), outcome(sock.send, b"x"), sock.getpeername() == ECHO, sock.shutdown(socket.SHUT_WR)]
        with udp() as other:
            other.bind((US, 0))
            seen += [outcome(sock.connect, other.getsockname()), outcome(sock.send, b"x"), other.sendto(b"late", sock.getsockname()),
                     sock.recv(100), outcome(sock.send, b"x"), readable(other, 0.1)]
    signal.signal(signal.SIGPIPE, before)
    return seen + [signals]


@check
def many_are_heard_after_shutdown():
    with connected() as sock, udp() as other:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        other.bind((US, 0))
        sock.connect(other.getsockname())
        for _ in range(300):
            other.sendto(bytes(1000), sock.getsockname())
        sock.shutdown(socket.SHUT_WR)
        for _ in range(100):
            other.sendto(bytes(1000), sock.getsockname())
        return sum(len(sock.recv(2000)) for _ in range(400)), outcome(sock.send, b"x")


@check
def shut_altogether():
    with connected() as sock:
        sock.send(b"before")
        seen = [sock.recv(100), sock.shutdown(socket.SHUT_RDWR), mask(sock), outcome(sock.send, b"x"), outcome(sock.sendto, b"x", ECHO)]
        time.sleep(QUIET)
        sock.setblocking(False)
        seen += [outcome(sock.recvfrom, 100), outcome(sock.recvmsg, 100)]
        sock.setblocking(True)
        seen += [sock.recv(100), sock.recvfrom(100)[0], sock.getsockname()[0], sock.getpeername() == ECHO, sock.shutdown(socket.SHUT_RD),
                 sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), sock.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE),
                 outcome(sock.setsockopt, socket.SOL_SOCKET, socket.SO_REUSEADDR, 1), outcome(sock.bind, ("", 0))]
        return seen + [outcome(sock.connect, NOBODY), sock.getpeername() == NOBODY, outcome(sock.send, b"x"), outcome(sock.sendto, b"x", ECHO)]


@check
def empty_datagrams():
    with udp() as sock:
        sock.sendto(b"", ECHO)
        first = sock.recvfrom(100)
        sock.connect(ECHO)
        sock.send(b"")
        return first[0], who(first[1]), readable(sock), sock.recv(100)


@check
def long_datagrams():
    seen = []
    with udp() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        for length in (1472, 1473, 9000, 65507):
            data = bytes((i * 7 + length) % 251 for i in range(length))
            sock.sendto(data, ECHO)
            seen.append((length, sock.recvfrom(65536)[0] == data))
        seen.append(outcome(sock.sendto, bytes(65508), ECHO))
    return seen


@check
def path_mtu_discovery_refuses():
    with udp() as sock:
        sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, 2)
        sock.connect(ECHO)
        return sock.getsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER), outcome(
            sock.sendto, bytes(1472), ECHO), outcome(sock.sendto, bytes(1473), ECHO)


@check
def truncation():
    with udp() as sock:
        seen = []
        for how in (0, socket.MSG_TRUNC):
            sock.sendto(b"0123456789", ECHO)
            assert readable(sock)
            buf = bytearray(4)
            count, sender = sock.recvfrom_into(buf, 4, how)
            seen.append((count, bytes(buf), who(sender)))
        sock.sendto(b"0123456789", ECHO)
        data, _, flags, sender = sock.recvmsg(4)
        return seen + [data, flags & socket.MSG_TRUNC != 0, who(sender)]


@check
def peeking():
    with udp() as sock:
        sock.sendto(b"first", ECHO)
        sock.sendto(b"second", ECHO)
        peek = sock.recvfrom(100, socket.MSG_PEEK)
        seen = [peek[0], who(peek[1])]
        for _ in range(2):
            data, sender = sock.recvfrom(100)
            seen += [data, who(sender)]
        return seen


@check
def native_and_named_receives_mixed():
    """recv() takes one, recvfrom() the next: the sender is the right one's."""
    with udp() as sock, udp() as other:
        sock.bind((US, 0))
        seen = []
        for i in range(4):
            for number, sender in ((2 * i, sock), (2 * i + 1, other)):
                if sender is sock:
                    sock.sendto(b"number %d" % number, ECHO)
                    time.sleep(0.02)
                else:
                    other.sendto(b"number %d" % number, sock.getsockname())
                    time.sleep(0.02)
        for i in range(4):
            seen.append(sock.recv(100))
            data, sender = sock.recvfrom(100)
            seen.append((data, sender == (US, other.getsockname()[1])))
        return seen


@check
def scatter_and_gather():
    with udp() as sock:
        sent = sock.sendmsg([b"ab", b"", b"cdef"], [], 0, ECHO)
        bufs = [bytearray(1), bytearray(3), bytearray(10)]
        count, _, flags, sender = sock.recvmsg_into(bufs)
        return sent, count, [bytes(b) for b in bufs], flags, who(sender)


@check
def sendmsg_without_a_name():
    with connected() as sock:
        sent = sock.sendmsg([b"plain"])
        data, _, flags, sender = sock.recvmsg(100)
        return sent, data, flags, who(sender)


@check
def unconnected_sends_need_a_destination():
    with udp() as sock:
        return outcome(sock.sendmsg, [b"x"]), outcome(sock.sendto, b"x", (PEER, 0))


@check
def refused_by_the_peer():
    with connected(NOBODY) as sock:
        sock.send(b"anybody?")
        woken = readable(sock)
        first = outcome(sock.recvfrom, 100)
        sock.send(b"anybody?")
        time.sleep(0.3)
        error = name_of(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
        return woken, first, error, name_of(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))


@check
def refused_over_loopback():
    with connected(("127.0.0.1", 9)) as sock:
        sock.send(b"anybody?")
        return readable(sock), outcome(sock.recvfrom, 100)


@check
def unconnected_sockets_are_not_refused():
    with udp(timeout=0.3) as sock:
        sock.sendto(b"anybody?", NOBODY)
        return outcome(sock.recvfrom, 100)


@check
def error_queue():
    with udp() as sock:
        sock.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
        seen = [outcome(sock.recvmsg, 100, 512, MSG_ERRQUEUE)]
        sock.sendto(b"anybody?", NOBODY)
        time.sleep(0.3)
        _, control, flags, sender = sock.recvmsg(100, 512, MSG_ERRQUEUE)
        level, kind, data = control[0]
        fields = struct.unpack("=IBBBBII", data[:16])
        return seen + [level, kind, name_of(fields[0]), fields[1:6], flags & MSG_ERRQUEUE != 0,
                       socket.inet_ntoa(data[20:24]) == PEER, who(sender)]


@check
def no_route():
    with udp() as sock:
        return outcome(sock.connect, ("8.8.8.8", 53)), outcome(sock.sendto, b"x", ("8.8.8.8", 53))


def disconnect(sock):
    """connect() to AF_UNSPEC, which Python has no word for."""
    return ctypes.CDLL(None, use_errno=True).connect(sock.fileno(), bytes(16), 16)


@check
def connecting_again_and_undoing_it():
    with udp() as sock:
        seen = [sock.connect(("127.0.0.1", 9)), sock.getsockname()[0],
                outcome(sock.connect, ECHO), disconnect(sock), sock.connect(ECHO),
                sock.getsockname()[0], who(sock.getpeername())]
        sock.send(b"x")
        seen.append(sock.recv(10))
        seen.append(disconnect(sock))
        return seen + [outcome(sock.getpeername), sock.getsockname()]


@check
def strangers_are_not_heard_when_connected():
    with udp() as sock, udp() as stranger:
        sock.bind((US, 0))
        sock.connect(ECHO)
        stranger.sendto(b"hear me", sock.getsockname())
        sock.send(b"echo")
        return sock.recv(100), readable(sock, 0.2)


@check
def binding():
    with udp() as first, udp() as second, udp() as third:
        first.bind(("0.0.0.0", 7301))
        seen = [first.getsockname(), outcome(first.bind, ("0.0.0.0", 7302)),
                outcome(second.bind, ("127.0.0.1", 7301)), outcome(second.bind, ("1.2.3.4", 0))]
        for sock in (second, third):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        seen += [outcome(second.bind, (US, 7303)), outcome(third.bind, (US, 7303))]
        return seen


@check
def bound_again_after_close():
    seen = []
    for _ in range(20):
        with udp() as sock:
            seen.append(outcome(sock.bind, ("0.0.0.0", 7304)))
    return set(seen)


@check
def stream_calls():
    with udp() as sock:
        return outcome(sock.listen, 1), outcome(sock.accept)


@check
def packet_info():
    with udp() as server, connected() as client, udp() as named:
        server.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
        server.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)
        server.setsockopt(socket.IPPROTO_IP, IP_RECVTOS, 1)
        server.bind(("0.0.0.0", 0))
        named.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 7)
        named.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x20)
        named.sendto(b"q", ("127.0.0.1", server.getsockname()[1]))
        data, control, flags, sender = server.recvmsg(100, 256)
        seen = [data, flags]
        for level, kind, value in sorted(control):
            if kind == IP_PKTINFO:
                index, spec, dst = struct.unpack("I4s4s", value)
                seen.append(("info", socket.if_indextoname(index), socket.inet_ntoa(spec),
                             socket.inet_ntoa(dst)))
            else:
                seen.append((level, kind, value))
        # answered from the address that was asked, by name
        info = struct.pack("I4s4s", 0, socket.inet_aton("127.0.0.1"), bytes(4))
        server.sendmsg([b"a"], [(socket.IPPROTO_IP, IP_PKTINFO, info)], 0, sender)
        answer, source = named.recvfrom(100)
        seen += [answer, source[0]]
        # no room for all of it
        named.sendto(b"r", ("127.0.0.1", server.getsockname()[1]))
        _, control, flags, _ = server.recvmsg(100, 20)
        return seen + [flags & socket.MSG_CTRUNC != 0]


@check
def packet_info_from_outside():
    with udp() as sock:
        sock.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
        sock.connect(ECHO)
        sock.send(b"q")
        _, control, _, _ = sock.recvmsg(100, 256)
        index, spec, dst = struct.unpack("I4s4s", control[0][2])
        return socket.if_indextoname(index), socket.inet_ntoa(spec), socket.inet_ntoa(dst)


@check
def timestamps():
    with udp() as sock:
        sock.setsockopt(socket.SOL_SOCKET, 29, 1)
        sock.sendto(b"when?", ECHO)
        _, control, _, _ = sock.recvmsg(100, 256)
        seconds, micros = struct.unpack("qq", control[0][2])
        return control[0][:2], abs(seconds + micros / 1e6 - time.time()) < 2


@check
def broadcast_needs_permission():
    with udp() as sock:
        seen = [outcome(sock.sendto, b"x", ("10.99.0.255", 9)), outcome(sock.connect, ("10.99.0.255", 9))]
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        return seen + [outcome(sock.sendto, b"x", ("10.99.0.255", 9))]


@check
def multicast_on_this_host():
    group = "239.1.2.3"
    with udp() as member, udp() as sender:
        member.bind(("0.0.0.0", 7305))
        wanted = struct.pack("4s4s", socket.inet_aton(group), socket.inet_aton(US))
        seen = [outcome(member.setsockopt, socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, wanted),
                outcome(member.setsockopt, socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, wanted)]
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(US))
        seen.append(socket.inet_ntoa(sender.getsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, 4)))
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 3)
        seen.append(sender.getsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL))
        sender.sendto(b"all of you", (group, 7305))
        data, source = member.recvfrom(100)
        seen += [data, source[0]]
        seen.append(outcome(member.setsockopt, socket.IPPROTO_IP, socket.IP_DROP_MEMBERSHIP, wanted))
        seen.append(outcome(member.setsockopt, socket.IPPROTO_IP, socket.IP_DROP_MEMBERSHIP, wanted))
        return seen


@check
def waiting_and_timeouts():
    with udp(timeout=None) as sock:
        sock.settimeout(None)
        sock.sendto(b"late", ECHO)
        begin = time.monotonic()
        data, sender = sock.recvfrom(100)
        seen = [data, who(sender), time.monotonic() - begin > 0.1]
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 200000))
        begin = time.monotonic()
        seen.append(outcome(sock.recvfrom, 100))
        seen.append(0.1 < time.monotonic() - begin < 1)
        sock.setblocking(False)
        return seen + [outcome(sock.recvfrom, 100), outcome(sock.recvmsg, 100)]


@check
def several_threads_receive():
    with udp(timeout=None) as sock:
        sock.settimeout(None)
        sock.bind((US, 0))
        got, lock = [], threading.Lock()

        def take():
            for _ in range(10):
                data, sender = sock.recvfrom(100)
                with lock:
                    got.append((data, who(sender)))

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for i in range(40):
            sock.sendto(b"%d" % i, ECHO)
        for thread in threads:
            thread.join(PATIENCE)
        return len(got), len({data for data, _ in got}), {sender for _, sender in got}


@check
def a_child_receives_for_its_parent():
    with udp() as sock:
        sock.bind((US, 0))
        copy = os.dup(sock.fileno())
        pid = os.fork()
        if pid == 0:
            status = 2
            with contextlib.suppress(BaseException):
                other = socket.socket(fileno=copy)
                other.settimeout(PATIENCE)
                other.sendto(b"from the child", ECHO)
                data, sender = other.recvfrom(100)
                status = 0 if data == b"from the child" and sender == ECHO else 1
            os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(copy)
        sock.sendto(b"from the parent", ECHO)
        return status, sock.recvfrom(100)[0]


@check
def send_and_exit():
    """What was sent before the end of the program arrives all the same."""
    with udp() as sock:
        sock.bind((US, 0))
        port = sock.getsockname()[1]
        for how in ("sendto", "send"):
            pid = os.fork()
            if pid == 0:
                mine = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                if how == "send":
                    mine.connect((US, port))
                    mine.send(b"last words")
                else:
                    mine.sendto(b"last words", (US, port))
                os._exit(0)
            os.waitpid(pid, 0)
        return [sock.recvfrom(100)[0] for _ in range(2)]


@check
def poll_masks():
    def mask(sock, want=0):
        poll = select.poll()
        poll.register(sock, select.POLLIN | select.POLLOUT | select.POLLPRI)
        end = time.monotonic() + PATIENCE
        while True:
            bits = dict(poll.poll(0)).get(sock.fileno(), 0)
            if bits & want == want or time.monotonic() > end:
                return bits
            time.sleep(0.005)

    with udp() as sock:
        seen = [mask(sock)]
        sock.bind((US, 0))
        seen.append(mask(sock))
        sock.sendto(b"x", ECHO)
        seen.append(mask(sock, select.POLLIN))
        sock.recvfrom(10)
        return seen + [mask(sock)]


@check
def how_much_is_there():
    with connected() as sock:
        sock.send(b"12345")
        assert readable(sock)
        number = array.array("i", [0])
        fcntl.ioctl(sock.fileno(), termios.FIONREAD, number)
        return number[0]


@check
def dual_stack():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.settimeout(PATIENCE)
        sock.bind(("::", 0))
        sock.sendto(b"x", ("::ffff:" + PEER, 7201))
        data, sender = sock.recvfrom(100)
        return data, sender[:2], sock.getsockname()[0]


@check
def gathered():
    more, cork, data = socket.MSG_MORE, (17, 1), bytes(i % 251 for i in range(65536))
    with udp() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        seen = [outcome(sock.sendto, b"one ", more, ECHO), outcome(sock.sendto, b"data", more, NOBODY),
                outcome(sock.send, b"gram"), sock.recvfrom(100)[0], outcome(sock.send, b"x", more)]
        seen += [outcome(sock.sendto, data[:65000], more, ECHO), outcome(sock.sendto, data[:600], ECHO)]
        seen += [outcome(sock.sendto, b"after", ECHO), sock.recvfrom(100)[0]]
    with connected() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        seen += [sock.getsockopt(*cork), outcome(sock.setsockopt, *cork, 7), sock.getsockopt(*cork)]
        for i in range(100):
            os.write(sock.fileno(), b"%02d" % i)
        seen += [outcome(sock.sendmsg, [b"-", b"-"]), readable(sock, 0.1), outcome(sock.setsockopt, *cork, 0)]
        seen += [sock.recv(1000), outcome(sock.setsockopt, *cork, b"1")]
        os.write(sock.fileno(), b"alone")
        seen.append(sock.recv(100))
        for i in range(20):
            seen += [sock.send(b"a%d" % i, more), sock.send(b"b", more), os.write(sock.fileno(), b"c"), sock.recv(100)]
        seen += [sock.send(data[:40000], more), sock.sendmsg([data[40000:50000]], [], more), sock.send(b""),
                 sock.recv(65536) == data[:50000]]
        seen += [sock.send(b"dropped", more)]
    return seen


@check
def five_hundred_in_order():
    with connected() as sock:
        lost = 0
        for i in range(500):
            sock.send(b"%d" % i)
            if sock.recv(100) != b"%d" % i:
                lost += 1
        return lost


run(set(sys.argv[3:]))
