#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_rfc_matrix - docs/rfc-matrix.md tells the truth about which tests there are

Every test it names exists; every test whose name begins with rfc and a number stands in it; every
row has a state that is known, a done one has a test, a deviating one says why.
"""
import re

import lintlib

MATRIX = "docs/rfc-matrix.md"
STATES = ("done", "deviates", "partly", "not yet", "n/a")
C_TEST = re.compile(r"START_TEST\(\s*([a-z0-9_]+)\s*\)")
CMAKE_TEST = re.compile(r"add_test\(\s*NAME\s+([A-Za-z0-9_.]+)[\s)]")
FUZZ = re.compile(r"fuzz_target\((\w+)")
NAME = re.compile(r"`([a-z][A-Za-z0-9_.]*)`")


def tests_of(root):
    """Names of all tests: check's, ctest's, the simulator's scenarios, the fuzz targets."""
    names = set()
    for path in lintlib.files(root, ["tests"], {".c"}):
        names |= set(C_TEST.findall(lintlib.read(root / path)))
    for path in lintlib.files(root, ["tests"], {".txt"}):
        text = lintlib.read(root / path)
        names |= set(CMAKE_TEST.findall(text))
        names |= {f"fuzz.{n}" for n in FUZZ.findall(text)}
        names |= {f"sim.transfer.{n}" for n in re.findall(r"\b([a-z_0-9]+)=\d+:\d+", text)}
    return names


def rows(text):
    """(line number, cells) of each row of a table with four cells that is no head."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|"):
            continue
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cells) != 4:
            yield number, None
        elif cells[0] != "clause" and set(cells[0]) - set("-: "):
            yield number, cells


def check(root):
    if not (root / MATRIX).is_file():
        return [f"{MATRIX}: is not there"]
    text = lintlib.read(root / MATRIX)
    tests = tests_of(root)
    bad, listed = [], set()
    for number, cells in rows(text):
        if cells is None:
            bad.append(f"{MATRIX}:{number}: a row has four cells: clause, what, state, tests")
            continue
        state = next((s for s in STATES if cells[2].startswith(s)), None)
        named = set(NAME.findall(cells[3]))
        listed |= named
        if state is None:
            bad.append(f"{MATRIX}:{number}: state is one of {', '.join(STATES)}")
        elif state == "done" and not named:
            bad.append(f"{MATRIX}:{number}: done without a test")
        elif state in ("deviates", "partly") and len(cells[2]) < len(state) + 5:
            bad.append(f"{MATRIX}:{number}: {state}, and why?")
        bad += [f"{MATRIX}:{number}: there is no test {n}" for n in sorted(named - tests)]
    for name in sorted(t for t in tests if re.match(r"rfc\d", t)):
        if name not in listed:
            bad.append(f"{MATRIX}: does not list the test {name}")
    return bad


HEAD = "| clause | what | state | tests |\n|---|---|---|---|\n"
TEST = {"tests/unit/t.c": "START_TEST(rfc1_s2_works)\n", "tests/sim/CMakeLists.txt": "set(s bad=3:1)\n"}
PLANTED = [
    ({MATRIX: HEAD + "| 2 | x | done | `rfc1_s2_works`, `sim.transfer.bad` |\n", **TEST}, None),
    ({MATRIX: HEAD + "| 2 | x | done | `rfc1_s2_works` `rfc1_s3` |\n", **TEST}, "no test rfc1_s3"),
    ({MATRIX: HEAD + "| 2 | x | not yet | |\n", **TEST}, "does not list the test rfc1_s2_works"),
    ({MATRIX: HEAD + "| 2 | x | surely | `rfc1_s2_works` |\n", **TEST}, "state is one of"),
    ({MATRIX: HEAD + "| 2 | x | done | |\n"}, "done without a test"),
    ({MATRIX: HEAD + "| 2 | x | deviates | |\n"}, "and why?"),
    ({MATRIX: HEAD + "| 2 | x | done |\n"}, "four cells"),
]

if __name__ == "__main__":
    lintlib.main(check, PLANTED)
