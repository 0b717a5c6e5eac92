#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""take_supervise.py - the monitor's children die, its sockets are abused, the container ends

  - a killed worker is replaced and the stack answers again; the sixth death in ten seconds gives
    the namespace back and ends sluiced with a failure
  - a worker that does not stop is ended, and the namespace given back all the same
  - a carried link goes down and up, another one's end is deleted by the host
  - the control socket answers its words, and survives what is none
  - the listener closes what is no container, and counts it
  - a container handed over by a runtime (here by this script) starts agent and worker; a killed
    agent is replaced while it lives; when it ends, all is given back and sluiced ends well

Environment: see takelib.py. Exit 77: cannot be run here.
"""
import array
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time

from takelib import (NS, PEER, STATE, answers, ask, carrier_wait, children, end, expect_same, fail,
                     lab_open, sluiced, take, until, view)

LISTENER = STATE / "seccomp.sock"


def ok(text):
    print(f"ok: {text}", flush=True)


def worker_pid():
    state = ask("state")
    return state["worker"]["pid"] if state and state["worker"]["ready"] else None


def stack_answers(what):
    until(5, f"an answer to ARP, {what}", lambda: "arp" in answers(0.3))
    ok(f"the stack answers, {what}")


def worker_dies(before):
    child = take("--take=move")
    stack_answers("at first")
    first = worker_pid()
    os.kill(first, signal.SIGKILL)
    until(5, "a new worker", lambda: worker_pid() not in (None, first))
    stack_answers("after its worker was killed")
    if ask("state")["worker"]["starts"] != 2:
        fail("the state does not count the worker's starts")
    last = first
    for _ in range(5):
        until(5, "a new worker", lambda last=last: child.poll() is not None or
              worker_pid() not in (None, last))
        if child.poll() is not None:
            break
        last = worker_pid()
        os.kill(last, signal.SIGKILL)
    end(child, 1, "six dead workers")
    carrier_wait()
    expect_same(before, "six dead workers")


def worker_hangs(before):
    child = take("--take=move")
    os.kill(worker_pid(), signal.SIGSTOP)
    began = time.monotonic()
    child.send_signal(signal.SIGTERM)
    end(child, 0, "a worker that hangs")
    if time.monotonic() - began > 5:
        fail("a worker that hangs delayed the end for more than 5 s")
    carrier_wait()
    expect_same(before, "a worker that hangs")


def link_goes(before):
    """Down and up behind the daemon's back, with a new worker in between; then its end is deleted."""
    child = take("--take=move")
    keep = f"--net={STATE}/t/netns"
    subprocess.run(["nsenter", keep, "ip", "link", "set", "eth0", "down"], check=True)
    until(5, "silence of a link that is down", lambda: not answers(0.3))
    first = worker_pid()
    os.kill(first, signal.SIGKILL)
    until(5, "a new worker", lambda: worker_pid() not in (None, first))
    subprocess.run(["nsenter", keep, "ip", "link", "set", "eth0", "up"], check=True)
    stack_answers("after its link went down and up")
    subprocess.run(["ip", "-n", PEER, "link", "del", "peth1"], check=True)  # and so eth1
    until(5, "the end of the decoy of a link that was deleted",
          lambda: "eth1" not in {x["ifname"] for x in view()["link"]})
    until(5, "the stack without it", lambda: "eth1" not in {x["name"] for x in ask("state")["links"]})
    child.send_signal(signal.SIGTERM)
    end(child, 0, "a link that was deleted")
    carrier_wait()
    links = {x["ifname"] for x in view()["link"]}
    if "eth1" in links:
        fail("a link that was deleted is back, or its decoy is")
    without = {key: [x for x in rows if "eth1" not in json.dumps(x)] if isinstance(rows, list) else
               "\n".join(x for x in rows.split("\n") if "/eth1/" not in x)
               for key, rows in before.items()}
    expect_same(without, "a link went down and up, another was deleted")


def control_socket(before):
    child = take("--take=move")
    state = ask("state")
    if [x["how"] for x in state["links"]] != ["leave", "move", "move"]:
        fail(f"unexpected links in {state}")
    if "worker" not in ask("stats") or "ARP_REPLIES" not in ask("stats")["worker"]:
        fail("stats has no counters of the worker")
    if not any(line.startswith("eth0 ") for line in ask("links")["worker"]):
        fail("links has no line about eth0")
    if "worker" not in ask("sockets"):
        fail("sockets has no part of the worker")
    for word in ("", "nonsense", "state more", "\0", "x" * 100):
        if "error" not in ask(word):
            fail(f"the word {word!r} was answered")
    with socket.socket(socket.AF_UNIX) as s:  # a line without end
        s.connect(str(STATE / "t" / "ctl.sock"))
        s.settimeout(5)
        s.sendall(b"y" * 4096)
        try:
            if s.recv(1):
                fail("a line without end was answered")
        except ConnectionResetError:
            pass
    with socket.socket(socket.AF_UNIX) as s:  # several requests in one piece
        s.connect(str(STATE / "t" / "ctl.sock"))
        s.settimeout(5)
        s.sendall(b"state\nstats\nstate\n")
        lines = s.makefile()
        if not all(json.loads(lines.readline()) for _ in range(3)):
            fail("three requests in one piece were not answered")
    idle = [socket.socket(socket.AF_UNIX) for _ in range(20)]  # more than there are slots
    for s in idle:
        s.connect(str(STATE / "t" / "ctl.sock"))
    for s in idle:
        s.close()
    until(2, "a free slot", lambda: ask("state") is not None)
    child.send_signal(signal.SIGTERM)
    end(child, 0, "control socket")
    carrier_wait()
    expect_same(before, "control socket")


