#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_words - what every source must say, and what none may

Must: the licence in the first line (scripts: in the first three). A file of more than 150 lines opens
with a comment that explains it, one of more than 300 under the heading "Theory of operation". A .c,
the .h of its name and its _int.h are one module: any of them may have it.
May not: a path that exists on one machine only.
"""
import re

import lintlib

EXPLAINED_FROM = 150
THEORY_FROM = 300
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


def is_explained(text):
    """A comment at the top with lines below its title."""
    top = re.match(r"/\*[^\n]*\*/\s*(/\*.*?\*/)", text, re.DOTALL)
    return has_theory(text) or (top is not None and len(top.group(1).splitlines()) >= 6)


def module(root, path):
    """Texts of the files that are one with this one."""
    stem = path.stem.removesuffix("_int")
    for name in (f"{stem}.c", f"{stem}.h", f"{stem}_int.h"):
        other = root / path.parent / name
        if other.is_file():
            yield lintlib.read(other)


def check_theory(root, bad):
    for path in lintlib.files(root, lintlib.SHIPPED, {".c", ".h"}):
        cnt = lintlib.read(root / path).count("\n")
        if cnt > THEORY_FROM and not any(map(has_theory, module(root, path))):
            bad.append(f"{path}: {cnt} lines and no theory of operation at the top")
        elif cnt > EXPLAINED_FROM and not any(map(is_explained, module(root, path))):
            bad.append(f"{path}: {cnt} lines and no comment at the top that explains them")


def check(root):
    bad = []
    for path in lintlib.files(root, EVERYWHERE, SUFFIXES):
        text = lintlib.read(root / path)
        if path.suffix in {".c", ".h", ".def"} and SPDX not in text.split("\n", 1)[0]:
            bad.append(f"{path}:1: no '{SPDX}'")
        if path.suffix in {".py", ".sh"} and not any(SPDX in l for l in text.splitlines()[:3]):
            bad.append(f"{path}:1: no '{SPDX}'")
        for m in ABSOLUTE.finditer(text):
            if m.group(1) not in COMMON and len(m.group(1)) > 1:
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
    ({"netstack/a.c": LICENCE + "/* a.c - x */\n" + "int x;\n" * 151}, "no comment at the top"),
    ({"netstack/a.c": LICENCE + "/*\n * a.c - x\n *\n * y\n * z\n */\n" + "int x;\n" * 200}, None),
    ({"netstack/a.c": LICENCE + "/*\n * a.c - x\n *\n * y\n * z\n */\n" + "int x;\n" * 300},
     "no theory of operation"),
    ({"netstack/a.c": LICENCE + "\n" * 60 + "/* Theory of operation */\n" + "\n" * 300},
     "no theory of operation"),
    ({"netstack/a.c": LICENCE + "/* Theory of operation */\n" + "int x;\n" * 400}, None),
    ({"netstack/a.c": LICENCE + "int x;\n" * 400, "netstack/a.h": LICENCE + "/* Theory of operation */\n"},
     None),
    ({"netstack/a_int.h": LICENCE + "int x;\n" * 400, "netstack/a.c": LICENCE + "/* Theory of operation */\n"},
     None),
    ({"daemon/a.c": LICENCE + 'f("/somebody/' + 'tree");\n'}, "a.c:2: /somebody/ is a folder"),
    ({"daemon/a.c": LICENCE + 'f("/proc/self/exe", a/b/c); /* read/write/x, /run/sluice */\n'}, None),
]

if __name__ == "__main__":
    lintlib.main(check, PLANTED)
