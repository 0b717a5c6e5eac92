# SPDX-License-Identifier: Apache-2.0
"""looks - what programs share that look at their sockets and print a line a look

A script runs such a program twice, over the kernel and over sluice, and holds the lines together: they must be
the same.
"""
import errno
import select

PATIENCE = 5.0
MSG_ERRQUEUE = 0x2000
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
