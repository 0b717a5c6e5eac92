#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""take_restore.py - sluiced takes a namespace and gives it back exactly as it was

A namespace of the test's own with a veth, many addresses, routes of every sort, rules and permanent
neighbours is taken by --take=move and --take=strip. Before and after, `ip -d -j` is read for links,
addresses, routes of all tables, rules and neighbours, and must be equal:

  - after SIGTERM
  - after each step of taking failed in turn
  - after SIGKILL at each step of taking, and `sluiced --restore`
  - after each step of giving back failed in turn, and `sluiced --restore`

While it is taken and the worker is put to sleep (SIGSTOP), the peer sends ARP, ICMP echo, TCP SYN
and a neighbour solicitation by AF_PACKET: nothing may answer. The decoy must look like the link.

Not compared, since the kernel has no way to keep it: the carrier's counter of a veth that was moved
(ip shows it with -s only), neighbours that were learned.

Environment: TAKE_ROUTES, TAKE_NEIGHS, how many for the case with full tables; see takelib.py.
"""
import json
import os
import signal
import time

from takelib import (NS, answers, ask, carrier_wait, difference, end, end_text, expect_same, fail,
                     ip_batch, lab_open, restore, sluiced, take, view)

ROUTES = int(os.environ.get("TAKE_ROUTES", "5000"))
NEIGHS = int(os.environ.get("TAKE_NEIGHS", "500"))

MOVE_STEPS = ("journal netns open move quiet up bind decoy sysctls addrs routes neighs "
              "finish").split()
STRIP_STEPS = "journal open strip quiet".split()
BACK_STEPS = "undecoy return re-sysctls re-addrs re-routes re-neighs re-finish forget".split()


def lab_fill():
    """5000 routes and 500 neighbours: dumps that do not fit one buffer."""
    ip_batch([f"route add 10.{100 + i // 250}.{i % 250}.0/24 via 10.9.0.1" for i in range(ROUTES)])
    ip_batch([f"neigh add 10.9.{1 + i // 250}.{i % 250} dev eth0 nud permanent"
              f" lladdr 02:00:00:01:{i // 250:02x}:{i % 250:02x}" for i in range(NEIGHS)])


def wire_is_silent(what):
    got = answers(1.0)
    if got:
        fail(f"{what}: the kernel still answers on the wire: {' '.join(sorted(got))}")
    print(f"ok: {what}: no answer to ARP, ICMP, TCP and neighbour solicitation", flush=True)


def with_stack_asleep(look):
    """The worker sleeps: whatever is answered now, the kernel answers."""
    worker = ask("state")["worker"]["pid"]
    os.kill(worker, signal.SIGSTOP)
    try:
        look()
    finally:
        os.kill(worker, signal.SIGCONT)


# ---- the cases ----

def decoy_looks_right(before):
    """What programs ask netlink for must be what it was; only the veth's other end differs."""
    now = view()
    for key in before:
        if key in ("link", "addr"):
            for rows in (before[key], now[key]):
                for row in rows:
                    for gone in ("link_index", "link_netnsid", "gro_max_size", "ifalias"):
                        row.pop(gone, None)
    lines = difference(before, now)
    if lines:
        fail("the decoy differs from the link:\n" + "\n".join(lines[:20]))
    print("ok: the decoy looks like the link", flush=True)


def cases(before):
    if "arp" not in answers(1.0):
        fail("the kernel does not answer ARP before anything was taken: the probe is blind")
    for how in ("move", "strip"):
        child = take(f"--take={how}")
        if how == "move":
            carrier_wait()
            decoy_looks_right(json.loads(json.dumps(before)))
        child.send_signal(signal.SIGTERM)
        end(child, 0, f"{how}, SIGTERM")
        expect_same(before, f"{how}, SIGTERM")

        child = take(f"--take={how}")
        with_stack_asleep(lambda: wire_is_silent(f"{how}, the stack asleep"))
        child.kill()
        child.wait()
        restore(f"{how}, SIGKILL")
        expect_same(before, f"{how}, SIGKILL and --restore")

        child = take(f"--take={how}")
        child.kill()
        child.wait()
        child = take(f"--take={how}")  # a successor gives back first, then takes
        child.send_signal(signal.SIGTERM)
        end(child, 0, f"{how}, SIGKILL, successor")
        expect_same(before, f"{how}, SIGKILL and a successor")

        for step in MOVE_STEPS if how == "move" else STRIP_STEPS:
            end(sluiced(f"--netns=/run/netns/{NS}", f"--take={how}", f"--fail-at={step}"), 1,
                f"{how}, {step} fails")
            expect_same(before, f"{how}, {step} fails")
            end(sluiced(f"--netns=/run/netns/{NS}", f"--take={how}", f"--fail-at=kill-{step}"),
                -signal.SIGKILL, f"{how}, killed at {step}")
            restore(f"{how}, killed at {step}")
            expect_same(before, f"{how}, killed at {step} and --restore")


def cases_back(before):
    for step in BACK_STEPS:
        child = take("--take=move")
        child.kill()
        child.wait()
        end(sluiced("--restore", f"--fail-at={step}"), 1, f"giving back, {step} fails")
        restore(f"giving back, {step} fails")
        expect_same(before, f"giving back, {step} fails, and again")


def full_tables():
    lab_fill()
    carrier_wait()
    before = view()
    for how in ("move", "strip"):
        began = time.monotonic()
        child = take(f"--take={how}")
        state = ask("state")
        took = time.monotonic() - began
        if state["routes"] < ROUTES:
            fail(f"only {state['routes']} of {ROUTES} routes were read")
        child.send_signal(signal.SIGTERM)
        end(child, 0, f"{how}, full tables")
        expect_same(before, f"{how}, {ROUTES} routes and {NEIGHS} neighbours, taken in "
                            f"{took:.2f} s")


def refusals():
    child = sluiced("--netns=/proc/self/ns/net")
    end_text(child, "the host's own")
    child = sluiced("--netns=/etc/hostname")
    end_text(child, "network namespace")
    first = take("--take=move")
    end_text(sluiced(f"--netns=/run/netns/{NS}"), "already run by another sluiced")
    end_text(sluiced("--restore"), "already run by another sluiced")
    first.send_signal(signal.SIGTERM)
    end(first, 0, "first of two")


def main():
    lab_open()
    before = view()
    cases(before)
    cases_back(before)
    refusals()
    full_tables()
    print("take_restore.py: all passed")


if __name__ == "__main__":
    main()
