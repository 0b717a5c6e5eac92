#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_words - what every source must say, and what none may

Must: the licence in the first line (scripts: in the first two), a file of more than 150 lines its
theory of operation at the top; a .c and the .h of its name are one module, either may have it.
May not: a path that exists on one machine only.
"""
import re

import lintlib

THEORY_FROM = 150
THEORY_WITHIN = 60
SPDX = "SPDX-License-Identifier: Apache-2.0"
EVERYWHERE = lintlib.SHIPPED + ("systemd", "tests", "docs")
SUFFIXES = {".c", ".h", ".def", ".py", ".sh", ".txt", ".in", ".md", ".8", ".5"}

# First folders of paths that any Linux, a container of ours or a test's own tree may have.
COMMON = {"bin", "boot", "dev", "etc", "lib", "lib64", "mnt", "opt", "proc", "root", "run", "sbin",
          "nonexistent", "srv", "sys", "tmp", "usr", "var", "bundle", "rootfs", "lab"}
# An absolute path as a program writes it: after a quote, an equal sign or a blank, two parts deep.
ABSOLUTE = re.compile(r"""(?:^|["'=\s(`])/([a-z][a-z0-9_-]*)/[A-Za-z0-9_.-]""", re.MULTILINE)


def has_theory(text):
    return any("theory of operation" in line.lower() for line in text.splitlines()[:THEORY_WITHIN])


def check_theory(root, bad):
    for path in lintlib.files(root, lintlib.SHIPPED, {".c", ".h"}):
        text = lintlib.read(root / path)
        cnt = text.count("\n")
        if cnt <= THEORY_FROM or has_theory(text):
            continue
        other = (root / path).with_suffix(".h" if path.suffix == ".c" else ".c")
        if not (other.is_file() and has_theory(lintlib.read(other))):
            bad.append(f"{path}: {cnt} lines and no theory of operation at the top")


def check(root):
    bad = []
    for path in lintlib.files(root, EVERYWHERE, SUFFIXES):
        text = lintlib.read(root / path)
        if path.suffix in {".c", ".h", ".def"} and SPDX not in text.split("\n", 1)[0]:
            bad.append(f"{path}:1: no '{SPDX}'")
        if path.suffix in {".py", ".sh"} and not any(SPDX in l for l in text.splitlines()[:3]):
            bad.append(f"{path}:1: no '{SPDX}'")
        for m in ABSOLUTE.finditer(text):
            if m.group(1) not in COMMON:
                line = text.count("\n", 0, m.start(1)) + 1
                bad.append(f"{path}:{line}: /{m.group(1)}/ is a folder of one machine")
    check_theory(root, bad)
    return bad


LICENCE = f"/* {SPDX} */\n"
PLANTED = [
    ({"netstack/a.c": LICENCE + "int x;\n" * 149}, None),
    ({"netstack/a.c": "int x;\n" + LICENCE}, "a.c:1: no 'SPDX"),
    ({"seccomp/a.def": "ROW(1)\n"}, "a.def:1: no 'SPDX"),
    ({"tests/a.sh": "#!/bin/sh\nexit\n"}, "a.sh:1: no 'SPDX"),
    ({"netstack/a.c": LICENCE + "int x;\n" * 151}, "no theory of operation"),
    ({"netstack/a.c": LICENCE + "\n" * 60 + "/* Theory of operation */\n" + "\n" * 100},
     "no theory of operation"),
    ({"netstack/a.c": LICENCE + "/* Theory of operation */\n" + "int x;\n" * 151}, None),
    ({"netstack/a.c": LICENCE + "int x;\n" * 151, "netstack/a.h": LICENCE + "/* Theory of operation */\n"},
     None),
    ({"daemon/a.c": LICENCE + 'f("/somebody/' + 'tree");\n'}, "a.c:2: /somebody/ is a folder"),
    ({"daemon/a.c": LICENCE + 'f("/proc/self/exe", a/b/c); /* read/write/x, /run/sluice */\n'}, None),
]

if __name__ == "__main__":
    lintlib.main(check, PLANTED)
