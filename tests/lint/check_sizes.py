#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_sizes - no file over 1000 lines, no function over 120; prints the ten longest functions

A function is a brace at depth zero after a closing parenthesis; its lines are those from the one
with the parameters' end to the closing brace.
"""
import re

import lintlib

FILE_MAX = 1000
FUNCTION_MAX = 120


def functions(text):
    """(name, first line, lines) of each function."""
    bare = lintlib.bare_c(text)
    found, depth, start = [], 0, None
    for m in re.finditer(r"[{}]", bare):
        if m.group() == "{":
            before = bare[:m.start()].rstrip() if depth == 0 else ""
            if before.endswith(")"):
                start = m.start()
                head = before[max(before.rfind(c) for c in ";}") + 1:]
                name = re.search(r"(\w+)\s*\(", head)
                found.append([name.group(1) if name else "?", bare.count("\n", 0, len(before)) + 1, 0])
            depth += 1
        else:
            depth -= 1
            if depth == 0 and start is not None:
                found[-1][2] = bare.count("\n", 0, m.start()) + 1 - found[-1][1] + 1
                start = None
    return found


def check(root, show=False):
    bad, all_functions = [], []
    for path in lintlib.files(root, lintlib.SHIPPED, {".c", ".h"}):
        text = lintlib.read(root / path)
        cnt = text.count("\n")
        if cnt > FILE_MAX:
            bad.append(f"{path}: {cnt} lines, {FILE_MAX} are allowed")
        for name, line, length in functions(text):
            all_functions.append((length, f"{path}:{line} {name}()"))
            if length > FUNCTION_MAX:
                bad.append(f"{path}:{line}: {name}() has {length} lines, {FUNCTION_MAX} are allowed")
    if show:
        print(f"{len(all_functions)} functions, the longest:")
        for length, where in sorted(all_functions, reverse=True)[:10]:
            print(f"{length:5} {where}")
    return bad


def function(name, lines):
    return f"int {name}(int a,\n\t int b)\n{{\n" + "\ta++; /* } */\n" * (lines - 3) + "}\n"


PLANTED = [
    ({"netstack/a.c": function("f", 120) + function("g", 120)}, None),
    ({"netstack/a.c": "static struct x y = {\n" + "\t{ '}', \"}\" },\n" * 200 + "};\n"}, None),
    ({"netstack/a.c": function("f", 10) + "#define M(x) { \\\n\t{\n" + function("g", 121)},
     "g() has 121 lines"),
    ({"daemon/a.h": "static inline " + function("h", 300)}, "h() has 300 lines"),
    ({"config/a.c": "/* */\n" * 1001}, "1001 lines"),
    ({"seccomp/a.c": "/* */\n" * 1000}, None),
]

if __name__ == "__main__":
    lintlib.main(lambda root: check(root, show="sl-lint-" not in str(root)), PLANTED)
