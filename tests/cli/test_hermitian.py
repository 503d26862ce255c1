# SPDX-License-Identifier: BSD-3-Clause
"""sextant hermitian and sextant bench hermitian: answers for each system, exit codes, rows that belong together."""
import pathlib
import unittest

from support import BAD_INPUT, DONE, NOT_SOLVED, USAGE, CommandTest, coordinate, grid

DEFINITE = coordinate(2, 2, [(1, 1, 4.0), (2, 1, 1.0), (2, 2, 3.0)], "symmetric")
INDEFINITE = coordinate(2, 2, [(1, 1, 1.0), (2, 1, 2.0), (2, 2, 1.0)], "symmetric")


class Hermitian(CommandTest):
    def test_a_set_of_mixed_orders(self):
        answer, _ = self.run_json("hermitian", self.file("a.mtx", DEFINITE), self.file("b.mtx", INDEFINITE),
                                  self.file("c.mtx", grid(5)), "--device", "cpu")
        self.assertEqual([system["order"] for system in answer["systems"]], [2, 2, 25])
        self.assertEqual([system["info"] for system in answer["systems"]], [0, 0, 0])
        self.assertEqual([system["inertia"] for system in answer["systems"]], [[2, 0, 0], [1, 1, 0], [25, 0, 0]])
        for system in answer["systems"]:
            self.assertLess(system["residual"], 1e-15)
            self.assertGreater(system["rcond"], 0.01)

    def test_one_that_fails_is_named_and_the_others_are_solved(self):
        result = self.run_command("hermitian", self.file("a.mtx", DEFINITE), self.file("b.mtx", INDEFINITE),
                                  "--definiteness", "definite", "--device", "cpu", expect=NOT_SOLVED)
        self.assertIn("leading minor 2", result.stdout)
        self.assertIn("done", result.stdout)
        answer, _ = self.run_json("hermitian", self.file("b.mtx", INDEFINITE), "--definiteness", "definite", "--shift",
                                  "0,0.5,2", "--device", "cpu")
        self.assertEqual(answer["systems"][0]["shift"], 2)

    def test_bad_input(self):
        skew = coordinate(2, 2, [(1, 2, 1.0), (2, 1, 5.0)])
        self.run_command("hermitian", self.file("s.mtx", skew), "--device", "cpu", expect=NOT_SOLVED)
        self.run_command("hermitian", expect=USAGE)
        # The header's promise about the diagonal is checked, too.
        for symmetry in ("general", "hermitian"):
            text = f"%%MatrixMarket matrix coordinate complex {symmetry}\n2 2 2\n1 1 2 0\n2 2 3 1\n"
            self.assert_fails("hermitian", self.file("d.mtx", text), "--device", "cpu", expect=NOT_SOLVED,
                              says=["d.mtx", "(2, 2)", "not real"])  # fmt: skip
        self.run_command("bench", "hermitian", "--type", "f16", expect=USAGE)

    def test_bench(self):
        report, _ = self.run_json("bench", "hermitian", "--n", "6,12", "--systems", "20", "--repeat", "2", "--type", "f64")
        self.assertEqual({row["n"] for row in report["rows"]}, {6, 12})
        self.assertIn("choice", {row["kernel"] for row in report["rows"]})
        for row in report["rows"]:
            self.assertEqual(row["suite"], "hermitian")
            self.assertGreater(row["seconds"], 0)
            self.assertLess(row["backward_error"], 1e-14)
            if row["peer"]:
                self.assertAlmostEqual(row["ratio"], row["peer_seconds"] / row["seconds"], delta=1e-9 * row["ratio"])
        self.assertEqual({row["phase"] for row in report["rows"]}, {"factor", "solve", "factor-solve"})
        self.run_command("bench", "hermitian", "--n", "5", "--systems", "9", "--repeat", "1", "--phase", "solve", expect=DONE)

    def test_bench_next_to_one_cpu_thread(self):
        report, _ = self.run_json("bench", "hermitian", "--n", "30", "--systems", "50", "--repeat", "1", "--type", "f64",
                                  "--cpu-thread")  # fmt: skip
        self.assertEqual({row["phase"] for row in report["rows"]}, {"factor", "solve", "factor-solve"})
        for row in report["rows"]:
            self.assertGreater(row["cpu_thread_seconds"], 0)
            ratio = row["cpu_thread_seconds"] / row["seconds"]
            self.assertAlmostEqual(row["cpu_thread_ratio"], ratio, delta=1e-9 * ratio)

    def test_bench_of_predictions(self):
        report, _ = self.run_json("bench", "hermitian", "--n", "6,12", "--systems", "20,30", "--repeat", "2", "--type", "f64",
                                  "--phase", "factor", "--predictions")  # fmt: skip
        self.assertEqual({(row["n"], row["systems"]) for row in report["rows"]}, {(n, s) for n in (6, 12) for s in (20, 30)})
        self.assertEqual({row["kernel"] for row in report["rows"]}, {"choice"})
        self.assertEqual(sum(each["points"] for each in report["predictions"]), 4)
        for each in report["predictions"]:
            rows = [row for row in report["rows"] if row["chosen"] == each["kernel"]]
            self.assertEqual(len(rows), each["points"])
            self.assertLessEqual(each["median_error"], each["p90_error"])
        result = self.run_command("bench", "hermitian", "--n", "5", "--systems", "9", "--repeat", "1", "--predictions", expect=DONE)
        self.assertIn("at the median", result.stdout)

    # A sweep ends in time, and names what it had to leave out.
    def test_bench_sweep_ends_in_time(self):
        result = self.run_command("bench", "hermitian", "--device", "cpu", "--sweep", "--systems", "9", "--repeat", "1", "--phase",
                                  "factor", "--seconds", "0.3")  # fmt: skip
        self.assertIn("larger ones are left out", result.stderr)
        self.assertIn("against neighbours", result.stdout)

    def test_bench_sweep(self):
        drawing = self.path("sweep.svg")
        report, _ = self.run_json("bench", "hermitian", "--n", "8,16,24", "--systems", "30", "--repeat", "1", "--sweep",
                                  "--phase", "factor", "--svg", drawing)  # fmt: skip
        self.assertEqual([point["n"] for point in report["sweep"]], [8, 16, 24])
        rates = [point["flops_per_s"] for point in report["sweep"]]
        middle = report["sweep"][1]["to_neighbours"]
        self.assertAlmostEqual(middle, 2 * rates[1] / (rates[0] + rates[2]), delta=1e-9 * middle)
        self.assertIn("against neighbours", report["verdict"])
        self.assertIn("<svg", pathlib.Path(drawing).read_text())

    def test_bench_of_other_sets(self):
        report, _ = self.run_json("bench", "hermitian", "--mixed", "4,9", "--systems", "40", "--repeat", "1", "--phase",
                                  "factor", "--definiteness", "definite,indefinite", "--type", "f64")  # fmt: skip
        self.assertEqual({row["definiteness"] for row in report["rows"]}, {"definite", "indefinite"})
        self.assertTrue(any("4..9" in row["case"] for row in report["rows"]))
        report, _ = self.run_json("bench", "hermitian", "--structure", "toeplitz", "--shortcuts", "toeplitz,always", "--n",
                                  "40", "--systems", "10", "--repeat", "1", "--phase", "factor-solve")  # fmt: skip
        chosen = {row["kernel"]: row["chosen"] for row in report["rows"]}
        self.assertEqual(chosen["choice"], "hermitian_toeplitz.recursion.cpu")
        self.run_command("bench", "hermitian", "--mixed", "9,4", expect=USAGE)

    def test_bench_refuses_what_would_do_nothing(self):
        for words, says in ((["--kernel", "nosuch"], "nosuch"), (["--svg", self.path("s.svg")], "--sweep"),
                            (["--mixed", "4,9", "--n", "8"], "--n"), (["--mixed", "4,9", "--systems", "3,4"], "--systems"),
                            (["--mixed", "4,9", "--sweep"], "--sweep"), (["--seconds", "nan"], "--seconds")):  # fmt: skip
            with self.subTest(words=words):
                self.assert_fails("bench", "hermitian", *words, expect=USAGE, says=says)
        self.assert_fails("bench", "hermitian", "--markdown", self.path("nodir/x.txt"), expect=BAD_INPUT, says="nodir/x.txt")

    def test_bench_compares_with_the_definite_set_of_as_many_systems(self):
        result = self.run_command("bench", "hermitian", "--n", "16", "--systems", "4,4000", "--repeat", "3", "--type", "f64",
                                  "--phase", "factor", "--definiteness", "definite,indefinite")  # fmt: skip
        title, *lines = [line for line in result.stdout.splitlines() if "x definite" in line or "factor definite" in line]
        self.assertIn("x definite", title)
        self.assertEqual([line.split()[-1] for line in lines if "*" in line], ["1.00", "1.00"])
        # The larger set comes last of the definite ones: by its time the smaller would be a small fraction.
        smaller = next(line for line in result.stdout.splitlines() if "factor indefinite" in line and line.split()[1] == "4")
        self.assertGreater(float(smaller.split()[-1]), 0.1)


if __name__ == "__main__":
    unittest.main()
