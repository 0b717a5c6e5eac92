#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_tables - hostile.md, cases.md and behaviours.md in docs name tests and counters that there are

Every name in backticks in the last column of a table is a test; every word of capitals with an
underscore in the column before it is a counter or a reason to drop. A row without a test says why.
"""
import re

import check_rfc_matrix
import lintlib

PAGES = ("docs/hostile.md", "docs/cases.md", "docs/behaviours.md")
COUNTERS = ("netstack/base/drop.def", "netstack/base/stats.def")
NAME = re.compile(r"`([A-Za-z][A-Za-z0-9_.-]*)`")
COUNTER = re.compile(r"\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b")


def counters_of(root):
    rows = re.compile(r"^(?:DROP|STAT)\((\w+)", re.M)
    texts = [lintlib.read(root / c) for c in COUNTERS if (root / c).is_file()]
    return {n for t in texts for n in rows.findall(t)}


def rows(text):
    for number, line in enumerate(text.splitlines(), 1):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if line.startswith("|") and set(cells[0]) - set("-: ") and cells[0] != "no":
            yield number, cells


def check(root):
    tests, counters, bad = check_rfc_matrix.tests_of(root), counters_of(root), []
    for page in PAGES:
        if not (root / page).is_file():
            continue
        for number, cells in rows(lintlib.read(root / page)):
            if len(cells) != 4:
                bad.append(f"{page}:{number}: a row has four cells")
                continue
            named = NAME.findall(cells[3])
            if not named and len(cells[2]) < 20:
                bad.append(f"{page}:{number}: no test, and why?")
            bad += [f"{page}:{number}: there is no test {n}" for n in named if n not in tests]
            bad += [f"{page}:{number}: there is no counter {n}"
                    for n in COUNTER.findall(cells[2]) if n not in counters]
    return bad


HEAD = "| no | attack | answer | tests |\n|---|---|---|---|\n"
BASE = {"tests/unit/t.c": "START_TEST(it_works)\n", "netstack/base/drop.def": "DROP(AB_CD, \"\", \"\")\n"}
PLANTED = [
    ({PAGES[0]: HEAD + "| 1 | x | AB_CD | `it_works` |\n", **BASE}, None),
    ({PAGES[0]: HEAD + "| 1 | x | AB_CD | `it_does_not` |\n", **BASE}, "no test it_does_not"),
    ({PAGES[0]: HEAD + "| 1 | x | AB_CE | `it_works` |\n", **BASE}, "no counter AB_CE"),
    ({PAGES[1]: HEAD + "| 1 | x | AB_CD | |\n", **BASE}, "and why?"),
    ({PAGES[1]: HEAD + "| 1 | x | `it_works` |\n", **BASE}, "four cells"),
]

if __name__ == "__main__":
    lintlib.main(check, PLANTED)
