# SPDX-License-Identifier: Apache-2.0
"""looks - what programs share that look at their sockets and print a line a look

A script runs such a program twice, over the kernel and over sluice, and holds the lines together: they must be
the same.
"""
import errno
import select
import time

PATIENCE = 5.0  # seconds until something expected counts as missing
QUIET = 0.15  # seconds of nothing that count as nothing
POLLRDHUP = 0x2000
MSG_ERRQUEUE = 0x2000
WORDS = {1: "IN", 2: "PRI", 4: "OUT", 8: "ERR", 16: "HUP", POLLRDHUP: "RDHUP"}
CHECKS = []


def check(func):
    CHECKS.append(func)
    return func


def name_of(number):
    return errno.errorcode.get(number, str(number))


def outcome(func, *args):
    try:
        return func(*args)
    except OSError as err:
        return name_of(err.errno) if err.errno else "timed out"


def readable(sock, seconds=PATIENCE):
    return bool(select.select([sock], [], [], seconds)[0])


def mask(sock, want=0):
    """The poll mask, as words; waits until every bit of want is there."""
    poll = select.poll()
    poll.register(sock, select.POLLIN | select.POLLPRI | select.POLLOUT | POLLRDHUP)
    end = time.monotonic() + (PATIENCE if want else QUIET)
    bits = 0
    while time.monotonic() < end:
        bits = dict(poll.poll(0)).get(sock.fileno(), 0)
        if want and bits & want == want:
            break
        time.sleep(0.005)
    return " ".join(word for bit, word in WORDS.items() if bits & bit) or "nothing"


def until(func):
    """The first value of func() that counts, or its last."""
    end = time.monotonic() + PATIENCE
    while not (value := func()) and time.monotonic() < end:
        time.sleep(0.005)
    return value


def run(only):
    """All looks, or those named."""
    for func in CHECKS:
        if only and func.__name__ not in only:
            continue
        try:
            seen = func()
        except BaseException as err:  # the line is the verdict
            seen = f"{type(err).__name__}: {err}"
        print(f"{func.__name__}: {seen}", flush=True)
    print("done", flush=True)
