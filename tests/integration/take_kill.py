#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""take_kill.py - monitor, worker and agent die at any moment, by SIGKILL, SIGSEGV and SIGABRT

Each round starts sluiced with or without a container, and sends one of the three signals to one of its processes
after a time of its own, drawn from a fixed seed: in the midst of taking, while the stack runs, in the midst of
giving back. Then nothing of sluiced may be left running without its monitor, a next sluiced or --restore must make
the namespace exactly what it was, and leave neither journal, mount nor process.

Environment: TAKE_KILLS, how many rounds (8; SLUICE_SOAK=1: 120); see takelib.py. Exit 77: cannot be run here.
"""
import os
import pathlib
import random
import signal
import time

from takelib import NS, ask, carrier_wait, end, expect_same, fail, lab_open, restore, sluiced, take, until, view
from take_supervise import LISTENER, container_start

ROUNDS = int(os.environ.get("TAKE_KILLS") or ("120" if os.environ.get("SLUICE_SOAK") else "8"))
SIGNALS = (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT)
LONGEST = 0.25  # seconds: about what taking, running and giving back need on a busy machine


def pids_of(child):
    """The monitor's children as the kernel has them, by role."""
    found = {"monitor": child.pid}
    try:
        kids = pathlib.Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
        for pid in kids:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            for role in ("worker", "agent"):
                if f"--role={role}".encode() in words:
                    found[role] = int(pid)
    except OSError:
        pass
    return found


def is_gone(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def aim(child, role, sig, number):
    """Who was hit, and all that were there: the monitor when the one that was meant is not there."""
    pids = pids_of(child)
    try:
        os.kill(pids.get(role, child.pid), sig)
    except ProcessLookupError:
        pass
    return role if role in pids else "monitor", pids


def one(dice, number, before):
    sig, role = dice.choice(SIGNALS), dice.choice(("monitor", "monitor", "worker", "agent"))
    how, phase = dice.choice(("move", "strip")), dice.choice(("taking", "running", "giving back"))
    delay, has_container = dice.uniform(0, LONGEST), dice.random() < 0.5
    what = f"round {number}, {how}, {phase}, {sig.name} for the {role} after {delay * 1000:.0f} ms"
    outer = None
    child = sluiced(f"--netns=/run/netns/{NS}", f"--take={how}", f"--seccomp-listener={LISTENER}")
    if phase != "taking":
        until(20, f"{what}: the stack", lambda: (ask("state") or {"worker": {"ready": 0}})["worker"]["ready"])
        if has_container:
            outer, _ = container_start()
            until(10, f"{what}: the agent", lambda: ask("state")["agent"]["ready"])
    if phase == "giving back":
        child.send_signal(signal.SIGTERM)
    time.sleep(delay)
    hit, pids = aim(child, role, sig, number)
    if hit == "monitor" or phase == "giving back":
        try:
            child.wait(20)
        except Exception:  # pylint: disable=broad-except
            fail(f"{what}: the monitor does not end")
        for pid in pids.values():
            until(10, f"{what}: the end of process {pid}", lambda pid=pid: is_gone(pid))
        child.stderr.close()
        if dice.random() < 0.5:
            child = take(f"--take={how}")
        else:
            child = None
            restore(what)
    else:
        until(20, f"{what}: the stack again", lambda: child.poll() is not None or (ask("state") or {
            "worker": {"ready": 0}})["worker"]["ready"])
        if child.poll() is not None:
            fail(f"{what}: the monitor ended as well: {child.stderr.read()}")
    if child:
        child.send_signal(signal.SIGTERM)
        end(child, 0, what)
    if outer:
        outer.kill()
        outer.wait()
    carrier_wait()
    expect_same(before, what)


def main():
    lab_open()
    before = view()
    dice = random.Random(83)
    for number in range(ROUNDS):
        one(dice, number, before)
    print("take_kill.py: all passed")


if __name__ == "__main__":
    main()
