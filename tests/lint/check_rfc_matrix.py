#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_rfc_matrix - docs/rfc-matrix.md tells the truth about which tests there are

Every test it names exists; every test whose name begins with rfc and a number stands in it; every
row has a state that is known, a done one has a test, a deviating one says why. The page lists the RFCs it
speaks of: a clause or a test of another one is a slip of the pen, and so is one that no row is about. No row
stands there twice. Of RFC 9293 every requirement of appendix B has a row.
"""
import re

import lintlib

MATRIX = "docs/rfc-matrix.md"
STATES = ("done", "deviates", "partly", "not yet", "n/a")
C_TEST = re.compile(r"START_TEST\(\s*([a-z0-9_]+)\s*\)")
CMAKE_TEST = re.compile(r"add_test\(\s*NAME\s+([A-Za-z0-9_.]+)[\s)]")
FUZZ = re.compile(r"fuzz_target\((\w+)")
NAME = re.compile(r"`([a-z][A-Za-z0-9_.]*)`")
SUITE = re.compile(r"`((?:integration|sim|fuzz|unit|bench)\.[A-Za-z0-9_.]+)`")
CLAUSE_RFC = re.compile(r"(?<![.\d-])\b(\d{3,5})\b(?![.\d])")
APPENDIX_B = [f"MUST-{n}" for n in range(1, 70)] + [f"SHLD-{n}" for n in range(1, 32)]
INTEGRATION = re.compile(r"integration_test\(([A-Za-z0-9_-]+)[.\s]|foreach\(test IN ITEMS ([^)]*)\)")


def tests_of(root):
    """Names of all tests: check's, ctest's, the simulator's scenarios, fuzz targets, whole programs."""
    names = set()
    for path in lintlib.files(root, ["tests"], {".c"}):
        names |= set(C_TEST.findall(lintlib.read(root / path)))
    for path in lintlib.files(root, ["tests"], {".txt"}):
        text = lintlib.read(root / path)
        names |= set(CMAKE_TEST.findall(text))
        names |= {f"fuzz.{n}" for n in FUZZ.findall(text)}
        names |= {f"sim.transfer.{n}" for n in re.findall(r"\b([a-z_0-9]+)=\d+:\d+", text)}
        for one, many in INTEGRATION.findall(text):
            names |= {f"integration.{n}" for n in (one + " " + many).split()}
    for path in lintlib.files(root, ["tests/integration"], {".py", ".sh"}):
        names.add("integration." + path.stem)
    return names


def rows(text):
    """(line number, cells) of each row of a table with four cells that is no head."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|"):
            continue
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cells) != 4:
            yield number, None
        elif cells[0] != "clause" and set("".join(cells)) - set("-: "):
            yield number, cells


def listed_rfcs(text):
    """RFC numbers of the paragraph that says which ones the page speaks of."""
    m = re.search(r"^RFCs named here: (.*?)(?:\n\s*\n|\Z)", text, re.M | re.S)
    return set(re.findall(r"\d+", m.group(1))) if m else set()


def rfcs_of(clause, tests):
    """RFC numbers of a row: in its clause, unless that is of the section's RFC alone, and of its tests."""
    said = set(CLAUSE_RFC.findall(clause)) if clause[:1].isdigit() or "RFC" in clause else set()
    return said | {m.group(1) for t in tests for m in [re.match(r"rfc(\d+)_", t)] if m}


def requirements(clause):
    """MUST-24 to 26, SHLD-3: {"MUST-24", "MUST-25", "MUST-26", "SHLD-3"}"""
    found = set()
    for kind, numbers in re.findall(r"(MUST|SHLD)-(\d+(?:\s*(?:,|to)\s*\d+)*)", clause):
        for part in numbers.split(","):
            ends = [int(n) for n in part.split("to")]
            found |= {f"{kind}-{n}" for n in range(ends[0], ends[-1] + 1)}
    return found


