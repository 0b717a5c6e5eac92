#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""suites.py - tests of CPython's own, one line a test: its name and how it ended

  suites.py NAME...                 runs modules, classes or tests, as unittest names them
  suites.py --compare KERNEL SLUICE prints what ended otherwise; DEVIATIONS are left out
"""
import os
import re
import sys
import unittest

# What may end otherwise, and why: docs/sockets.md has the rows.
DEVIATIONS = {
    r"test_socket\..*UDPLITE": "no UDP-Lite (RFC 3828)",
    r"BasicSocketTests\.test_wrapped_unconnected$": "send() on a stream that was never connected takes the octet",
    r"TestEPoll\.test_control_and_wait$": "over 127.0.0.1 octets arrive soon, not before send() returns",
}


class Outcomes(unittest.TestResult):
    """Tells each test's end to a descriptor that no test knows."""

    def __init__(self, out):
        super().__init__()
        self.out = out
        self.ends = {}

    def addError(self, test, err):
        super().addError(test, err)
        self.ends[test] = "ERROR"

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.ends[test] = "FAIL"

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.ends[test] = "FAIL"

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.ends[test] = "skipped"

    def stopTest(self, test):
        super().stopTest(test)
        self.out.write(f"{test.id()} {self.ends.get(test, 'ok')}\n")
        self.out.flush()


def run(names):
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what tests print themselves is no line of ours
    from test import support  # pylint: disable=import-outside-toplevel # the package is there in the container
    support.use_resources = ["cpu"]
    result = Outcomes(out)
    unittest.defaultTestLoader.loadTestsFromNames(names).run(result)
    for test, trace in result.errors + result.failures:
        print(f"--- {test.id()}\n{trace}", file=sys.stderr)
    out.write("done\n")
    out.flush()
    os._exit(0)  # a thread that a test left is not waited for


def read(path):
    with open(path, encoding="utf-8") as file:
        return dict(line.split() for line in file if line.strip() != "done")


def compare(kernel, sluice):
    kernel, sluice = read(kernel), read(sluice)
    for name, end in kernel.items():
        got = sluice.get(name, "not run")
        if got != end and not any(re.search(pattern, name) for pattern in DEVIATIONS):
            print(f"{name} {end} {got}")


if sys.argv[1] == "--compare":
    compare(*sys.argv[2:])
else:
    run(sys.argv[1:])
