#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""selftest - what a program can see of its TCP sockets, one line a look

Run once on the kernel's sockets and once on sluice's: the two outputs must be the same, so nothing
here prints a port, a time or a size that may differ from run to run. What is asked is what real
programs depend on: poll masks, errno values, edges, who gets which connection, and how an end of
one side looks on the other.

Left out on purpose: reading, writing, polling and shutting down a socket that was never connected.
There a pair is behind it, and no program in the survey does that.

Usage: selftest.py PEER, an address where selftest_peer.py runs.
"""
import array
import contextlib
import ctypes
import errno
import fcntl
import hashlib
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time

PEER = sys.argv[1]
ECHO, RESETTER, WITNESS, VERDICT = range(7001, 7005)  # the peer's services
REFUSED = 9
NOBODY = PEER.rsplit(".", 1)[0] + ".77"  # on the link, and nobody answers for it
POLLRDHUP = 0x2000
SIOCATMARK = 0x8905
SIOCOUTQ, SIOCOUTQNSD = termios.TIOCOUTQ, 0x894B
ALL = select.POLLIN | select.POLLPRI | select.POLLOUT | POLLRDHUP
NAMES = {1: "IN", 2: "PRI", 4: "OUT", 8: "ERR", 16: "HUP", POLLRDHUP: "RDHUP"}
PATIENCE = 5.0  # seconds until something expected counts as missing
QUIET = 0.15  # seconds of nothing that count as nothing

libc = ctypes.CDLL(None, use_errno=True)
checks = []


def check(func):
    """A look: its name is its sentence, its return value is printed."""
    checks.append(func)
    return func


def name_of(number):
    return errno.errorcode.get(number, str(number)) if number else "ok"


def mask(sock, want=0):
    """The poll mask, as words; waits until every bit of want is there."""
    poll = select.poll()
    poll.register(sock, ALL)
    end = time.monotonic() + (PATIENCE if want else QUIET)
    bits = 0
    while time.monotonic() < end:
        bits = dict(poll.poll(0)).get(sock.fileno(), 0)
        if want and bits & want == want:
            break
        time.sleep(0.005)
    return " ".join(word for bit, word in NAMES.items() if bits & bit) or "nothing"


def outcome(func, *args):
    """What the call returned, or the name of its error."""
    try:
        return func(*args)
    except TimeoutError as err:
        return name_of(err.errno) if err.errno else "timed out"
    except OSError as err:
        return name_of(err.errno)


def so_error(sock):
    return name_of(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))


def listener(address=("127.0.0.1", 0), backlog=16):
    sock = socket.socket()
    sock.bind(address)
    sock.listen(backlog)
    return sock


def dial(address):
    """A client that shows a hang as an error."""
    sock = socket.create_connection(address, PATIENCE)
    sock.settimeout(None)
    return sock


def pair():
    """Both ends of a connection over 127.0.0.1."""
    with listener() as door:
        client = dial(door.getsockname())
        server, _ = door.accept()
    return client, server


def linger(sock, seconds):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, seconds))


def receive(sock):
    """Everything until the end of the stream."""
    parts = []
    while part := sock.recv(65536):
        parts.append(part)
    return b"".join(parts)


def in_child(func):
    """Runs func in a forked child, returns its exit status."""
    pid = os.fork()
    if pid == 0:
        status = 99
        with contextlib.suppress(BaseException):
            status = func() or 0
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


# --- listening -----------------------------------------------------------------------------------


@check
def listener_is_readable_while_a_connection_waits():
    with listener() as door:
        seen = [mask(door)]
        with dial(door.getsockname()):
            seen.append(mask(door, select.POLLIN))
            door.accept()[0].close()
            seen.append(mask(door))
    return seen


@check
def accept_gives_the_clients_address():
    with listener() as door, dial(door.getsockname()) as client:
        server, address = door.accept()
        with server:
            return (address == client.getsockname(), server.getsockname() == client.getpeername(),
                    server.getpeername() == client.getsockname())


@check
def ten_waiting_connections_come_in_order():
    with listener() as door:
        clients = [dial(door.getsockname()) for _ in range(10)]
        accepted = [door.accept() for _ in clients]
        same = [a[1] == c.getsockname() for a, c in zip(accepted, clients)]
        for sock in clients + [a[0] for a in accepted]:
            sock.close()
    return same.count(True)


@check
def accept_without_connection():
    with listener() as door:
        door.setblocking(False)
        first = outcome(door.accept)
        door.settimeout(0.1)
        second = outcome(door.accept)
        door.settimeout(None)
        door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("qq", 0, 100000))
        return first, second, outcome(door.accept)


@check
def accept4_flags():
    with listener() as door:
        seen = []
        for flags in (0, socket.SOCK_NONBLOCK, socket.SOCK_CLOEXEC):
            with dial(door.getsockname()):
                fd = libc.accept4(door.fileno(), None, None, flags)
                seen.append((bool(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK),
                             bool(fcntl.fcntl(fd, fcntl.F_GETFD) & fcntl.FD_CLOEXEC)))
                os.close(fd)
    return seen


@check
def a_signal_interrupts_a_blocking_accept():
    class Alarm(Exception):
        pass

    def ring(*_):
        raise Alarm

    old = signal.signal(signal.SIGALRM, ring)
    start = time.monotonic()
    try:
        with listener() as door:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            door.accept()
    except Alarm:
        return "in time" if 0.2 < time.monotonic() - start < 2 else "late"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    return "not interrupted"


@check
def shutdown_of_a_listener_wakes_accept():
    seen = []
    with listener() as door:
        thread = threading.Thread(target=lambda: seen.append(outcome(door.accept)))
        thread.start()
        time.sleep(QUIET)
        door.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE)
    return seen


@check
def a_bound_port_is_busy_until_its_last_holder_is_gone():
    with listener() as door, socket.socket() as other:
        address = door.getsockname()
        seen = [outcome(other.bind, address)]
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(write)
            os.read(read, 1)
            os._exit(0)
        door.close()
        time.sleep(QUIET)
        seen.append(outcome(other.bind, address))
        os.close(write)
        os.waitpid(pid, 0)
        os.close(read)
        end = time.monotonic() + PATIENCE
        while (again := outcome(other.bind, address)) and time.monotonic() < end:
            time.sleep(0.01)
        seen.append(again)
    return seen


@check
def reuseport_shares_a_port():
    doors = []
    for _ in range(2):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sock.bind(doors[0].getsockname() if doors else ("127.0.0.1", 0))
        sock.listen(64)
        doors.append(sock)
    clients = [dial(doors[0].getsockname()) for _ in range(40)]
    taken = [0, 0]
    end = time.monotonic() + PATIENCE
    while sum(taken) < len(clients) and time.monotonic() < end:
        for sock in select.select(doors, [], [], 0.2)[0]:
            sock.accept()[0].close()
            taken[doors.index(sock)] += 1
    for sock in clients + doors:
        sock.close()
    return sum(taken), all(taken)


@check
def bind_errors():
    with socket.socket() as sock:
        foreign = outcome(sock.bind, ("198.51.100.7", 0))
        first = outcome(sock.bind, ("127.0.0.1", 0))
        # the same call twice in a row could be one that a signal made the kernel start again
        return foreign, first, sock.getsockname()[1] > 0, outcome(sock.bind, ("127.0.0.1", 0))


# --- connecting ----------------------------------------------------------------------------------


@check
def connect_without_waiting():
    with listener() as door, socket.socket() as sock:
        sock.setblocking(False)
        first = name_of(sock.connect_ex(door.getsockname()))
        seen = mask(sock, select.POLLOUT)
        return first, seen, so_error(sock), name_of(sock.connect_ex(door.getsockname())), \
            name_of(sock.connect_ex(door.getsockname()))


@check
def connect_to_the_peer_without_waiting():
    with socket.socket() as sock:
        sock.setblocking(False)
        first = name_of(sock.connect_ex((PEER, ECHO)))
        seen = mask(sock, select.POLLOUT)
        return first, seen, so_error(sock), sock.getpeername() == (PEER, ECHO)


@check
def refused_by_the_peer():
    with socket.socket() as sock:
        sock.setblocking(False)
        first = name_of(sock.connect_ex((PEER, REFUSED)))
        seen = mask(sock, select.POLLERR)
        return first, seen, so_error(sock), so_error(sock)


@check
def refused_while_blocking():
    with socket.socket() as sock, socket.socket() as local:
        return outcome(sock.connect, (PEER, REFUSED)), outcome(local.connect, ("127.0.0.1", REFUSED))


@check
def nobody_answers():
    with socket.socket() as sock:
        sock.setblocking(False)
        first = name_of(sock.connect_ex((NOBODY, REFUSED)))
        return first, mask(sock), name_of(sock.connect_ex((NOBODY, REFUSED))), outcome(sock.getpeername)


@check
def an_epoll_entry_outlives_connect():
    """nginx registers a socket, then connects it."""
    with socket.socket() as sock, select.epoll() as epoll:
        sock.setblocking(False)
        epoll.register(sock, select.EPOLLIN | select.EPOLLOUT | POLLRDHUP | select.EPOLLET)
        epoll.poll(0)
        sock.connect_ex((PEER, ECHO))
        end = time.monotonic() + PATIENCE
        bits = 0
        while not bits & select.EPOLLOUT and time.monotonic() < end:
            for _, event in epoll.poll(0.2):
                bits = event
        sock.send(b"hello")
        more = 0
        while not more & select.EPOLLIN and time.monotonic() < end:
            # an edge may say "writable" again: epoll(7) allows more edges than needed
            more |= dict(epoll.poll(0.2)).get(sock.fileno(), 0)
        return bool(bits & select.EPOLLOUT), bool(more & select.EPOLLIN), sock.recv(100)


@check
def misplaced_calls():
    with socket.socket() as sock, listener() as door, dial(door.getsockname()) as client:
        return (outcome(sock.getpeername), outcome(sock.accept), outcome(client.connect, (PEER, ECHO)),
                outcome(client.listen, 1), outcome(client.bind, ("127.0.0.1", 0)))


# --- ends ----------------------------------------------------------------------------------------


@check
def half_close_over_loopback():
    client, server = pair()
    with client, server:
        server.shutdown(socket.SHUT_WR)
        seen = mask(client, POLLRDHUP), client.recv(1)
        client.send(b"still open")
        answer = server.recv(100)
        client.close()
        return seen, answer, server.recv(1), mask(server, POLLRDHUP)


@check
def half_close_with_the_peer():
    data = os.urandom(1 << 20)
    with dial((PEER, ECHO)) as sock:
        thread = threading.Thread(target=lambda: (sock.sendall(data), sock.shutdown(socket.SHUT_WR)))
        thread.start()
        back = receive(sock)
        thread.join()
    return back == data


@check
def reset_by_the_peer():
    with dial((PEER, RESETTER)) as sock:
        sock.send(b"x")
        seen = mask(sock, select.POLLERR)
        return seen, outcome(sock.recv, 10), outcome(sock.recv, 10), outcome(sock.send, b"y")


def verdict():
    """How the last connection to the peer's witness ended."""
    with dial((PEER, VERDICT)) as sock:
        return receive(sock).decode()


