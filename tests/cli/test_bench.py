# SPDX-License-Identifier: BSD-3-Clause
"""sextant bench: rows for every kernel that applies, and numbers that belong together."""
import os
import unittest

from support import BAD_INPUT, DATA, NOT_SOLVED, USAGE, CommandTest, coordinate, grid

ROW_KEYS = ("suite", "case", "kernel", "seconds", "peer", "peer_seconds", "ratio", "gb_per_s", "bound_fraction",
            "predicted_seconds", "spread", "setup_seconds")


class Bench(CommandTest):
    def rows(self, suite, *arguments):
        report, messages = self.run_json("bench", suite, "--repeat", "3", *arguments)
        self.assertNotIn("differs from", messages)
        self.assertGreater(len(report["rows"]), 0)
        for row in report["rows"]:
            self.assert_keys(row, ROW_KEYS)
            self.assertEqual((row["suite"], row["peer"]), (suite, "textbook"))
            self.assertGreater(row["seconds"], 0)
            self.assertAlmostEqual(row["ratio"], row["peer_seconds"] / row["seconds"], delta=1e-9 * row["ratio"])
            self.assertLessEqual(row["result_error"], 1e-8)
        return report["rows"]

    def kernels(self, kind):
        """The loaded kernels, and the library's own choice."""
        report, _ = self.run_json("plugins")
        return {"choice"} | {k["name"] for p in report["plugins"] for k in p["kernels"] if k["kind"] == kind and k["device"] == "cpu"}

    def test_spmv_measures_every_kernel(self):
        report, _ = self.run_json("bench", "spmv", "--repeat", "1", self.file("a.mtx", grid(12)))
        measured = {row["kernel"] for row in report["rows"]}
        left_out = {skipped["kernel"] for skipped in report["skipped"]}
        self.assertEqual(measured | left_out, self.kernels("sxt.spmv/1"))
        self.assertFalse(measured & left_out)
        self.assertEqual({row["case"] for row in report["rows"]}, {"a.mtx"})

    def test_spmv_generates_matrices(self):
        rows = self.rows("spmv", "--n", "400")
        self.assertEqual({row["case"] for row in rows},
                         {"stencil-2d-5pt-20x20", "stencil-3d-7pt-7x7x7", "banded-41-400", "power-law-400"})

    def test_rectangular_matrix(self):
        matrix = self.file("a.mtx", coordinate(2, 3, [(1, 1, 1.0), (2, 3, 1.0)]))
        self.rows("spmv", matrix)
        self.assert_fails("bench", "pcg", matrix, expect=NOT_SOLVED, says="square")

    def test_vector(self):
        rows = self.rows("vector", "--n", "64,1000")
        self.assertEqual({row["n"] for row in rows}, {64, 1000})
        self.assertLessEqual({"axpy n=64", "gather n=1000", "multiply n=64"}, {row["case"] for row in rows})

    def test_reduction(self):
        rows = self.rows("reduction", "--n", "1000")
        self.assertLessEqual({"dot n=1000", "nrm2 n=1000", "iamax n=1000"}, {row["case"] for row in rows})

    def test_cholesky(self):
        matrix = self.file("a.mtx", grid(12))
        for phase in ("analysis", "factor", "solve"):
            with self.subTest(phase=phase):
                rows = self.rows("cholesky", matrix, "--phase", phase, "--n-rhs", "3")
                self.assertIn("choice", {row["kernel"] for row in rows})
                for row in rows:
                    self.assertGreaterEqual(row["nnz_l"], 144 + 264)  # of A's lower triangle
                    self.assertEqual(row["n_rhs"], 3)
        self.assertIn("cholesky.tasks.cpu", {row["kernel"] for row in rows})
        self.assert_fails("bench", "cholesky", matrix, "--device", "cuda", expect=USAGE, says="gpu_cholesky_tables")
        self.assert_fails("bench", "cholesky", matrix, "--phase", "solving", expect=USAGE, says="solve")

    def test_dispatch(self):
        rows = self.rows_of_dispatch("--repeat", "3")
        self.assertEqual({row["case"] for row in rows}, {"sxt_dot", "sxt_kernel_run dot", "sxt_axpy", "sxt_spmv"})
        for row in rows:
            self.assertEqual(row["peer"], "table")
            # The difference of the two is reported, of either sign on a busy machine.
            self.assertAlmostEqual(row["overhead_ns"], (row["seconds"] - row["peer_seconds"]) * 1e9, delta=1e-3)
            self.assertLess(row["overhead_ns"], 1e5)

    def rows_of_dispatch(self, *arguments):
        report, _ = self.run_json("bench", "dispatch", *arguments)
        return report["rows"]

    def test_pcg(self):
        rows = self.rows("pcg", self.file("a.mtx", grid(12)))
        self.assertEqual({row["recurrence"] for row in rows}, {"auto", "classical", "chronopoulos-gear", "predict-recompute"})
        for row in rows:
            self.assertEqual(row["reason"], "converged")
            self.assertLessEqual(abs(row["iterations"] - row["peer_iterations"]), 5)

    def test_text(self):
        result = self.run_command("bench", "spmv", os.path.join(DATA, "bcsstk16.mtx.gz"), "--repeat", "3")
        title = result.stdout.splitlines()[0]
        for word in ("case", "kernel", "time", "spread", "GB/s", "pred/meas", "textbook", "ratio"):
            self.assertIn(word, title)

    def test_the_choice_is_one_of_the_kernels(self):
        rows = self.rows("spmv", self.file("a.mtx", grid(12)))
        chosen = {row["kernel"]: row["chosen"] for row in rows}
        self.assertIn(chosen.pop("choice"), chosen)
        self.assertTrue(all(kernel == name for kernel, name in chosen.items()))

    def test_unsuitable_matrices_among_others_are_left_out(self):
        wide = self.file("wide.mtx", coordinate(2, 3, [(1, 1, 1.0), (2, 3, 1.0)]))
        report, messages = self.run_json("bench", "pcg", "--repeat", "1", wide, self.file("a.mtx", grid(5)))
        self.assertEqual({row["case"] for row in report["rows"]}, {"a.mtx"})
        self.assertIn("wide.mtx", messages)
        self.assert_fails("bench", "pcg", wide, wide, expect=NOT_SOLVED, says="all 2 matrices were left out")
        self.assertIn(wide, [skipped["case"] for skipped in report["skipped"]])

    def test_an_unreadable_file_is_named_and_the_others_are_measured(self):
        for suite in ("spmv", "pcg", "cholesky"):
            with self.subTest(suite=suite):
                report, messages = self.run_json("bench", suite, "--repeat", "1", "no.mtx", self.file("a.mtx", grid(5)),
                                                 expect=BAD_INPUT)
                self.assertEqual({row["case"] for row in report["rows"]}, {"a.mtx"})
                self.assertEqual([(each["path"], each["unreadable"]) for each in report["left_out"]], [("no.mtx", True)])
                self.assertIn("no.mtx", messages)
        self.assert_fails("bench", "spmv", "no.mtx", "nor.mtx", expect=BAD_INPUT, says=["no.mtx", "all 2 matrices were left out"])

    def test_suites_for_gpus_refuse_unknown_devices_and_options_without_one(self):
        for suite in ("spmv", "vector", "reduction", "dispatch"):
            self.assert_fails("bench", suite, "--device", "nowhere", expect=USAGE, says="nowhere")
        for suite in ("vector", "reduction"):
            self.assert_fails("bench", suite, "--op", "sum", expect=USAGE, says="--device cuda")
            self.assert_fails("bench", suite, "--device", "cuda", "--op", "sun", expect=USAGE, says=["sun", "known: "])
        for words in (["--plans"], ["--plans", "--plan-seconds", "1"], ["--engines", "pcg.graph.cuda"]):
            self.assert_fails("bench", "pcg", *words, expect=USAGE, says="--device cuda")
        self.assert_fails("bench", "pcg", "--max-iterations", "99999999999999999999", expect=USAGE, says="whole number")
        self.assert_fails("bench", "spmv", "--triad", "nan", expect=USAGE, says=["--triad", "nan is not"])
        for words in (["dispatch", "--triad", "10"], ["dispatch", "--peers"], ["pcg", "--tune-peers"]):
            self.assert_fails("bench", *words, expect=USAGE, says=words[1])

    def test_cases_of_one_name_are_told_apart(self):
        os.mkdir(self.path("b"))
        first, second = self.file("a.mtx", grid(5)), self.file("b/a.mtx", grid(8))
        report, _ = self.run_json("bench", "spmv", "--repeat", "1", first, second, second)
        self.assertEqual({row["case"]: row["rows"] for row in report["rows"]}, {first: 25, second: 64, second + " (2)": 64})
        self.assertEqual({line["cases"] for line in report["summary"]}, {3})
        report, _ = self.run_json("bench", "spmv", "--repeat", "1", "--generate", "stencil-2d", "--n", "100,101")
        self.assertEqual(len({row["case"] for row in report["rows"]}), 2)
        report, _ = self.run_json("bench", "reduction", "--repeat", "1", "--n", "64,64")
        self.assertIn("dot n=64 (2)", {row["case"] for row in report["rows"]})


if __name__ == "__main__":
    unittest.main()
