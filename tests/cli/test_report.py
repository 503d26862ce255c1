# SPDX-License-Identifier: BSD-3-Clause
"""sextant report and machine, and the additions to explain that the page shows."""
import os
import re
import signal
import subprocess
import time
import unittest

from support import BAD_INPUT, BINARY, NOT_SOLVED, USAGE, CommandTest, chain, grid


class Report(CommandTest):
    def test_one_file_that_needs_nothing(self):
        matrix = self.file("a.mtx", grid(9))
        result = self.run_command("report", matrix, "--generate", "banded", "--n", "500", "--title", "a < b", "--device", "cpu",
                                  "-o", self.path("r.html"))  # fmt: skip
        self.assertIn("6 results", result.stdout)
        with open(self.path("r.html"), encoding="utf-8") as file:
            text = file.read()
        self.assertLessEqual(len(text), 900_000)
        self.assertIn("a &lt; b", text)
        self.assertNotIn("<form", text)
        self.assertNotIn("@", re.sub(r"@media|@import|[\w.]+@[\w.]+", "", re.sub(r"<script.*?</script>", "", text, flags=re.S)))
        for view in ("machine", "choice", "generate"):
            section = text.split(f'<section id="{view}"')[1].split("</section>")[0]
            self.assertIn("<svg", section, view)
            self.assertIn("<code>sextant ", section, view)
        self.assertIn("Nothing of this was measured.", text.split('<section id="model"')[1].split("</section>")[0])
        for fetched in ('src="', "url(", "@import", 'href="http'):
            self.assertNotIn(fetched, re.sub(r"<script nonce.*?</script>", "", text, flags=re.S))

    def test_a_matrix_that_is_none_stands_in_its_place(self):
        matrix = self.file("bad.mtx", "nothing\n")
        result = self.run_command("report", matrix, "--generate", "", "--device", "cpu", "-o", self.path("r.html"), expect=BAD_INPUT)
        self.assertIn("bad.mtx", result.stderr)
        with open(self.path("r.html"), encoding="utf-8") as file:
            self.assertIn('class="error"', file.read())
        self.assert_fails("report", expect=USAGE, says="--output")
        self.assert_fails("report", "-o", self.path("no/r.html"), expect=BAD_INPUT, says="no/r.html")

    def child_of(self, process):
        """The command line of the command that runs."""
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            children = file.read().split()
        try:
            with open(f"/proc/{children[0]}/cmdline", encoding="utf-8") as file:
                return file.read()
        except (IndexError, FileNotFoundError, ProcessLookupError):
            return ""

    def test_ctrl_c_reaches_the_command_that_runs_and_nothing_is_left(self):
        os.mkdir(self.path("tmp"))
        self.environment["TMPDIR"] = self.path("tmp")
        with subprocess.Popen([BINARY, "report", "--generate", "stencil-3d", "--n", "2000000", "--device", "cpu", "-o", self.path("r.html")],
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # fmt: skip
            while "verify-model" not in self.child_of(process):  # the one that lasts
                self.assertIsNone(process.poll())
                time.sleep(0.05)
            start = time.monotonic()
            for _ in range(2):
                process.send_signal(signal.SIGINT)
                time.sleep(0.2)
            _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, NOT_SOLVED, err)
        self.assertIn("no report was written", err)
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual((os.listdir(self.path("tmp")), os.path.exists(self.path("r.html"))), ([], False))


class Machine(CommandTest):
    def test_facts_and_ceilings(self):
        report, _ = self.run_json("machine", "--device", "cpu")
        self.assertIsNone(report["profile"])
        self.assertGreater(report["kernels"], 10)
        self.assertNotIn("measured", report)
        report, _ = self.run_json("machine", "--measure", "--n", "5000", "--device", "cpu", "--events", self.path("events"))
        measured = report["measured"]
        self.assertGreater(measured["memory_bytes_per_s"], 1e8)
        self.assertEqual(len({p["matrix"] for p in measured["products"]}), 3)
        self.assertEqual(sum(p["chosen"] for p in measured["products"]), 3)
        with open(self.path("events"), encoding="ascii") as file:
            self.assertEqual(file.read().count('"point"'), 2 * len(measured["products"]))
        text = self.run_command("machine", "--device", "cpu").stdout
        self.assertIn("sextant calibrate", text)
        for option in (("--n", "5000"), ("--events", self.path("events"))):
            self.assert_fails("machine", *option, expect=USAGE, says=[option[0], "--measure"])


class Pattern(CommandTest):
    def test_where_entries_lie_and_how_long_rows_are(self):
        report, _ = self.run_json("explain", self.file("a.mtx", chain(4)), "--op", "spmv", "--pattern")
        self.assertEqual(report["pattern"], {"cells": ["9900", "9990", "0999", "0099"], "densest": 1, "row_lengths": [[0, 0, 0], [1, 1, 0], [2, 3, 4]]})
        report, _ = self.run_json("explain", "--generate", "stencil-2d", "--n", "900", "--op", "spmv", "--pattern")
        self.assertEqual(report["matrix"]["rows"], 900)
        self.assertEqual({len(line) for line in report["pattern"]["cells"]}, {64})
        self.assertEqual(sum(rows for _, _, rows in report["pattern"]["row_lengths"]), 900)
        self.assert_fails("explain", self.path("a.mtx"), "--generate", "banded", expect=USAGE, says="one matrix")
        self.assert_fails("explain", self.path("a.mtx"), "--pattern", expect=USAGE, says="--json")
        self.assert_fails("explain", self.path("a.mtx"), "--n", "5", expect=USAGE, says=["--n", "--generate"])

    def test_the_plan_says_what_the_model_sees(self):
        report, _ = self.run_json("explain", self.path("a.mtx") if os.path.exists(self.path("a.mtx")) else self.file("a.mtx", grid(6)), "--op", "spmv")
        model = report["plan"][0]["model"]
        self.assertEqual((model["vector_type"], model["matrix_type"]), ("f64", "f64"))
        self.assertTrue(model["terms"])
        for term in model["terms"]:
            self.assertGreaterEqual(term["count"], 0)


if __name__ == "__main__":
    unittest.main()