@check
def the_peer_sees_a_plain_close():
    with dial((PEER, WITNESS)) as sock:
        sock.recv(100)
        sock.send(b"bye")
    return verdict()


@check
def the_peer_sees_a_close_with_unread_bytes():
    with dial((PEER, WITNESS)) as sock:
        mask(sock, select.POLLIN)
    return verdict()


@check
def the_peer_sees_linger_0():
    with dial((PEER, WITNESS)) as sock:
        sock.recv(100)
        linger(sock, 0)
    return verdict()


@check
def the_peer_sees_the_end_of_a_killed_process():
    def victim():
        sock = dial((PEER, WITNESS))
        sock.recv(100)
        os.kill(os.getpid(), signal.SIGKILL)

    return in_child(victim), verdict()


@check
def resets_over_loopback():
    seen = []
    for how in ("linger", "unread"):
        client, server = pair()
        with client:
            if how == "linger":
                linger(server, 0)
            else:
                client.send(b"unread")
                mask(server, select.POLLIN)
            server.close()
            seen.append((mask(client, select.POLLERR), outcome(client.recv, 1), outcome(client.recv, 1)))
    return seen


@check
def data_before_a_reset_is_lost_or_kept_alike():
    with dial((PEER, RESETTER)) as sock:
        sock.send(b"later")
        mask(sock, select.POLLERR)
        return so_error(sock), so_error(sock)


