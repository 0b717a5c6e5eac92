#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dual_stack - in the container: a listener on :: that tells each connection its names; errnos

dual_stack.py PORT serves; dual_stack.py errors checks what bind() and connect() say.
"""
import errno
import socket
import sys

SIX = (socket.AF_INET6, socket.SOCK_STREAM)


def name(address):
    return f"{address[0].split('%')[0]} {address[3]}"


def serve(port):
    with socket.socket(*SIX) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind(("::", port))
        assert listener.getsockname()[:2] == ("::", port), listener.getsockname()
        listener.listen()
        while True:
            conn, peer = listener.accept()
            with conn:
                assert conn.getpeername() == peer, (conn.getpeername(), peer)
                conn.settimeout(5)
                if conn.recv(4096):
                    conn.sendall(f"{name(peer)} {name(conn.getsockname())}".encode())


def says(call, *args):
    """The errno's name, or "ok"."""
    try:
        call(*args)
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e))
    return "ok"


def six(v6only=0):
    s = socket.socket(*SIX)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, v6only)
    return s


def errors():
    scope = socket.if_nametoindex("eth0")
    link_local = "fe80::1234"
    want = [
        ("bind to another's address", says(six().bind, ("fd00:99::77", 0)), "EADDRNOTAVAIL"),
        ("bind to a group", says(six().bind, ("ff02::1", 0)), "EINVAL"),
        ("bind to link-local without a scope", says(six().bind, (link_local, 0)), "EINVAL"),
        ("bind to mapped, v6only", says(six(1).bind, ("::ffff:127.0.0.1", 0)), "EINVAL"),
        ("bind to mapped", says(six().bind, ("::ffff:127.0.0.1", 0)), "ok"),
        ("bind to ::1", says(six().bind, ("::1", 0)), "ok"),
        ("bind of both families to one port", says(both_ports), "ok"),
        ("bind of v4 beside dual", says(dual_and_four), "EADDRINUSE"),
        ("connect to mapped, v6only", says(six(1).connect, ("::ffff:127.0.0.1", 9)), "ENETUNREACH"),
        ("connect to a group", says(six().connect, ("ff02::1", 9)), "ENETUNREACH"),
        ("connect to link-local without a scope", says(six().connect, (link_local, 9)), "EINVAL"),
        ("connect to ::1 where nobody is", says(six().connect, ("::1", 9)), "ECONNREFUSED"),
        ("connect to ::", says(six().connect, ("::", 9)), "ECONNREFUSED"),
        ("listen without bind", says(unbound), "ok"),
        ("no scope of that number", says(six().connect, (link_local, 9, 0, scope + 1000)), "ENETUNREACH"),
    ]
    bad = [f"{what}: wanted {w}, got {got}" for what, got, w in want if got != w]
    print("\n".join(bad), file=sys.stderr)
    return 1 if bad else 0


def both_ports():
    with six(1) as a, socket.socket() as b:
        a.bind(("::", 8090))
        b.bind(("0.0.0.0", 8090))
        a.listen()
        b.listen()


def dual_and_four():
    with six() as a, socket.socket() as b:
        a.bind(("::", 8091))
        b.bind(("0.0.0.0", 8091))


def unbound():
    with six() as a, socket.socket() as v4, six() as v6:
        a.listen()
        port = a.getsockname()[1]
        v4.connect(("127.0.0.1", port))
        v6.connect(("::1", port))


if __name__ == "__main__":
    sys.exit(errors() if sys.argv[1] == "errors" else serve(int(sys.argv[1])))
