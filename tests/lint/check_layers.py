#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_layers - who may include whom: arrows point down, and the stack sees ISO C only

docs/architecture.md has the picture. A folder may include itself, what BELOW lists, and nothing
else; a header NAME_int.h stays in its folder.
"""
import re

import lintlib

# What the daemon may know of the stack.
STACK_SEEN = {"netstack/include/ns", "netstack/base", "netstack/buf", "netstack/wire"}

# Folder of the including file: folders it may include besides its own. "ns" is netstack/include/ns.
BELOW = {
    "netstack/include/ns": {"netstack/base"},
    "netstack/base": set(),
    "netstack/wire": {"netstack/base", "netstack/buf"},
    "netstack/buf": {"netstack/base"},
    "netstack/link": {"netstack/base", "netstack/buf", "netstack/wire"},
    "netstack/net": {"netstack/base", "netstack/buf", "netstack/wire", "netstack/link"},
    "netstack/tcp": {"netstack/base", "netstack/buf", "netstack/wire", "netstack/net"},
    "netstack/udp": {"netstack/base", "netstack/buf", "netstack/wire", "netstack/net"},
    "netstack/sock": {"netstack/base", "netstack/buf", "netstack/net"},
    # the composition root, the one file that knows every layer
    "netstack": {"netstack/" + f for f in
                 ("include/ns", "base", "wire", "buf", "link", "net", "tcp", "udp", "sock")},
    "config": {"netstack/base"},
    "seccomp": set(),
    # the public interface, the frames that drivers carry and the layouts that captures and logs read;
    # what a packet means is the stack's alone
    "daemon/common": {"seccomp"} | STACK_SEEN,
    "daemon/netconf": {"daemon/common"} | STACK_SEEN,
    "daemon/monitor": {"daemon/common", "daemon/netconf", "config", "seccomp"} | STACK_SEEN,
    # a role knows no other role: what it has from one came in a message
    "daemon/worker": {"daemon/common", "seccomp"} | STACK_SEEN,
    "daemon/agent": {"daemon/common", "seccomp"} | STACK_SEEN,
    "daemon": {"daemon/common", "daemon/monitor", "daemon/worker", "daemon/agent", "config"},
    "ctl": {"config", "seccomp"},
}

# The public types that every layer of the stack may use; sock.h and stack.h are for net/ and above.
NS_TYPES = {"ns/addr.h", "ns/env.h", "ns/iov.h", "ns/link.h"}
NS_ABOVE_NET = {"netstack/net", "netstack/tcp", "netstack/udp", "netstack/sock"}

ISO_C = {"assert.h", "errno.h", "inttypes.h", "limits.h", "stdarg.h", "stdbool.h", "stddef.h",
         "stdint.h", "stdlib.h", "string.h"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">]', re.MULTILINE)


def folder_of_file(path):
    return str(path.parent)


def folder_of_include(root, name):
    """Folder an #include "name" means, or None: no such file at any of the project's roots."""
    for base in ("", "netstack/", "netstack/include/"):
        if (root / (base + name)).is_file():
            return str(lintlib.pathlib.PurePosixPath(base + name).parent)
    return None


def may_include(folder, target, name):
    if target == folder:
        return True
    if name.endswith(("_int.h",)):
        return False
    if target == "netstack/include/ns" and folder.startswith("netstack/"):
        return name in NS_TYPES or folder in NS_ABOVE_NET
    return target in BELOW[folder]


def judge(root, path, kind, name):
    folder = folder_of_file(path)
    if folder not in BELOW:
        return f"{folder} is a new folder: give it a row in check_layers.py"
    if kind == "<":
        if folder.startswith("netstack") and name not in ISO_C:
            return f"netstack may not include <{name}>: it is pure"
        if name == "seccomp.h" and folder not in ("seccomp", "daemon/agent", "ctl"):
            return f"<{name}> belongs to seccomp/"
        return None
    if "../" in name or name.startswith("./"):
        return f'"{name}" is relative: write it from the root of its layer'
    target = folder_of_include(root, name)
    if target is None:
        return f'"{name}" is not a file of the project'
    if not may_include(folder, target, name):
        return f"{folder} may not include {name}"
    return None


def check(root):
    bad = []
    for path in lintlib.files(root, lintlib.SHIPPED, {".c", ".h", ".def"}):
        text = lintlib.read(root / path)
        for m in INCLUDE.finditer(text):
            why = judge(root, path, m.group(1), m.group(2))
            if why:
                bad.append(f"{path}:{text.count(chr(10), 0, m.start()) + 1}: {why}")
    return bad


def tree(path, line, *others):
    return {path: line + "\n", **{o: "" for o in others}}


PLANTED = [
    (tree("netstack/buf/a.c", '#include "base/b.h"', "netstack/base/b.h"), None),
    (tree("netstack/buf/a.c", '#include "tcp/t.h"', "netstack/tcp/t.h"),
     "netstack/buf/a.c:1: netstack/buf may not include tcp/t.h"),
    (tree("netstack/base/a.c", '#include "ns/sock.h"', "netstack/include/ns/sock.h"),
     "may not include ns/sock.h"),
    (tree("netstack/sock/a.c", '#include "tcp/t.h"', "netstack/tcp/t.h"), "may not include tcp/t.h"),
    (tree("netstack/a.c", '#include "tcp/t_int.h"', "netstack/tcp/t_int.h"),
     "may not include tcp/t_int.h"),
    (tree("netstack/net/a.h", "# include  <sys/socket.h>"), "it is pure"),
    (tree("netstack/net/a.c", "#include <time.h>"), "it is pure"),
    (tree("netstack/net/a.c", '#include "daemon/common/log.h"', "daemon/common/log.h"),
     "may not include daemon/"),
    (tree("netstack/net/a.c", '#include "../tcp/t.h"', "netstack/tcp/t.h"), "is relative"),
    (tree("netstack/net/a.c", '#include "net/none.h"'), "not a file of the project"),
    (tree("netstack/ip7/a.c", "#include <stdint.h>"), "is a new folder"),
    (tree("daemon/agent/a.c", '#include "tcp/tcp.h"', "netstack/tcp/tcp.h"), "may not include tcp/tcp.h"),
    (tree("daemon/worker/a.c", '#include "net/route.h"', "netstack/net/route.h"), "may not include net/"),
    (tree("daemon/worker/a.c", '#include "wire/vnet.h"', "netstack/wire/vnet.h"), None),
    (tree("config/a.c", '#include "daemon/common/log.h"', "daemon/common/log.h"),
     "may not include daemon/common/log.h"),
    (tree("daemon/worker/a.c", '#include "daemon/agent/agent.h"', "daemon/agent/agent.h"),
     "daemon/worker may not include daemon/agent/agent.h"),
    (tree("daemon/common/a.c", '#include "daemon/netconf/take.h"', "daemon/netconf/take.h"),
     "daemon/common may not include daemon/netconf/take.h"),
    (tree("config/a.c", "#include <seccomp.h>"), "belongs to seccomp/"),
    (tree("seccomp/a.def", '#include "config/o.h"', "config/o.h"), "may not include config/o.h"),
]

if __name__ == "__main__":
    lintlib.main(check, PLANTED)