# --- descriptors ---------------------------------------------------------------------------------


@check
def a_forked_child_accepts():
    with listener() as door:
        pid = os.fork()
        if pid == 0:
            sock, _ = door.accept()
            sock.send(b"child")
            os._exit(0)
        with dial(door.getsockname()) as client:
            answer = client.recv(10)
        os.waitpid(pid, 0)
    return answer


@check
def a_program_accepts_on_what_it_inherited():
    code = ("import socket,sys\n"
            "door = socket.socket(fileno=int(sys.argv[1]))\n"
            "sock, _ = door.accept()\n"
            "sock.send(b'exec')\n"
            "print(door.family.name, door.getsockname() == sock.getsockname())")
    with listener() as door, dial(door.getsockname()) as client:
        out = subprocess.run([sys.executable, "-c", code, str(door.fileno())], check=False,
                             pass_fds=[door.fileno()], stdout=subprocess.PIPE, text=True).stdout
        return out.strip(), client.recv(10)


@check
def a_duplicate_is_the_same_socket():
    with listener() as door:
        address = door.getsockname()
        with socket.socket(fileno=os.dup(door.fileno())) as other:
            door.close()
            with dial(address) as client:
                sock, whence = other.accept()
                sock.close()
                return whence == client.getsockname()


@check
def a_socket_travels_over_a_unix_socket():
    client, server = pair()
    left, right = socket.socketpair()
    with client, server, left, right:
        peer = client.getpeername()
        socket.send_fds(left, [b"x"], [client.fileno()])
        client.close()
        fd = socket.recv_fds(right, 10, 1)[1][0]
        with socket.socket(fileno=fd) as moved:
            server.send(b"over there")
            return moved.family.name, moved.getpeername() == peer, moved.recv(100)


