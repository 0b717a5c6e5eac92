#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""take_late.py - what is set on a link in the moment in which it is taken is not lost

sluiced is stopped (--fail-at=stop-STEP, SIGCONT) when it has looked at a link that came and is about to move it,
and again when its decoy stands and is about to be configured. An operator adds and removes addresses, routes and
neighbours there: afterwards decoy, stack and, at the end, the link have them, and not what was removed.

Environment: see takelib.py. Exit 77: cannot be run here.
"""
import pathlib
import signal

from takelib import NS, PEER, ask, carrier_wait, end, fail, ip, ip_batch, lab_open, run, sluiced, until


# The decoy is down before its addresses come: a route is nothing it could have.
WANTED = {"move": ("10.7.0.2/24", "fd00:7::2/64", "10.7.0.9", "10.70.0.0/16"),
          "addrs": ("10.7.0.2/24", "fd00:7::2/64", "10.7.0.9")}


def is_stopped(child):
    return pathlib.Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def resume(child):
    child.send_signal(signal.SIGCONT)
    until(5, "sluiced to go on", lambda: not is_stopped(child))


def start(step, times):
    """sluiced, which stops at @step of each of the links it takes at the start."""
    child = sluiced(f"--netns=/run/netns/{NS}", "--take=move", f"--fail-at=stop-{step}")
    for _ in range(times):
        until(10, f"the stop at {step}", lambda: is_stopped(child))
        resume(child)
    until(20, "the stack", lambda: (ask("state") or {"worker": {"ready": False}})["worker"]["ready"])
    return child


def has_late(step):
    shown = ip("addr") + ip("route") + ip("neigh", "show", "nud", "permanent")
    return all(x in shown for x in WANTED[step])


def one(step, times):
    child = start(step, times)
    ip("link", "add", "eth2", "type", "veth", "peer", "name", "peth2", "netns", PEER)
    ip_batch(["addr add 10.7.1.2/24 dev eth2", "link set eth2 up"])
    run("ip", "-n", PEER, "link", "set", "peth2", "up")
    until(10, f"the stop at {step}", lambda: is_stopped(child))
    ip_batch(["addr add 10.7.0.2/24 dev eth2", "addr add fd00:7::2/64 dev eth2 nodad",
              "neigh add 10.7.0.9 lladdr 02:00:00:00:07:09 nud permanent dev eth2"])
    if step == "move":
        ip_batch(["route add 10.70.0.0/16 via 10.7.0.1 dev eth2", "addr del 10.7.1.2/24 dev eth2"])
    resume(child)
    until(5, f"what was set late, at {step}, on the decoy", lambda: has_late(step))
    until(5, f"what was set late, at {step}, in the stack",
          lambda: all(any(x in line for line in ask("routes")["worker"])
                      for x in ("10.7.0.2", "fd00:7::2") + WANTED[step][3:]))
    if step == "move" and "10.7.1.2/" in ip("addr"):
        fail("an address that was removed late is there again")
    child.send_signal(signal.SIGTERM)
    end(child, 0, f"late, at {step}")
    carrier_wait()
    if not has_late(step):
        fail(f"what was set late, at {step}, was not given back")
    ip("link", "del", "eth2")
    print(f"ok: set at {step}", flush=True)


def main():
    lab_open()
    one("move", 2)   # once for each of eth0 and eth1
    one("addrs", 1)  # once for all decoys
    print("take_late.py: all passed")


if __name__ == "__main__":
    main()
