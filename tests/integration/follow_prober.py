# SPDX-License-Identifier: Apache-2.0
"""What a program sees of the network while it is changed: runs in the container of follow.sh.

Listens on port 80 of both families, connects to a peer without pause, and prints a line when the outcome is
another one: "ok MSS" or the name of the error.
"""
import errno
import socket
import sys
import threading
import time


def serve():
    server = socket.create_server(("::", 80), family=socket.AF_INET6, dualstack_ipv6=True)
    while True:
        conn, _ = server.accept()
        conn.close()


def outcome(host, port):
    with socket.socket() as s:
        s.settimeout(0.2)
        try:
            s.connect((host, port))
            return "ok %d" % s.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
        except socket.timeout:
            return "silence"
        except OSError as e:
            return errno.errorcode.get(e.errno, str(e))


threading.Thread(target=serve, daemon=True).start()
last = None
while True:
    now = outcome(sys.argv[1], int(sys.argv[2]))
    if now != last:
        print(now, flush=True)
        last = now
    time.sleep(0.02)
