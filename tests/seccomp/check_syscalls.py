#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_syscalls.py - the tables of seccomp/ and the sources agree about who calls what

usage: check_syscalls.py TOP

Sources say in their heading what they call: `#syscalls worker: recvmmsg sendmmsg close`. Each of those
must have a row in that role's table, and each file that a row gives as its reason must exist.
"""
import pathlib
import re
import sys

ROLES = ("monitor", "agent", "worker")
ROW = re.compile(r'^RULE(?:_PER_TAP)?\((\w+),.*"([^"]*)"\)$')
CLAIM = re.compile(r"#syscalls (\w+): ([a-z0-9_ ]+)")


def table(top, role):
    """Rows of a table: name -> reasons."""
    rows = {}
    for line in (top / "seccomp" / f"{role}.def").read_text().splitlines():
        if line.startswith("RULE"):
            m = ROW.match(line)
            if not m:
                sys.exit(f"{role}.def has a row that is not understood: {line}")
            rows.setdefault(m[1], []).append(m[2])
    return rows


def main():
    top = pathlib.Path(sys.argv[1])
    tables = {role: table(top, role) for role in ROLES}
    sources = sorted((top / "daemon").rglob("*.c"))
    known = {f.name for f in sources} | {f.name for f in (top / "seccomp").glob("*.c")}
    errors = []
    claims = 0
    for source in sources:
        for role, names in CLAIM.findall(source.read_text()):
            for name in names.split():
                claims += 1
                if name not in tables.get(role, {}):
                    errors.append(f"{source.name} says that the {role} calls {name}, but "
                                  f"{role}.def does not allow it")
    for role, rows in tables.items():
        for name, reasons in rows.items():
            for file in re.findall(r"\b[a-z_]+\.c\b", " ".join(reasons)):
                if file not in known:
                    errors.append(f"{role}.def: {name} is there for {file}, which does not exist")
    print("\n".join(errors) or f"{claims} calls claimed by sources, all in their tables")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