@check
def a_child_keeps_the_connection_open():
    client, server = pair()
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    client.close()
    seen = [mask(server)]
    os.close(write)
    os.waitpid(pid, 0)
    seen.append(mask(server, POLLRDHUP))
    server.close()
    os.close(read)
    return seen


# --- epoll ---------------------------------------------------------------------------------------


@check
def edges_of_a_listener():
    with listener() as door, select.epoll() as epoll:
        epoll.register(door, select.EPOLLIN | select.EPOLLET)
        counts = [len(epoll.poll(QUIET))]
        clients = []
        for _ in range(2):
            clients.append(dial(door.getsockname()))
            counts.append(len(epoll.poll(PATIENCE)))
            counts.append(len(epoll.poll(QUIET)))
        for sock in clients:
            sock.close()
    return counts


@check
def four_exclusive_workers_share_200_connections():
    with listener(backlog=256) as door:
        door.setblocking(False)
        read, write = os.pipe()
        go_read, go_write = os.pipe()
        pids = []
        for _ in range(4):
            pid = os.fork()
            if pid == 0:
                os.close(go_write)
                exclusive_worker(door, go_read, write)
            pids.append(pid)
        os.close(go_read)
        for _ in range(200):
            with dial(door.getsockname()) as sock:
                sock.recv(1)
        os.close(go_write)
        for pid in pids:
            os.waitpid(pid, 0)
    counts = struct.unpack("4i", os.read(read, 16))
    return sum(counts)


