# SPDX-License-Identifier: BSD-3-Clause
"""sextant report, machine and model, and the additions to explain that the page shows."""
import os
import re
import subprocess
import sys
import unittest

from support import BAD_INPUT, NOT_SOLVED, USAGE, CommandTest, chain, grid

KERNEL = "spmv.csr.rows.cpu"


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

    def test_the_plan_says_what_the_model_sees(self):
        report, _ = self.run_json("explain", self.path("a.mtx") if os.path.exists(self.path("a.mtx")) else self.file("a.mtx", grid(6)), "--op", "spmv")
        model = report["plan"][0]["model"]
        self.assertEqual((model["vector_type"], model["matrix_type"]), ("f64", "f64"))
        self.assertTrue(model["terms"])
        for term in model["terms"]:
            self.assertGreaterEqual(term["count"], 0)


class Model(CommandTest):
    def build(self, *more):
        return self.run_json("model", KERNEL, "--device", "cpu", "--threads", "1", "--generate", "stencil-2d,banded,power-law", *more)[0]

    def test_a_model_from_suggested_points(self):
        report = self.build("--wanted", "10", "--events", self.path("events"), "-o", self.path("m.toml"))
        self.assertGreaterEqual(report["measured_points"], 8)
        self.assertLessEqual(report["measured_points"], report["set_points"])
        self.assertIn("below", report["stopped"])
        model = report["model"]
        self.assertEqual(model["samples"], report["measured_points"])
        self.assertEqual(len(model["coefficients"]), len(report["samples"][0]["terms"]))
        self.assertEqual(len(report["curve"]), report["measured_points"] - 3)
        with open(self.path("events"), encoding="ascii") as file:
            self.assertEqual(file.read().count('"run"'), 2 * report["measured_points"])
        with open(self.path("m.toml"), encoding="ascii") as file:
            self.assertEqual(file.read(), report["toml"])

    def test_c_and_python_say_what_the_fit_says(self):
        report = self.build("--points", "all", "--seconds", "20")
        self.assertEqual(report["measured_points"], report["set_points"])
        self.assertEqual(report["next"], [])
        samples = [(list(s["terms"].values()), s["working_set_bytes"], s["fitted_s"]) for s in report["samples"]]
        scope = {}
        exec(report["python"], scope)
        for terms, working_set, fitted in samples:
            self.assertAlmostEqual(scope["seconds"](terms, working_set) / fitted, 1, places=6)
        calls = "".join(f'  {{double t[] = {{{", ".join(map(repr, terms))}}}; printf("%.17g\\n", seconds(t, {working_set!r}));}}\n'
                        for terms, working_set, _ in samples)
        source = self.file("m.c", f"{report['c']}\n#include <stdio.h>\nint main(void) {{\n{calls}  return 0;\n}}\n")
        subprocess.run([os.environ["SEXTANT_CC"], "-Wall", "-Werror", source, "-o", self.path("m"), "-lm"], check=True, timeout=60)
        answers = subprocess.run([self.path("m")], check=True, capture_output=True, text=True, timeout=60).stdout.split()
        for answer, (_, _, fitted) in zip(answers, samples, strict=True):
            self.assertAlmostEqual(float(answer) / fitted, 1, places=6)

    def test_accepted_it_predicts_and_undone_it_does_not(self):
        profile = self.path("p.toml")
        self.run_command("calibrate", "--device", "cpu", "--threads", "1", "--kind", "sxt.reduction/1", "--seconds", "3", "-o", profile)
        with open(profile, encoding="ascii") as file:
            before = file.read()
        with_profile = ("--profile", profile)
        self.build("-o", self.path("m.toml"), *with_profile)
        self.run_command("model", "--accept", self.path("m.toml"), *with_profile, "--device", "cpu")
        with open(profile, encoding="ascii") as file:
            once = file.read()
        self.assertEqual(once.count(f'kernel = "{KERNEL}"'), 1)
        again = self.run_command("model", "--accept", self.path("m.toml"), *with_profile, "--device", "cpu").stdout
        self.assertIn("in the place of", again)
        with open(profile, encoding="ascii") as file:
            self.assertEqual(file.read().count(f'kernel = "{KERNEL}"'), 1)
        # The models in use are now the accepted one: what it says of its points is what was fitted.
        report = self.build("--points", "all", *with_profile)
        self.assertLess(report["before"]["median_relative_error"], 0.6)
        self.run_command("model", "--undo", *with_profile, "--device", "cpu")
        with open(profile, encoding="ascii") as file:
            self.assertEqual(file.read(), once)
        self.assert_fails("model", "--undo", *with_profile, "--device", "cpu", expect=BAD_INPUT, says="nothing to undo")
        self.assertNotEqual(before, once)

    def test_refusals(self):
        self.assert_fails("model", expect=USAGE, says="KERNEL")
        self.assert_fails("model", "spmv.csr.row.cpu", "--device", "cpu", expect=USAGE, says=f"'{KERNEL}'")
        self.assert_fails("model", "vector.loops.cpu", "--device", "cpu", expect=USAGE, says="sxt.vector/1")
        entry = self.file("m.toml", "[[models]]\nkernel = \"x\"\n")
        self.assert_fails("model", "--accept", entry, "--device", "cpu", expect=BAD_INPUT, says="calibrate")
        self.assert_fails("model", "--accept", self.path("none"), "--profile", self.path("none"), "--device", "cpu", expect=BAD_INPUT, says="none")


if __name__ == "__main__":
    unittest.main()
