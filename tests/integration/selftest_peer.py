#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""selftest_peer - the kernel's side of selftest.py

7001 echoes until the end, then ends; 7002 resets after the first byte; 7003 sends a greeting and
watches how the connection ends; 7004 tells how the last one on 7003 did.
"""
import queue
import socket
import struct
import threading

verdicts = queue.Queue()


def echo(sock):
    while part := sock.recv(1 << 18):
        sock.sendall(part)


def resetter(sock):
    sock.recv(1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def witness(sock):
    sock.sendall(b"greetings")
    try:
        while sock.recv(1000):
            pass
        verdicts.put(b"end of stream")
    except OSError as err:
        verdicts.put(err.strerror.encode())


def verdict(sock):
    try:
        sock.sendall(verdicts.get(timeout=5))
    except queue.Empty:
        sock.sendall(b"still open")


def one(service, sock):
    with sock:
        service(sock)


def serve(port, service):
    door = socket.create_server(("", port), backlog=64)
    while True:
        sock, _ = door.accept()
        threading.Thread(target=one, args=(service, sock), daemon=True).start()


for number, func in enumerate((echo, resetter, witness, verdict), 7001):
    threading.Thread(target=serve, args=(number, func)).start()