def exclusive_worker(door, stop, out):
    taken = 0
    with select.epoll() as epoll:
        epoll.register(door, select.EPOLLIN | select.EPOLLEXCLUSIVE)
        epoll.register(stop, select.EPOLLIN)
        stopping = False
        while not stopping:
            for fd, _ in epoll.poll(PATIENCE):
                stopping = stopping or fd == stop
                with contextlib.suppress(BlockingIOError):
                    door.accept()[0].close()
                    taken += 1
    os.write(out, struct.pack("i", taken))
    os._exit(0)


# --- data ----------------------------------------------------------------------------------------


@check
def looks_at_waiting_bytes():
    client, server = pair()
    with client, server:
        server.send(b"abcdef")
        mask(client, select.POLLIN)
        count = array.array("i", [0])
        fcntl.ioctl(client, termios.FIONREAD, count)
        return (count[0], client.recv(3, socket.MSG_PEEK), client.recv(3), client.recv(10),
                outcome(client.recv, 1, socket.MSG_DONTWAIT))


def queued(sock, request=SIOCOUTQ):
    count = array.array("i", [-1])
    fcntl.ioctl(sock, request, count)
    return count[0]


def drained(sock):
    """Waits until the peer has acknowledged everything, as those do who end a connection with care."""
    end = time.monotonic() + PATIENCE
    while queued(sock) and time.monotonic() < end:
        time.sleep(0.005)
    return queued(sock), queued(sock, SIOCOUTQNSD)


def acknowledged(sock):
    """tcpi_bytes_acked"""
    return struct.unpack_from("Q", sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128), 120)[0]


@check
def counts_what_is_not_acknowledged():
    with listener() as door, socket.socket() as fresh:
        seen = [queued(fresh), queued(fresh, SIOCOUTQNSD), outcome(queued, door),
                outcome(queued, door, SIOCOUTQNSD)]
        door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
        client = dial(door.getsockname())
        server, _ = door.accept()
    with client, server:
        seen.append(drained(client))
        before, sent = acknowledged(client), 0
        client.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                sent += client.send(bytes(5000))
                time.sleep(0.001)
        time.sleep(QUIET)
        unsent, left = queued(client, SIOCOUTQNSD), queued(client)
        seen += [0 < unsent <= left, sent - left - (acknowledged(client) - before)]
        client.shutdown(socket.SHUT_WR)
        time.sleep(QUIET)
        # the end of the stream counts once there is nothing before it but what the stack has
        seen += [queued(client) >= left, len(receive(server)) - sent, drained(client)]
    return seen


def written_ahead(lowat, when):
    """Less than a quarter of a megabyte waits unsent in front of a closed window."""
    with listener() as door, socket.socket() as client:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
        for moment in "before", "after":
            if moment == "after":
                client.connect(door.getsockname())
            if moment == when:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, lowat)
        with door.accept()[0]:
            client.setblocking(False)
            end = time.monotonic() + 2 * QUIET
            while time.monotonic() < end:
                outcome(client.send, bytes(1 << 20))
                time.sleep(0.01)
            return 0 < queued(client, SIOCOUTQNSD) < 1 << 18


@check
def little_is_written_ahead_of_the_window():
    return [written_ahead(lowat, when) for lowat in (1, 16384) for when in ("before", "after")]


@check
def threshold_of_reading_is_inherited():
    with listener() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 5)
        client = dial(door.getsockname())
        server, _ = door.accept()
    with client, server:
        seen = [server.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT)]
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", int(PATIENCE), 0))
        client.send(b"abc")
        threading.Timer(QUIET, client.send, [b"defg"]).start()
        return seen + [server.recv(10)]


def at_mark(sock):
    mark = array.array("i", [-1])
    fcntl.ioctl(sock, SIOCATMARK, mark)
    return mark[0]


