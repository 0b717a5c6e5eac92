# SPDX-License-Identifier: Apache-2.0
"""takelib.py - a namespace with the worst configuration that is allowed, sluiced, and comparing

For the tests that need no container: take_*.py. Environment: SLUICE_BUILD, the build folder
(default build/release). Exit 77: cannot be run here.
"""
import atexit
import errno
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SLUICE_BUILD", TOP / "build/release"))
SLUICED = BUILD / "sluiced"
NAME = pathlib.Path(sys.argv[0]).name
NS = f"sl-take-{os.getpid()}"
PEER = f"sl-takep-{os.getpid()}"
STATE = pathlib.Path(os.environ.get("TAKE_STATE") or tempfile.mkdtemp(prefix="sl-take-"))

children = []


def fail(text):
    print(f"{NAME}: FAILED: {text}", file=sys.stderr)
    sys.exit(1)


def skip(text):
    print(f"{NAME}: skipped: {text}", file=sys.stderr)
    sys.exit(77)


def run(*words, stdin=None):
    done = subprocess.run(words, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def ip(*words):
    return run("ip", "-n", NS, *words)


def ip_batch(lines, *flags):
    run("ip", "-n", NS, *flags, "-batch", "-", stdin="\n".join(lines) + "\n")


def cleanup():
    for child in children:
        if child.poll() is None:
            child.kill()
            child.wait()
    mounts = pathlib.Path("/proc/self/mounts").read_text()
    for line in mounts.splitlines():
        where = line.split()[1]
        if where.startswith(str(STATE)):
            subprocess.run(["umount", "-l", where], check=False)
    for ns in (NS, PEER):
        subprocess.run(["ip", "netns", "del", ns], capture_output=True, check=False)
    shutil.rmtree(STATE, ignore_errors=True)


def lab_make():
    """The namespace with the worst configuration that is still allowed."""
    for ns in (NS, PEER):
        run("ip", "netns", "add", ns)
        run("ip", "-n", ns, "link", "set", "lo", "up")
    for name in ("eth0", "eth1"):
        ip("link", "add", name, "type", "veth", "peer", "name", f"p{name}", "netns", PEER)
    ip_batch([
        "link set eth0 mtu 1400 txqueuelen 500",
        "link set eth0 address 02:00:00:00:00:02",
        "link set eth0 alias uplink",
        "link set eth0 up",
        "link set eth1 address 02:00:00:00:01:02",  # stays down
    ])
    run("ip", "-n", PEER, "link", "set", "peth0", "address", "02:00:00:00:00:01", "up")
    run("ip", "-n", PEER, "link", "set", "peth1", "up")
    run("ip", "-n", PEER, "addr", "add", "10.9.0.1/16", "dev", "peth0")
    run("ip", "netns", "exec", NS, "sh", "-c",
        "echo 1 > /proc/sys/net/ipv4/conf/eth0/arp_notify;"
        "echo 2 > /proc/sys/net/ipv4/conf/eth0/rp_filter;"
        "echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra;"
        "echo 77 > /proc/sys/net/ipv4/neigh/eth0/gc_stale_time")
    ip_batch([
        "addr add 10.9.0.2/16 brd + dev eth0",
        "addr add 10.9.0.3/16 dev eth0 label eth0:three",
        "addr add 192.0.2.9 peer 192.0.2.10/32 dev eth0",
        "addr add 10.9.4.4/24 dev eth0 noprefixroute scope link",
        "addr add fd00:9::2/64 dev eth0",
        "addr add fd00:9::3/64 dev eth0 nodad",
        "addr add fd00:9::4/128 dev eth0 noprefixroute",
        "addr add 10.8.0.2/24 dev eth1",
    ])
    until(5, "IPv6 addresses to be valid",
          lambda: "tentative" not in ip("-6", "addr", "show", "dev", "eth0"))
    ip_batch([
        "route add default via 10.9.0.1",
        "route add default via 10.9.0.7 metric 100",
        "route add default dev eth0 scope link metric 200",
        "route add 169.254.1.1 dev eth0 scope link",
        "route add 10.20.0.0/16 via 203.0.113.77 dev eth0 onlink mtu 1300 advmss 1200",
        "route add blackhole 10.99.0.0/16",
        "route add unreachable 10.98.0.0/16 metric 5",
        "route add prohibit 10.97.0.0/16",
        "route add local 198.51.100.0/24 dev eth0",
        "route add 10.30.0.0/16 nexthop via 10.9.0.1 weight 2 nexthop via 10.9.0.9 weight 3",
        "route add 10.31.0.0/16 via 10.9.0.1 tos 0x10",
        "route append 10.31.0.0/16 via 10.9.0.8 tos 0x10",
        "route add 10.32.0.0/16 via 10.9.0.1 src 10.9.0.3 proto static",
        "route add 10.40.0.0/16 via 10.9.0.1 table 77 src 10.9.0.3",
        "route add 10.41.0.0/16 via 169.254.1.1 dev eth0 table 1000",
        "route add 10.50.0.0/16 via inet6 fe80::1 dev eth0",
        "rule add from 10.9.0.3 lookup 77",
        "rule add fwmark 0x10/0xff lookup 1000 pref 500",
        "rule add not iif eth0 to 10.40.0.0/16 lookup 77",
    ])
    ip_batch([
        "route add default via fd00:9::1",
        "route add default via fd00:9::5 metric 100",
        "route add 2001:db8::/32 via fe80::1 dev eth0",
        "route add 2001:db8:1::/48 nexthop via fd00:9::1 nexthop via fd00:9::6",
        "route add blackhole 2001:db8:2::/48",
        "rule add from fd00:9::3 lookup 77",
    ], "-6")
    ip_batch([
        "nexthop add id 7 via 10.9.0.1 dev eth0",
        "nexthop add id 8 via 10.9.0.9 dev eth0",
        "nexthop add id 9 group 7/8",
        "route add 10.60.0.0/16 nhid 7",
        "route add 10.61.0.0/16 nhid 9",
        "neigh add 10.9.0.77 lladdr 02:00:00:00:00:77 dev eth0 nud permanent",
        "neigh add fd00:9::77 lladdr 02:00:00:00:00:78 dev eth0 nud permanent",
        "neigh add 10.9.0.78 lladdr 02:00:00:00:00:79 dev eth0 nud noarp",
        "neigh add proxy 10.9.0.200 dev eth0",
    ])


def until(seconds, what, test):
    end = time.monotonic() + seconds
    while not test():
        if time.monotonic() > end:
            fail(f"waited {seconds} s in vain for {what}")
        time.sleep(0.02)


def carrier_wait():
    until(5, "the carrier of eth0", lambda: "NO-CARRIER" not in ip("link", "show", "eth0"))


VIEWS = (("link",), ("addr",), ("-4", "route", "show", "table", "all"),
         ("-6", "route", "show", "table", "all"), ("rule",), ("-6", "rule"), ("nexthop",),
         ("neigh", "show", "nud", "permanent"), ("neigh", "show", "nud", "noarp"),
         ("neigh", "show", "proxy"))
SYSCTLS = ("ipv4/conf/eth0", "ipv6/conf/eth0", "ipv4/neigh/eth0", "ipv4/conf/eth1",
           "ipv6/conf/eth1")


def view():
    """Everything that must be the same afterwards."""
    seen = {" ".join(words): json.loads(ip("-d", "-j", *words) or "[]") for words in VIEWS}
    # Dynamic entries of multicast groups come and go with the kernel's own will.
    seen["neigh show nud noarp"] = [n for n in seen["neigh show nud noarp"]
                                    if not re.match(r"(ff|2[23]\d\.)", n["dst"])]
    for key in (k for k in seen if k.startswith("neigh")):  # a hash table's order means nothing
        seen[key].sort(key=lambda n: n["dst"])
    seen["sysctls"] = run("ip", "netns", "exec", NS, "sh", "-c", "cd /proc/sys/net && grep -s . " +
                          " ".join(f"{d}/*" for d in SYSCTLS) + " | grep -v stable_secret")
    return seen


def difference(before, after):
    lines = []
    for key, was in before.items():
        now = after[key]
        if was == now:
            continue
        if isinstance(was, str):
            was, now = was.splitlines(), now.splitlines()
        lines += [f"{key}: - {x}" for x in was if x not in now]
        lines += [f"{key}: + {x}" for x in now if x not in was]
        lines = lines or [f"{key}: the order differs"]
    return lines


def expect_same(before, what):
    """The carrier's state follows a moved veth within a second (linkwatch), so wait for that."""
    end = time.monotonic() + 4
    while True:
        lines = difference(before, view())
        if not lines:
            break
        if time.monotonic() > end:
            fail(f"{what}: the namespace is not as it was:\n" + "\n".join(lines[:20]))
        time.sleep(0.05)
    if (STATE / "t" / "journal.json").exists():
        fail(f"{what}: the journal is still there")
    if str(STATE) in pathlib.Path("/proc/self/mounts").read_text():
        fail(f"{what}: the daemon's namespace is still mounted")
    print(f"ok: {what}", flush=True)


def sluiced(*flags):
    child = subprocess.Popen([SLUICED, "--id=t", f"--state-dir={STATE}", "--config=/dev/null",
                              *flags], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    children.append(child)
    return child


def ask(word):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        s.settimeout(5)
        try:
            s.connect(str(STATE / "t" / "ctl.sock"))
        except OSError:
            return None
        s.sendall(word.encode() + b"\n")
        return json.loads(s.makefile().readline() or "null")


def is_up(flags):
    state = ask("state")
    return state is not None and state["taken"] and state["worker"]["ready"] and flags is not None


def take(*flags):
    child = sluiced(f"--netns=/run/netns/{NS}", *flags)
    until(20, "the stack to be up", lambda: child.poll() is not None or is_up(flags))
    if child.poll() is not None:
        fail(f"sluiced {' '.join(flags)} ended at once: {child.stderr.read()}")
    return child


def end(child, want, what):
    try:
        status = child.wait(30)
    except subprocess.TimeoutExpired:
        fail(f"{what}: sluiced does not end")
    if status != want:
        fail(f"{what}: exit status {status} instead of {want}: {child.stderr.read()}")
    child.stderr.close()


def end_text(child, want):
    status = child.wait(20)
    text = child.stderr.read()
    if status != 1 or want not in text:
        fail(f"wanted status 1 and '{want}', got {status}: {text}")
    print(f"ok: refused: {text.strip().splitlines()[-1]}", flush=True)


def restore(what):
    end(sluiced("--restore"), 0, what)


# ---- the wire, seen from the peer ----

def csum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def frames(dst_mac):
    """ARP, ICMP echo and TCP SYN to an address of the container, and a neighbour solicitation."""
    me, ctr = socket.inet_aton("10.9.0.1"), socket.inet_aton("10.9.0.2")
    mac = bytes.fromhex("020000000001")
    arp = struct.pack("!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, 1, mac, me, bytes(6), ctr)

    def ipv4(proto, payload):
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 1, 0, 64, proto, 0, me, ctr)
        return head[:10] + struct.pack("!H", csum(head)) + head[12:] + payload

    echo = struct.pack("!BBHHH", 8, 0, 0, 1, 1)
    echo = echo[:2] + struct.pack("!H", csum(echo)) + echo[4:]
    tcp = struct.pack("!HHIIBBHHH", 40000, 80, 1, 0, 0x50, 2, 65535, 0, 0)
    pseudo = me + ctr + struct.pack("!HH", 6, len(tcp))
    tcp = tcp[:16] + struct.pack("!H", csum(pseudo + tcp)) + tcp[18:]
    src6, dst6 = (socket.inet_pton(socket.AF_INET6, a) for a in ("fd00:9::1", "ff02::1:ff00:2"))
    target = socket.inet_pton(socket.AF_INET6, "fd00:9::2")
    ns = struct.pack("!BBHI16sBB6s", 135, 0, 0, 0, target, 1, 1, mac)
    pseudo = src6 + dst6 + struct.pack("!II", len(ns), 58)
    ns = ns[:2] + struct.pack("!H", csum(pseudo + ns)) + ns[4:]
    ip6 = struct.pack("!IHBB16s16s", 6 << 28, len(ns), 58, 255, src6, dst6) + ns
    yield "ARP", bytes.fromhex("ffffffffffff") + mac + b"\x08\x06" + arp
    yield "ICMP echo", dst_mac + mac + b"\x08\x00" + ipv4(1, echo)
    yield "TCP SYN", dst_mac + mac + b"\x08\x00" + ipv4(6, tcp)
    yield "neighbour solicitation", bytes.fromhex("3333ff000002") + mac + b"\x86\xdd" + ip6


def answers(seconds):
    """What the wire carries back, by kind. Runs in a child inside the peer's namespace."""
    out = run("ip", "netns", "exec", PEER, "env", f"TAKE_STATE={STATE}", sys.executable, __file__,
              "--probe", str(seconds))
    return set(out.split())


def probe(seconds):
    mac = bytes.fromhex("020000000002")
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as s:
        s.bind(("peth0", 3))
        for _, frame in frames(mac):
            try:
                s.send(frame)
            except OSError as e:
                if e.errno != errno.ENOBUFS:  # the other end of the veth is down
                    raise
        stop = time.monotonic() + seconds
        while (left := stop - time.monotonic()) > 0:
            if not select.select([s], [], [], left)[0]:
                break
            frame, addr = s.recvfrom(65535)
            if addr[2] == socket.PACKET_OUTGOING or frame[6:12] != mac:
                continue
            kind = frame[12:14]
            if kind == b"\x08\x06" and frame[20:22] == b"\0\2":
                print("arp")
            elif kind == b"\x08\x00":
                print({1: "icmp", 6: "tcp"}.get(frame[23], f"ip-{frame[23]}"))
            elif kind == b"\x86\xdd":
                print(f"ip6-{frame[20]}-{frame[54] if len(frame) > 54 else 0}")


def lab_open():
    """Everything up to the worst configuration; what was made is removed when the script ends."""
    atexit.register(cleanup)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if os.geteuid() != 0:
        skip("needs root")
    if not SLUICED.exists():
        skip(f"{SLUICED} is not built")
    lab_make()
    carrier_wait()


if __name__ == "__main__" and sys.argv[1:2] == ["--probe"]:
    probe(float(sys.argv[2]))
