#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_sluicectl.py - sluicectl against monitors that a test plays

usage: test_sluicectl.py SLUICECTL
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

SLUICECTL = ""

READY = {"taken": True, "stopping": False, "worker": {"ready": True}, "agent": {"ready": True},
         "links": [{"name": "lo", "driver": "none"}, {"name": "eth0", "driver": "packet"},
                   {"name": "eth1", "driver": "tap"}, {"name": "odd"}]}


class Monitor:
    """ctl.sock of one sandbox: answers each request with what `answers` says, octets or JSON."""

    def __init__(self, state_dir, name, answers):
        os.mkdir(os.path.join(state_dir, name))
        self.answers = answers
        self.asked = []
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.bind(os.path.join(state_dir, name, "ctl.sock"))
        self.sock.listen()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def stop(self):
        """The thread is gone before the number of its socket can be another's."""
        self.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.sock.close()

    def serve(self):
        while True:
            try:
                conn, _ = self.sock.accept()
            except OSError:
                return
            with conn, conn.makefile("rwb") as f:
                word = f.readline().decode().strip()
                self.asked.append(word)
                answer = self.answers.get(word, b"")
                f.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode() + b"\n")
                f.flush()


class SluicectlTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory(prefix="sl-ctl-")
        self.addCleanup(self.dir.cleanup)

    def monitor(self, name, **answers):
        m = Monitor(self.dir.name, name, answers)
        self.addCleanup(m.stop)
        return m

    def run_ctl(self, *words, status=0):
        r = subprocess.run([SLUICECTL, "--state-dir=" + self.dir.name, *words], capture_output=True,
                           text=True, timeout=20, check=False)
        self.assertEqual(r.returncode, status, r.stderr)
        if status:
            self.assertEqual(len(r.stderr.splitlines()), 1 if words else len(r.stderr.splitlines()))
        return r

    def test_list_of_nothing_is_a_heading(self):
        self.assertEqual(len(self.run_ctl("list").stdout.splitlines()), 1)

    def test_list_without_state_directory_is_no_error(self):
        r = subprocess.run([SLUICECTL, "--state-dir", self.dir.name + "/none", "list"],
                           capture_output=True, check=False)
        self.assertEqual(r.returncode, 0)

    def test_list_shows_each_sandbox_in_order_with_its_state(self):
        self.monitor("b", state=READY)
        self.monitor("a", state={"taken": False})
        self.monitor("c", state={**READY, "stopping": True})
        self.monitor("d", state={**READY, "agent": {"ready": False}})
        os.mkdir(os.path.join(self.dir.name, "killed"))
        os.mkdir(os.path.join(self.dir.name, ".hidden"))
        lines = [line.split(None, 2) for line in self.run_ctl("list").stdout.splitlines()[1:]]
        self.assertEqual([line[:2] for line in lines], [["a", "waiting"], ["b", "ready"],
                         ["c", "stopping"], ["d", "starting"], ["killed", "silent"]])
        self.assertEqual(lines[1][2].strip(), "eth0 eth1")
        self.assertIn("--restore", lines[4][2])

    def test_requests_are_sent_as_they_are_and_answers_are_json(self):
        for word in ("state", "stats", "links", "sockets"):
            m = self.monitor("web-" + word, **{word: {"x": 1 << 40, "y": [word]}})
            r = self.run_ctl(word, "web-" + word)
            self.assertEqual(json.loads(r.stdout), {"x": 1 << 40, "y": [word]})
            self.assertEqual(m.asked, [word])

    def test_a_long_answer_arrives_whole(self):
        want = {"lines": ["x" * 100 for _ in range(10000)]}
        self.monitor("web", sockets=want)
        self.assertEqual(json.loads(self.run_ctl("sockets", "web").stdout), want)

    def test_all_are_asked_without_an_id(self):
        a, b = self.monitor("a", stats={"n": 1}), self.monitor("b", stats={"n": 2})
        self.run_ctl("stats")
        self.assertEqual([a.asked, b.asked], [["stats"], ["stats"]])

    def test_an_answer_with_an_error_is_printed_and_fails(self):
        self.monitor("web", stats={"error": "not all of it"})
        r = subprocess.run([SLUICECTL, "--state-dir", self.dir.name, "stats", "web"],
                           capture_output=True, check=False)
        self.assertEqual(r.returncode, 1)
        self.assertEqual(json.loads(r.stdout)["error"], "not all of it")

    def test_bad_answers_are_one_sentence(self):
        self.monitor("closed", state=b"")
        self.monitor("garbage", state=b"<html>\n")
        self.monitor("half", state=b'{"x":')
        self.assertIn("closed", self.run_ctl("state", "closed", status=1).stderr)
        self.assertIn("not JSON", self.run_ctl("state", "garbage", status=1).stderr)
        self.run_ctl("state", "half", status=1)
        self.assertIn("does not run", self.run_ctl("state", "absent", status=1).stderr)

    def test_wrong_usage_is_2(self):
        for words in (["frob"], ["list", "x"], ["state", "a", "b"], ["state", "../a"], ["profile", "x"],
                      ["profile", "--format=xml"], ["profile", "--listener=rel/path"], ["doctor", "x"],
                      ["profile", "--metadata"], ["--frob"]):
            self.run_ctl(*words, status=2)

    def test_profile_is_what_runtimes_read(self):
        for fmt in ("oci", "docker"):
            p = json.loads(self.run_ctl("profile", "--listener=/x/l.sock", "--metadata", 'a"b',
                                        "--format", fmt).stdout)
            self.assertEqual(p["defaultAction"], "SCMP_ACT_ALLOW")
            self.assertEqual([p["listenerPath"], p["listenerMetadata"]], ["/x/l.sock", 'a"b'])
            self.assertEqual("archMap" in p, fmt == "docker")
            self.assertEqual("architectures" in p, fmt == "oci")
            for rule in p["syscalls"]:
                self.assertTrue(rule["names"])
                self.assertEqual(rule["action"] == "SCMP_ACT_ERRNO", "errnoRet" in rule)
                for arg in rule.get("args", []):
                    # jq and JavaScript hold numbers as doubles; larger ones would be rounded.
                    self.assertLess(arg["value"], 1 << 53)
                    self.assertLess(arg.get("valueTwo", 0), 1 << 53)
                    self.assertEqual(arg["op"] == "SCMP_CMP_MASKED_EQ", "valueTwo" in arg)


if __name__ == "__main__":
    SLUICECTL = sys.argv.pop(1)
    unittest.main()