@check
def urgent_data_is_apart():
    rung = []
    old = signal.signal(signal.SIGURG, lambda *_: rung.append(1))
    client, server = pair()
    with client, server:
        fcntl.fcntl(server, fcntl.F_SETOWN, os.getpid())
        client.send(b"abc")
        client.send(b"..X", socket.MSG_OOB)
        client.sendmsg([b"de", b"f"])
        seen = [mask(server, select.POLLPRI | select.POLLIN)]
        time.sleep(QUIET)
        seen += [at_mark(server), server.recv(10), at_mark(server),
                 server.recv(1, socket.MSG_OOB | socket.MSG_PEEK), server.recv(1, socket.MSG_OOB),
                 mask(server), server.recv(10), outcome(server.recv, 1, socket.MSG_OOB)]
        client.sendmsg([b"over", b"!"], [], socket.MSG_OOB)
        seen += [mask(server, select.POLLPRI | select.POLLIN)]
        time.sleep(QUIET)
        seen += [server.recv(10), server.recv(1, socket.MSG_OOB), bool(rung)]
    signal.signal(signal.SIGURG, old)
    return seen


@check
def urgent_data_in_line():
    with listener() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
        with dial(door.getsockname()) as client:
            server, _ = door.accept()
            with server:
                inherited = server.getsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE)
                client.send(b"12!", socket.MSG_OOB)
                client.send(b"34")
                seen = [inherited, mask(server, select.POLLPRI | select.POLLIN)]
                time.sleep(QUIET)
                seen += [server.recv(10), at_mark(server), server.recv(10), at_mark(server),
                         outcome(server.recv, 1, socket.MSG_OOB)]
                return seen


@check
def urgent_data_from_the_peer():
    with dial((PEER, ECHO)) as sock:  # it sends everything back in line
        sock.send(b"abc!", socket.MSG_OOB)
        sock.shutdown(socket.SHUT_WR)
        return len(receive(sock))


@check
def waitall_waits():
    client, server = pair()
    with client, server:
        def trickle():
            for char in b"12345678":
                server.send(bytes([char]))
                time.sleep(0.005)

        thread = threading.Thread(target=trickle)
        thread.start()
        got = client.recv(8, socket.MSG_WAITALL)
        thread.join()
        return got


@check
def receive_timeouts():
    client, server = pair()
    with client, server:
        client.settimeout(0.1)
        first = outcome(client.recv, 1)
        client.settimeout(None)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("qq", 0, 100000))
        return first, outcome(client.recv, 1)


@check
def a_full_pipe_pushes_back():
    client, server = pair()
    with client, server:
        client.setblocking(False)
        sent = 0
        quiet = 0
        while quiet < 5:  # what is in flight between the two makes room for a while
            try:
                sent += client.send(bytes(65536))
                quiet = 0
            except BlockingIOError:
                quiet += 1
                time.sleep(0.05)
        stuck = mask(client)
        got = 0
        while got < sent:
            got += len(server.recv(1 << 20))
        return stuck, mask(client, select.POLLOUT), got == sent


@check
def twenty_megabytes_to_the_peer_and_back():
    data = os.urandom(1 << 20) * 20
    with dial((PEER, ECHO)) as sock:
        thread = threading.Thread(target=lambda: (sock.sendall(data), sock.shutdown(socket.SHUT_WR)))
        thread.start()
        digest = hashlib.sha256()
        while part := sock.recv(1 << 18):
            digest.update(part)
        thread.join()
    return digest.digest() == hashlib.sha256(data).digest()


@check
def a_slow_reader_gets_everything():
    client, server = pair()
    total = []

    def read_slowly():
        got = 0
        while part := server.recv(16384):
            got += len(part)
            if got < 1 << 20:
                time.sleep(0.001)
        total.append(got)
        server.sendall(b"%d" % got)
        server.close()

    thread = threading.Thread(target=read_slowly)
    thread.start()
    with client:
        client.sendall(bytes(20000000))
        client.shutdown(socket.SHUT_WR)
        answer = client.recv(100)
    thread.join()
    return answer


