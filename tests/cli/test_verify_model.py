# SPDX-License-Identifier: BSD-3-Clause
"""sextant verify-model: the keys of its JSON, its text for people, and its refusals."""
import unittest

from support import BAD_INPUT, USAGE, CommandTest, grid

KEYS = ("kernels", "median_relative_error", "p90_relative_error", "top1_accuracy", "regret_geomean", "regret_p95",
        "regret_max", "within_error_bars", "kept_regret_geomean", "kept_regret_max", "races", "matrices", "left_out")
QUICK = ("--device", "cpu", "--seconds", "0.001")  # kernels are expected by name


class VerifyModel(CommandTest):
    def test_json(self):
        report, _ = self.run_json("verify-model", self.file("a.mtx", grid(12)), self.file("b.mtx", grid(9)),
                                  "--types", "f64,f32", "--applies", "50", *QUICK)
        self.assert_keys(report, KEYS)
        self.assertEqual([each["value_type"] for each in report["matrices"]], ["f64", "f32", "f64", "f32"])
        self.assertEqual([each["rows"] for each in report["matrices"]], [144, 144, 81, 81])
        for each in report["matrices"]:
            self.assertEqual(sum(line["chosen"] for line in each["candidates"]), 1)
            self.assertGreaterEqual(each["regret"], 1)
            self.assertGreater(each["kept_select_s"], 0)
        self.assertTrue(0 <= report["within_error_bars"] <= 1)
        self.assertIn("spmv.csr.rows.cpu", [each["kernel"] for each in report["kernels"]])
        self.assertGreaterEqual(report["regret_p95"], 1)
        self.assertLessEqual(report["regret_geomean"], report["regret_max"])
        self.assertLessEqual(report["median_relative_error"], report["p90_relative_error"])

    def test_text(self):
        result = self.run_command("verify-model", self.file("a.mtx", grid(12)), *QUICK)
        for words in ("predicted", "measured", "spmv.csr.rows.cpu", "median error", "regret", "repeat noise", "within the error bars"):
            self.assertIn(words, result.stdout)

    def test_drawing(self):
        report, _ = self.run_json("verify-model", self.file("a.mtx", grid(12)), "--svg", self.path("v.svg"), *QUICK)
        labels, _ = self.assert_drawing("v.svg")
        for words in ("measured run (s)", "predicted run (s)", "equal, and 20 % more and less"):
            self.assertIn(words, labels)
        # Every kernel with a model is in the legend.
        for candidate in report["matrices"][0]["candidates"]:
            if candidate["predicted_run_s"]:
                self.assertTrue(any(label.startswith(candidate["kernel"]) for label in labels), candidate["kernel"])
        # Checked before the work: nothing is measured for a file that cannot be made.
        self.assert_fails("verify-model", self.path("a.mtx"), "--svg", self.path("no/v.svg"), expect=BAD_INPUT, says="no/v.svg")

    def test_generated_matrices(self):
        report, _ = self.run_json("verify-model", "--generate", "stencil-2d,power-law", "--n", "100,400", "--types", "f32",
                                  *QUICK)
        self.assertEqual([(each["path"], each["rows"], each["value_type"]) for each in report["matrices"]],
                         [("stencil-2d-5pt-10x10", 100, "f32"), ("stencil-2d-5pt-20x20", 400, "f32"),
                          ("power-law-100", 100, "f32"), ("power-law-400", 400, "f32")])
        self.assert_fails("verify-model", "--generate", "stencil-4d", expect=USAGE, says=["stencil-4d", "stencil-3d"])

    def test_an_unreadable_file_is_named_and_the_others_are_measured(self):
        broken = self.file("broken.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 5\n1 1 1\n")
        report, messages = self.run_json("verify-model", self.file("a.mtx", grid(12)), "no.mtx", broken,
                                         self.file("b.mtx", grid(9)), *QUICK, expect=BAD_INPUT)
        self.assertEqual([each["rows"] for each in report["matrices"]], [144, 81])
        self.assertEqual([(each["path"], each["unreadable"]) for each in report["left_out"]], [("no.mtx", True), (broken, True)])
        for name in ("no.mtx", "broken.mtx"):
            self.assertIn(name, messages)
        whole, _ = self.run_json("verify-model", self.path("a.mtx"), *QUICK)
        self.assertEqual(whole["left_out"], [])

    def test_refusals(self):
        self.run_command("verify-model", expect=USAGE)
        self.run_command("verify-model", "no.mtx", expect=BAD_INPUT)
        self.assert_fails("verify-model", "no.mtx", "nor.mtx", expect=BAD_INPUT, says=["no.mtx", "nor.mtx", "all 2 matrices"])
        self.run_command("verify-model", self.file("a.mtx", grid(3)), "--types", "i8", expect=USAGE)
        self.assert_fails("verify-model", self.path("a.mtx"), "--n", "100", expect=USAGE, says="--n needs --generate")
        self.assert_fails("verify-model", self.path("a.mtx"), "--seconds", "nan", expect=USAGE, says="--seconds")
        # A list of types ends where the files begin.
        report, _ = self.run_json("verify-model", "--types", "f64,f32", self.path("a.mtx"), *QUICK)
        self.assertEqual(len(report["matrices"]), 2)


if __name__ == "__main__":
    unittest.main()
