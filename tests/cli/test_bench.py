# SPDX-License-Identifier: BSD-3-Clause
"""sextant bench: rows for every kernel that applies, and numbers that belong together."""
import os
import unittest

from support import DATA, NOT_SOLVED, USAGE, CommandTest, coordinate, grid

ROW_KEYS = ("suite", "case", "kernel", "seconds", "peer", "peer_seconds", "ratio", "gb_per_s", "predicted_seconds", "spread")


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
        report, _ = self.run_json("plugins")
        return {k["name"] for p in report["plugins"] for k in p["kernels"] if k["kind"] == kind and k["device"] == "cpu"}

    def test_spmv_measures_every_kernel(self):
        rows = self.rows("spmv", self.file("a.mtx", grid(12)))
        self.assertEqual({row["kernel"] for row in rows}, self.kernels("sxt.spmv/1"))
        self.assertEqual({row["case"] for row in rows}, {"a.mtx"})

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

    def test_pcg(self):
        rows = self.rows("pcg", self.file("a.mtx", grid(12)))
        self.assertEqual({row["recurrence"] for row in rows}, {"classical", "chronopoulos-gear", "predict-recompute"})
        for row in rows:
            self.assertEqual(row["reason"], "converged")
            self.assertLessEqual(abs(row["iterations"] - row["peer_iterations"]), 5)

    def test_text(self):
        result = self.run_command("bench", "spmv", os.path.join(DATA, "bcsstk16.mtx.gz"), "--repeat", "3")
        title = result.stdout.splitlines()[0]
        for word in ("case", "kernel", "time", "spread", "GB/s", "pred/meas", "textbook", "ratio"):
            self.assertIn(word, title)

    def test_peers_says_what_it_compares_with(self):
        result = self.run_command("bench", "reduction", "--n", "100", "--repeat", "1", "--peers", "--json")
        self.assertIn("textbook", result.stderr)

    def test_other_devices_are_refused(self):
        self.assert_fails("bench", "vector", "--device", "cuda", expect=USAGE, says="CPU")


if __name__ == "__main__":
    unittest.main()