def check(root):
    if not (root / MATRIX).is_file():
        return [f"{MATRIX}: is not there"]
    text = lintlib.read(root / MATRIX)
    tests, known = tests_of(root), listed_rfcs(text)
    bad, listed, seen, used, required = [], set(), set(), set(), set()
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
        named |= set(SUITE.findall(cells[1] + cells[2]))
        bad += [f"{MATRIX}:{number}: there is no test {n}" for n in sorted(named - tests)]
        required |= requirements(cells[0])
        numbers = rfcs_of(cells[0], named)
        used |= numbers
        bad += [f"{MATRIX}:{number}: RFC {n} is not named at the top: a slip?" for n in sorted(numbers - known)]
        if not cells[0] or not cells[1]:
            bad.append(f"{MATRIX}:{number}: which clause, and what does it say?")
        if (cells[0], cells[1]) in seen:
            bad.append(f"{MATRIX}:{number}: this row is there already")
        seen.add((cells[0], cells[1]))
    if "\n## RFC 9293" in text:
        bad += [f"{MATRIX}: no row has {n} of RFC 9293" for n in APPENDIX_B if n not in required]
    for line in text.splitlines():
        used |= set(re.findall(r"\b\d+\b", line)) if line.startswith("## ") else set()
    bad += [f"{MATRIX}: nothing is about RFC {n}" for n in sorted(known - used)]
    for name in sorted(t for t in tests if re.match(r"rfc\d", t)):
        if name not in listed:
            bad.append(f"{MATRIX}: does not list the test {name}")
    return bad


HEAD = "RFCs named here: 1\n\n## RFC 1\n| clause | what | state | tests |\n|---|---|---|---|\n"
TEST = {"tests/unit/t.c": "START_TEST(rfc1_s2_works)\n", "tests/sim/CMakeLists.txt": "set(s bad=3:1)\n"}
NEARLY_ALL = "| MUST-1 to 20, 21, MUST-22 to 69, SHLD-1, 2 to 29, 31 | x | n/a | |\n"
PLANTED = [
    ({MATRIX: HEAD + "| 2 | x | done | `rfc1_s2_works`, `sim.transfer.bad` |\n", **TEST}, None),
    ({MATRIX: HEAD + "| 2 | x | done | `rfc1_s2_works` `rfc1_s3` |\n", **TEST}, "no test rfc1_s3"),
    ({MATRIX: HEAD + "| 2 | x | not yet | |\n", **TEST}, "does not list the test rfc1_s2_works"),
    ({MATRIX: HEAD + "| 2 | x | surely | `rfc1_s2_works` |\n", **TEST}, "state is one of"),
    ({MATRIX: HEAD + "| 2 | x | done | |\n"}, "done without a test"),
    ({MATRIX: HEAD + "| 2 | x | deviates | |\n"}, "and why?"),
    ({MATRIX: HEAD + "| 2 | x | done |\n"}, "four cells"),
    ({MATRIX: HEAD + "| 2 | x | | `rfc1_s2_works` |\n", **TEST}, "state is one of"),
    ({MATRIX: HEAD + "| 9999 2 | x | n/a | |\n"}, "RFC 9999 is not named"),
    ({MATRIX: HEAD + "| 2 | x | done | `rfc1_s2_works` `rfc77_s1` |\n", **TEST,
      "tests/unit/u.c": "START_TEST(rfc77_s1)\n"}, "RFC 77 is not named"),
    ({MATRIX: HEAD.replace(": 1", ": 1, 9998") + "| 2 | x | n/a | |\n"}, "nothing is about RFC 9998"),
    ({MATRIX: HEAD + "| | x | n/a | |\n"}, "which clause"),
    ({MATRIX: HEAD + "## RFC 9293\n" + NEARLY_ALL}, "no row has SHLD-30"),
    ({MATRIX: HEAD + "| 2 | x | n/a | |\n| 2 | x | n/a | |\n"}, "there already"),
    ({MATRIX: HEAD + "| 2 | x | partly: as `integration.gone` shows | |\n"}, "no test integration.gone"),
]

if __name__ == "__main__":
    lintlib.main(check, PLANTED)