@check
def reading_side_shut():
    client, server = pair()
    with client, server:
        client.shutdown(socket.SHUT_RD)
        return client.recv(1)


# --- options and arguments -----------------------------------------------------------------------


@check
def options_come_back():
    with socket.socket() as sock:
        seen = []
        for level, option, value in (
                (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
                (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1),
                (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
                (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30),
                (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 7),
                (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 4)):
            before = sock.getsockopt(level, option)
            sock.setsockopt(level, option, value)
            seen.append((before, sock.getsockopt(level, option)))
        linger(sock, 3)
        seen.append(struct.unpack("ii", sock.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)))
    return seen


@check
def what_kind_of_socket():
    with listener() as door, dial(door.getsockname()) as client:
        return [tuple(sock.getsockopt(socket.SOL_SOCKET, option)
                      for option in (socket.SO_TYPE, socket.SO_DOMAIN, socket.SO_PROTOCOL,
                                     socket.SO_ACCEPTCONN)) for sock in (door, client)]


@check
def tcp_info_says_established():
    with dial((PEER, ECHO)) as sock:
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 512)
        short = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 13)
        return info[0], len(info) >= 104, len(short), short[:8] == info[:8]


@check
def an_accepted_socket_inherits_nodelay():
    with listener() as door:
        door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with dial(door.getsockname()):
            sock, _ = door.accept()
            with sock:
                return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def raw(func, *args):
    """The errno of a libc call whose arguments Python would refuse."""
    ctypes.set_errno(0)
    return name_of(ctypes.get_errno()) if func(*args) < 0 else "ok"


@check
def bad_arguments():
    address = struct.pack("=HH4s8x", socket.AF_INET, socket.htons(ECHO), socket.inet_aton(PEER))
    with socket.socket() as sock, open("/dev/null", "rb") as null:
        fd = sock.fileno()
        return (raw(libc.connect, fd, ctypes.c_void_p(8), 16),
                raw(libc.connect, fd, address, 4),
                raw(libc.bind, fd, address, 0x7fffffff),
                raw(libc.getsockname, fd, ctypes.c_void_p(8), ctypes.c_void_p(8)),
                raw(libc.connect, 999, address, 16),
                raw(libc.listen, null.fileno(), 1),
                raw(libc.setsockopt, fd, socket.SOL_SOCKET, socket.SO_KEEPALIVE, ctypes.c_void_p(8), 4))


@check
def families_and_types():
    seen = []
    for kind in (socket.SOCK_STREAM | 0x10, 77):
        seen.append(outcome(lambda k=kind: socket.socket(socket.AF_INET, k).close()))
    seen.append(outcome(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 17).close()))
    return seen


@check
def a_stream_has_no_part_in_groups():
    seen = []
    ip, six = socket.IPPROTO_IP, socket.IPPROTO_IPV6
    for family in socket.AF_INET, socket.AF_INET6:
        with socket.socket(family) as sock:
            for level, options in (ip, (32, 33, 34, 35, 36, 49)), (six, (17, 18, 19, 20, 21, 29)):
                for option in options:
                    seen += [outcome(lambda v=value: sock.setsockopt(level, option, v)) for value in (
                        b"", b"\1", b"\1\0\0\0", socket.inet_aton("224.0.0.99") + bytes(8), bytes(20), struct.pack("i", 7))]
                    seen.append(outcome(lambda: sock.getsockopt(level, option)))
                    seen.append(outcome(lambda: sock.getsockopt(level, option, 8)))
    return seen


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    for func in checks:
        pid = os.fork()
        if pid == 0:  # a hang or a stray descriptor of one look is not the next one's
            signal.alarm(40)
            try:
                result = func()
            except BaseException as err:  # pylint: disable=broad-except
                result = f"{type(err).__name__} {err}"
            print(f"{func.__name__}: {result}", flush=True)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status:
            print(f"{func.__name__}: ended by status {status}", flush=True)
    print("done")


main()