# ---- a runtime ----

def hand_over(text, fds):
    """What runc does: one message with the state and the descriptors, then the end."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(str(LISTENER))
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))
        s.sendmsg([text], [rights] if fds else [])
        s.shutdown(socket.SHUT_WR)
        s.settimeout(10)
        try:
            s.recv(1)  # the monitor closes when it is done with us
        except ConnectionResetError:
            pass


def state_json(pid):
    return json.dumps({"ociVersion": "1.0.2", "fds": ["seccompFd"], "pid": pid, "metadata": "",
                       "state": {"ociVersion": "1.0.2", "id": "web", "status": "creating",
                                 "pid": pid, "bundle": "/"}}).encode()


CONTAINER = r"""
import array, ctypes, json, os, signal, socket, struct, sys
listener, out = sys.argv[1], sys.argv[2]
runtime = socket.socket(socket.AF_UNIX)
if listener != "-":
    runtime.connect(listener)
libc = ctypes.CDLL(None, use_errno=True)
# if (nr == socket || nr == connect) return USER_NOTIF; return ALLOW;
code = struct.pack("HBBI" * 5, 0x20, 0, 0, 0, 0x15, 1, 0, 41, 0x15, 0, 1, 42, 6, 0, 0, 0x7fc00000,
                   6, 0, 0, 0x7fff0000)
buf = ctypes.create_string_buffer(code)
prog = struct.pack("HxxxxxxP", 5, ctypes.addressof(buf))
fd = libc.syscall(317, 1, 8, prog)  # seccomp(SECCOMP_SET_MODE_FILTER, NEW_LISTENER)
if fd < 0:
    sys.exit(f"seccomp: {os.strerror(ctypes.get_errno())}")
pid = int(os.readlink("/proc/self"))  # /proc is the host's
state = {"ociVersion": "1.0.2", "fds": ["seccompFd"], "pid": pid, "metadata": "", "state":
         {"ociVersion": "1.0.2", "id": "web", "status": "creating", "pid": pid, "bundle": "/"}}
