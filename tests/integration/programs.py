#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""programs WHAT - what programs.sh asks of python3: descriptors passed on, connections between processes"""
import multiprocessing
import multiprocessing.connection
import os
import socket
import sys


def pass_listener():
    """A listener goes to another process by SCM_RIGHTS and accepts there, after its maker has closed it."""
    here, there = socket.socketpair(socket.AF_UNIX)
    listener = socket.create_server(("127.0.0.1", 0))
    if os.fork() == 0:
        fds = socket.recv_fds(there, 10, 2)[1]
        conn = socket.socket(fileno=fds[0]).accept()[0]
        conn.sendall(b"child" + conn.recv(3))
        os._exit(0)
    socket.send_fds(here, [b"x"], [listener.fileno()])
    address = listener.getsockname()
    listener.close()
    with socket.create_connection(address, 10) as client:
        client.sendall(b"abc")
        assert client.recv(20) == b"childabc"


def child(address):
    conn = multiprocessing.connection.Client(address, authkey=b"k")
    conn.send(list(range(10000)))
    assert conn.recv() == "ok"


def processes():
    listener = multiprocessing.connection.Listener(("127.0.0.1", 0), authkey=b"k")
    children = [multiprocessing.Process(target=child, args=(listener.address,)) for _ in range(4)]
    for process in children:
        process.start()
    for _ in children:
        conn = listener.accept()
        assert conn.recv() == list(range(10000))
        conn.send("ok")
    for process in children:
        process.join(10)
        assert process.exitcode == 0


{"pass": pass_listener, "processes": processes}[sys.argv[1]]()
