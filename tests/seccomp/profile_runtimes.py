#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""profile_runtimes.py - the profile of `sluicectl profile` under runc and crun, call by call

usage: profile_runtimes.py SLUICECTL runc|crun

A container with the host's root file system, read-only, and that profile makes calls; a stand-in for
the agent answers each trapped one with errno 123, which nothing else gives. What the container printed
is compared with what test_container.c expects of the same rules in a bare process: so the runtime has
kept every number, mask and errno of the JSON, 0 included. Exit 77: not root, or no such runtime.
"""
import array
import ctypes
import errno
import fcntl
import json
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading

NOTIF_RECV, NOTIF_SEND = 0xC0502100, 0xC0182101
TRAPPED = 123  # ENOMEDIUM, the stand-in's answer

SOCKET, SENDTO, BIND, SOCKETPAIR, SETSOCKOPT, BPF, URING = 41, 44, 49, 53, 54, 321, 425
BIT32 = 1 << 32
ANY_FD = -1

# call, arguments, result: 0 or positive for success, else the errno
CASES = [
    ((SOCKET, 2, 1, 0), TRAPPED),
    ((SOCKET, 10, 1, 0), TRAPPED),
    ((SOCKET, 2 | BIT32, 1, 0), TRAPPED),
    ((SOCKET, 1, 1, 0), None),
    ((SOCKET, 16, 3, 0), None),
    ((SOCKET, 17, 3, 0), errno.EAFNOSUPPORT),
    ((SOCKET, 17 | BIT32, 3, 0), errno.EAFNOSUPPORT),
    ((SOCKET, 38, 5, 0), errno.EAFNOSUPPORT),
    ((SOCKET, 40, 1, 0), errno.EAFNOSUPPORT),
    ((SOCKET, 1000, 1, 0), errno.EAFNOSUPPORT),
    ((SOCKETPAIR, 30, 1, 0, 0), errno.EAFNOSUPPORT),
    ((SOCKETPAIR, 2, 1, 0, 0), errno.EOPNOTSUPP),
    ((SETSOCKOPT, ANY_FD, 6, 3, 0, 0), None),
    ((SETSOCKOPT, ANY_FD, 6, 12, 0, 0), None),
    ((SETSOCKOPT, ANY_FD, 6, 3 | BIT32, 0, 0), TRAPPED),
    ((SETSOCKOPT, ANY_FD, 6 | BIT32, 3, 0, 0), TRAPPED),
    *[((SETSOCKOPT, ANY_FD, 6, opt, 0, 0), TRAPPED) for opt in (0, 1, 2, 4, 5, 7, 8, 11, 13, 100)],
    ((SETSOCKOPT, ANY_FD, 1, 3, 0, 0), TRAPPED),
    ((SENDTO, ANY_FD, 0, 0, 0, 0, 0), errno.EBADF),
    ((SENDTO, ANY_FD, 0, 0, 0, 8, 0), TRAPPED),
    ((BIND, ANY_FD, 0, 0), TRAPPED),
    ((BPF, 0, 0, 0), errno.EPERM),
    ((URING, 8, 0, 0), errno.ENOSYS),
]


def inside():
    """In the container: make each call, print the errno or -1 for success."""
    libc = ctypes.CDLL(None, use_errno=True)
    for call, _ in CASES:
        ctypes.set_errno(0)
        r = libc.syscall(*[ctypes.c_long(a) for a in call])
        print(-1 if r >= 0 else ctypes.get_errno())


def answer(notify_fd):
    """Answer trapped calls with TRAPPED until the last task of the container is gone."""
    poll = select.poll()
    poll.register(notify_fd, select.POLLIN)
    while poll.poll()[0][1] & select.POLLIN:
        req = bytearray(80)
        try:
            fcntl.ioctl(notify_fd, NOTIF_RECV, req)
            notif_id = struct.unpack_from("Q", req)[0]
            fcntl.ioctl(notify_fd, NOTIF_SEND, bytearray(struct.pack("QqiI", notif_id, 0, -TRAPPED, 0)))
        except OSError as e:
            if e.errno not in (errno.ENOENT, errno.EINTR):
                raise


def serve(listener):
    """Take notify descriptors from the runtime, as sluiced does."""
    while True:
        conn, _ = listener.accept()
        with conn:
            _, control, _, _ = conn.recvmsg(1 << 16, socket.CMSG_SPACE(64))
        for _, _, data in control:
            fds = array.array("i")
            fds.frombytes(data)
            for fd in fds:
                threading.Thread(target=answer, args=(fd,), daemon=True).start()


def config(profile, root):
    """The smallest config.json that both runtimes take."""
    return {
        "ociVersion": "1.0.2",
        "root": {"path": root, "readonly": True},
        "process": {
            "cwd": "/",
            "args": [sys.executable, os.path.abspath(__file__), "--inside"],
            "env": ["PATH=/usr/bin:/bin"],
            "rlimits": [{"type": "RLIMIT_NOFILE", "hard": 1024, "soft": 1024}],
            "noNewPrivileges": True,
            "capabilities": {k: [] for k in ("bounding", "effective", "permitted")},
            "user": {"uid": 0, "gid": 0},
        },
        "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}],
        "linux": {
            "namespaces": [{"type": t} for t in ("pid", "mount", "ipc", "uts", "network")],
            "seccomp": profile,
        },
    }


def run(sluicectl, runtime, work):
    """Start the container; return what it printed."""
    path = os.path.join(work, "l.sock")
    profile = subprocess.run([sluicectl, "profile", "--listener=" + path], check=True, capture_output=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    root = os.path.join(work, "root")
    os.mkdir(root)
    with open(os.path.join(work, "config.json"), "w", encoding="utf-8") as f:
        json.dump(config(json.loads(profile.stdout), root), f)
    # The bind mount and, for crun, the cgroup layout live in a mount namespace that ends with the run.
    script = """set -e
mount --bind / "$1"
test "$2" != crun || ! mountpoint -q /sys/fs/cgroup/unified || umount /sys/fs/cgroup/unified
exec timeout -k 5 60 "$2" run -b "$3" "sl-profile-$$"
"""
    out = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", root, runtime, work],
                         stdout=subprocess.PIPE, text=True, timeout=90, check=False)
    if out.returncode:
        sys.exit(f"{runtime} ended with {out.returncode}: {out.stdout}")
    return [int(line) for line in out.stdout.split()]


def main():
    if sys.argv[1:] == ["--inside"]:
        inside()
        return 0
    sluicectl, runtime = sys.argv[1:]
    if os.geteuid() != 0 or not shutil.which(runtime) or os.uname().machine != "x86_64":
        print("needs root, x86_64 and", runtime)
        return 77
    with tempfile.TemporaryDirectory(prefix="sl-profile-") as work:
        got = run(sluicectl, runtime, work)
    wrong = 0
    assert len(got) == len(CASES), f"{len(got)} lines for {len(CASES)} calls"
    for (call, want), result in zip(CASES, got):
        if result != (-1 if want is None else want):
            wrong += 1
            print(f"{runtime}: call {call} gave {result}, should be {want}")
    print(f"{runtime}: {len(CASES)} calls, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