if listener != "-":
    runtime.sendmsg([json.dumps(state).encode()],
                    [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
    os.close(fd)
runtime.close()

def say(text):
    with open(out + ".new", "w") as f:
        f.write(text)
    os.rename(out + ".new", out)

def trapped(*_):
    try:
        s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        s.connect(("10.9.0.1", 9))  # nobody listens there: the peer's kernel refuses
        say("connected")
    except OSError as e:
        say(f"{e.errno}")

signal.signal(signal.SIGUSR1, trapped)
say(f"pid {pid}")
while True:
    signal.pause()
"""
OUT = STATE / "container.out"


def container_start(listener=LISTENER):
    """
    A first process of a pid namespace in the lab's network namespace, which hands itself over as a
    runtime would. Returns who started it, and its pid.
    """
    OUT.unlink(missing_ok=True)
    outer = subprocess.Popen(["ip", "netns", "exec", NS, "unshare", "--pid", "--fork",
                              "--kill-child", sys.executable, "-c", CONTAINER, listener, OUT])
    children.append(outer)
    until(10, "the container", lambda: outer.poll() is not None or OUT.exists())
    if outer.poll() is not None:
        fail("the container did not start")
    return outer, int(OUT.read_text().split()[1])


def trapped_connect_is_refused(pid, what):
    """The container calls socket() and connect(): the agent answers, the stack asks the peer."""
    OUT.unlink(missing_ok=True)
    os.kill(pid, signal.SIGUSR1)
    until(10, f"the container's connect(), {what}", OUT.exists)
    if OUT.read_text() != str(errno.ECONNREFUSED):
        fail(f"{what}: connect() ended with errno {OUT.read_text()} instead of ECONNREFUSED")
    ok(f"socket() and connect() of the container are answered, {what}")


def listener_garbage():
    fd = os.open("/dev/null", os.O_RDWR)
    hand_over(state_json(os.getpid()), [fd])
    if ask("state")["taken"]:
        fail("something that is no notify descriptor was taken for one")
    for text, fds in ((b"GET / HTTP/1.1\r\n\r\n", []), (b"{", []), (b"{}", [fd]), (b"", []),
                      (state_json(os.getpid()), []), (state_json(os.getpid()), [fd, fd]),
                      (state_json(os.getpid()), [fd] * 20), (state_json(-1), [fd]),
                      (b"[" * 5000, []), (b" " * 65536, [])):
        hand_over(text, fds)
    with socket.socket(socket.AF_UNIX) as s:  # longer than 1 MiB
        s.connect(str(LISTENER))
        try:
            s.sendall(b'{"x":"' + b"y" * (2 << 20))
            fail("more than 1 MiB of state was read")
        except (BrokenPipeError, ConnectionResetError):
            pass
    os.close(fd)
    refused = ask("state")["refused_connections"]
    if refused != 11:
        fail(f"{refused} refused connections were counted instead of 11")
    ok("the listener closes and counts what is no container")
    pid = os.fork()
    if pid == 0:
        os.setgid(65534)
        os.setuid(65534)
        try:
            socket.socket(socket.AF_UNIX).connect(str(LISTENER))
        except PermissionError:
            os._exit(0)
        os._exit(1)
    if os.waitpid(pid, 0)[1] != 0:
        fail("another user may connect to the listener")
    ok("only root may connect to the listener")


def agent_pid():
    state = ask("state")
    return state["agent"]["pid"] if state and state["agent"]["ready"] else None


def container_lives_and_ends(before, *flags):
    """@flags: how the namespace is named beside the listener, if at all."""
    what = flags[0].split("=")[0] if flags else "listener alone"
    child = sluiced(f"--seccomp-listener={LISTENER}", *flags)
    until(10, "the listener", lambda: child.poll() is not None or LISTENER.exists())
    if not flags:
        until(5, "the control socket", lambda: ask("state") is not None)
        if ask("state")["taken"]:
            fail("something was taken before there was a container")
        listener_garbage()
    outer, pid = container_start()
    until(10, "agent and worker", lambda: agent_pid() and worker_pid())
    if os.stat(f"/proc/{agent_pid()}/ns/pid").st_ino != os.stat(f"/proc/{pid}/ns/pid").st_ino:
        fail("the agent is not in the container's pid namespace")
    stack_answers(f"{what}, with a container")
    trapped_connect_is_refused(pid, f"{what}, with a container")

    first = agent_pid()
    os.kill(first, signal.SIGKILL)
    until(10, "a new agent", lambda: agent_pid() not in (None, first) and worker_pid())
    stack_answers(f"{what}, after its agent was killed")
    trapped_connect_is_refused(pid, f"{what}, after its agent was killed")
    first = worker_pid()
    os.kill(first, signal.SIGKILL)
    until(10, "a new worker", lambda: worker_pid() not in (None, first) and agent_pid())
    stack_answers(f"{what}, after its worker was killed")
    trapped_connect_is_refused(pid, f"{what}, after its worker was killed")

    outer.kill()
    outer.wait()
    if flags and flags[0].startswith("--netns"):
        until(10, "the agent to end with its container", lambda: not ask("state")["agent"]["pid"])
        until(10, "the worker for the next container", worker_pid)
        outer, pid = container_start()
        until(10, "the next agent", agent_pid)
        stack_answers(f"{what}, with the next container")
        trapped_connect_is_refused(pid, f"{what}, with the next container")
        outer.kill()
        outer.wait()
        child.send_signal(signal.SIGTERM)
    end(child, 0, f"{what}, container ended")
    if LISTENER.exists():
        fail("the listener's socket is still there")
    carrier_wait()
    expect_same(before, f"{what}, container ended")


def pid_alone(before):
    outer, pid = container_start("-")
    child = sluiced(f"--pid={pid}")
    until(10, "agent and worker",
          lambda: child.poll() is not None or (agent_pid() and worker_pid()))
    stack_answers("--pid")
    outer.kill()
    outer.wait()
    end(child, 0, "--pid, container ended")
    carrier_wait()
    expect_same(before, "--pid, container ended")


def other_netns(before):
    """A container of another namespace than the one that was taken gets nothing."""
    child = take(f"--seccomp-listener={LISTENER}")
    outer = subprocess.Popen(["ip", "netns", "exec", PEER, sys.executable, "-c", CONTAINER,
                              LISTENER, OUT], stderr=subprocess.DEVNULL)
    children.append(outer)
    OUT.unlink(missing_ok=True)
    until(10, "the container of the other namespace", OUT.exists)
    time.sleep(0.2)  # nothing is to happen
    if ask("state")["sessions"] or agent_pid():
        fail("a container of another network namespace was admitted")
    child.send_signal(signal.SIGTERM)
    end(child, 0, "other namespace")
    carrier_wait()
    expect_same(before, "a container of another namespace is refused")


def main():
    lab_open()
    before = view()
    worker_dies(before)
    worker_hangs(before)
    control_socket(before)
    container_lives_and_ends(before)
    container_lives_and_ends(before, f"--netns=/run/netns/{NS}")
    pid_alone(before)
    other_netns(before)
    link_goes(before)  # leaves one link less
    print("take_supervise.py: all passed")


if __name__ == "__main__":
    main()
