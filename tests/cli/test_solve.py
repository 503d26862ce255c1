# SPDX-License-Identifier: BSD-3-Clause
"""sextant solve: the report, its JSON, its files, and how a solve that does not converge ends."""
import os
import resource
import signal
import unittest

from support import BAD_INPUT, DATA, NOT_SOLVED, USAGE, CommandTest, array, chain, coordinate, grid, read_array

SOLVE_KEYS = ("status", "reason", "iterations", "true_relative_residual", "method", "preconditioner", "format", "kernels",
              "residual_norm", "residual_bound", "rounding_limit", "predicted_seconds", "measured_seconds", "plan")


class Report(CommandTest):
    def test_text_report_on_stdout_only(self):
        result = self.run_command("solve", self.file("a.mtx", grid(12)))
        self.assertEqual(result.stderr, "")
        for line in ("matrix", "rhs", "method", "plan", "predicted", "measured", "result", "residual"):
            self.assertRegex(result.stdout, rf"(?m)^{line}\b")
        self.assertIn("144 x 144", result.stdout)
        self.assertIn("random", result.stdout)
        self.assertIn("converged", result.stdout)

    def test_what_is_wanted_counts_the_absolute_tolerance(self):
        # b = A * ones = (3, 3): 0.3 of its norm.
        matrix = self.file("a.mtx", coordinate(2, 2, [(1, 1, 2.0), (2, 1, 1.0), (2, 2, 2.0)], "symmetric"))
        result = self.run_command("solve", matrix, "--rhs-ones", "--atol", str(0.3 * 18**0.5))
        self.assertIn("wanted 3.0e-01", result.stdout)

    def test_json_report(self):
        report, messages = self.run_json("solve", self.file("a.mtx", grid(12)), "--rtol", "1e-10")
        self.assertEqual(messages, "")
        self.assert_keys(report, SOLVE_KEYS)
        self.assertEqual((report["status"], report["reason"], report["method"]), ("SXT_OK", "converged", "pcg"))
        self.assertLessEqual(report["true_relative_residual"], 1e-10)
        self.assertGreater(report["iterations"], 0)
        self.assertGreater(report["measured_seconds"], 0)
        self.assertGreater(report["predicted_seconds"], 0)
        for part in ("setup", "solve", "iteration", "residual"):
            self.assertGreater(report[f"predicted_{part}_seconds"], 0, part)
            self.assertGreater(report[f"measured_{part}_seconds"], 0, part)
        parts = report["iterations"] * report["measured_iteration_seconds"]
        parts += report["confirmations"] * report["measured_residual_seconds"]
        self.assertLessEqual(parts, 1.001 * report["measured_solve_seconds"])
        self.assertTrue(any(name.startswith("pcg.") for name in report["kernels"]), report["kernels"])
        self.assertTrue(any(name.startswith("spmv.") for name in report["kernels"]), report["kernels"])
        self.assertTrue(report["plan"])

    def test_real_matrix(self):
        report, _ = self.run_json("solve", os.path.join(DATA, "bcsstk16.mtx.gz"))
        self.assertEqual(report["reason"], "converged")
        self.assertEqual((report["matrix"]["rows"], report["matrix"]["nnz"]), (4884, 290378))
        self.assertLessEqual(report["true_relative_residual"], 1e-8)

    def test_verbose_gives_the_whole_explanation(self):
        matrix = self.file("a.mtx", grid(5))
        short = self.run_command("solve", matrix).stdout
        whole = self.run_command("solve", matrix, "--verbose").stdout
        self.assertIn("Candidates for", whole)
        self.assertNotIn("Candidates for", short)

    def test_choices_are_followed(self):
        matrix = self.file("a.mtx", grid(8))
        report, _ = self.run_json("solve", matrix, "--format", "coo", "--precond", "none", "--recurrence", "classical")
        self.assertEqual((report["format"], report["preconditioner"]), ("coo", "none"))
        self.assertEqual(report["recurrence"], "classical")
        report, _ = self.run_json("solve", matrix, "--format", "csr", "--precond", "jacobi")
        self.assertEqual((report["format"], report["preconditioner"]), ("csr", "jacobi"))
        engine = next(kernel for kernel in report["kernels"] if kernel.startswith("pcg."))
        self.assertIn(f".{report['recurrence']}.", engine)  # the choice's own

    def test_rows_are_renumbered_on_demand(self):
        matrix = self.file("a.mtx", grid(12))
        always, _ = self.run_json("solve", matrix, "--reorder", "always")
        self.assertRegex(" ".join(always["kernels"]), r"\bordering\.rcm\.(cpu|cuda)\b")
        self.assertLessEqual(always["true_relative_residual"], 1e-8)
        never, _ = self.run_json("solve", matrix, "--reorder", "never", "--expected-solves", "1e6")
        self.assertNotIn("ordering.rcm.", " ".join(never["kernels"]))
        explained, _ = self.run_json("explain", matrix, "--reorder", "always")
        self.assertRegex(explained["problem"]["order"], r"ordering\.rcm\.(cpu|cuda), bandwidth \d+ to \d+")
        self.assert_fails("solve", matrix, "--reorder", "sometimes", expect=USAGE, says=["--reorder"])

    def test_constants_are_left_out_of_a_semidefinite_system(self):
        entries = [(i, i, 1.0 if i in (1, 9) else 2.0) for i in range(1, 10)] + [(i + 1, i, -1.0) for i in range(1, 9)]
        matrix, rhs = self.file("a.mtx", coordinate(9, 9, entries, "symmetric")), self.file("b.mtx", array([9.0] + [0.0] * 8))
        report, _ = self.run_json("solve", matrix, "--rhs", rhs, "--null-space", "constant", "-o", self.path("x.mtx"))
        self.assertEqual(report["reason"], "converged")
        self.assertAlmostEqual(report["null_space_norm"], 3)
        self.assertAlmostEqual(sum(read_array(self.path("x.mtx"))), 0)
        self.run_json("solve", matrix, "--rhs", rhs, expect=NOT_SOLVED)
        self.assert_fails("solve", self.file("c.mtx", grid(3)), "--null-space", "constant", expect=USAGE, says=["null_space", "row"])

    def test_zero_right_hand_side_gives_zero(self):
        matrix, rhs = self.file("a.mtx", grid(3)), self.file("b.mtx", array([0.0] * 9))
        report, _ = self.run_json("solve", matrix, "--rhs", rhs, "-o", self.path("x.mtx"))
        self.assertEqual((report["reason"], report["iterations"]), ("converged", 0))
        self.assertEqual(read_array(self.path("x.mtx")), [0.0] * 9)


class RightHandSides(CommandTest):
    # A = [2 1; 1 3], b = (4, 7): x = (1, 2).
    MATRIX = coordinate(2, 2, [(1, 1, 2.0), (2, 1, 1.0), (2, 2, 3.0)], "symmetric")

    def solve_with(self, rhs):
        self.run_command("solve", self.file("a.mtx", self.MATRIX), "--rhs", self.file("b.mtx", rhs), "--rtol", "1e-14", "-o",
                         self.path("x.mtx"))
        for got, want in zip(read_array(self.path("x.mtx")), (1.0, 2.0), strict=True):
            self.assertAlmostEqual(got, want, delta=1e-12)

    def test_the_default_makes_no_system_trivial_and_is_the_same_every_time(self):
        # A mass matrix on a ring: A * ones = 6 * ones, an eigenvector, where one iteration ends it all.
        n = 200
        entries = [(i + 1, i + 1, 4.0) for i in range(n)]
        entries += [(max(i + 1, (i + 1) % n + 1), min(i + 1, (i + 1) % n + 1), 1.0) for i in range(n)]
        matrix = self.file("a.mtx", coordinate(n, n, entries, "symmetric"))
        report, _ = self.run_json("solve", matrix, "--method", "pcg", "--precond", "none", "--rhs-ones")
        self.assertEqual((report["rhs"], report["iterations"]), ("A * ones", 1))
        reports = [self.run_json("solve", matrix, "--method", "pcg", "--precond", "none", "--deterministic")[0] for _ in range(2)]
        self.assertGreater(reports[0]["iterations"], 5)
        self.assertEqual(reports[0]["rhs"], "random")
        for key in ("iterations", "rhs_norm", "residual_norm"):
            self.assertEqual(reports[0][key], reports[1][key])
        # Numbers in [-1, 1): their mean square is a third.
        self.assertAlmostEqual(reports[0]["rhs_norm"] ** 2 / n, 1 / 3, delta=0.1)

    def test_array(self):
        self.solve_with(array([4, 7]))

    def test_coordinate(self):
        self.solve_with(coordinate(2, 1, [(2, 1, 7.0), (1, 1, 4.0)]))

    def test_row(self):
        self.solve_with(coordinate(1, 2, [(1, 1, 4.0), (1, 2, 7.0)]))

    def test_complex_hermitian(self):
        # A = [2 i; -i 2], b = (2 + i, 2 - i): x = (1, 1).
        matrix = ("%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 2 0\n2 1 0 -1\n2 2 2 0\n")
        rhs = "%%MatrixMarket matrix array complex general\n2 1\n2 1\n2 -1\n"
        self.run_command("solve", self.file("a.mtx", matrix), "--rhs", self.file("b.mtx", rhs), "-o", self.path("x.mtx"))
        with open(self.path("x.mtx"), encoding="ascii") as file:
            banner, size, *lines = file.read().splitlines()
        self.assertEqual((banner, size), ("%%MatrixMarket matrix array complex general", "2 1"))
        for line in lines:
            real, imaginary = map(float, line.split())
            self.assertAlmostEqual(real, 1.0, delta=1e-7)
            self.assertAlmostEqual(imaginary, 0.0, delta=1e-7)


class Files(CommandTest):
    def test_solution_reads_back(self):
        matrix = self.file("a.mtx", grid(10))
        self.run_command("solve", matrix, "--rhs-ones", "--rtol", "1e-12", "-o", self.path("x.mtx"))
        self.assertLess(max(abs(value - 1) for value in read_array(self.path("x.mtx"))), 1e-9)
        # The file is a right-hand side that this command reads.
        self.run_command("solve", matrix, "--rhs", self.path("x.mtx"))

    def test_solution_keeps_the_bits(self):
        matrix = self.file("a.mtx", grid(6))
        for threads in "12":
            self.run_command("solve", matrix, "--deterministic", "--threads", threads, "-o", self.path(threads))
        self.assertEqual(read_array(self.path("1")), read_array(self.path("2")))

    def test_disk_full(self):
        self.assert_fails("solve", self.file("a.mtx", grid(3)), "-o", "/dev/full", expect=BAD_INPUT,
                          says=["/dev/full", "No space left on device"])
        # The device itself is still there: it was not replaced by a file.
        self.assertFalse(os.path.isfile("/dev/full"))

    def test_failed_write_leaves_the_old_file(self):
        def small_files_only():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        old = self.file("x.mtx", "old\n")
        result = self.run_command("solve", self.file("a.mtx", grid(20)), "-o", old, expect=BAD_INPUT,
                                  preexec_fn=small_files_only, restore_signals=False)
        self.assertIn("x.mtx: could not be written: File too large", result.stderr)
        with open(old, encoding="ascii") as file:
            self.assertEqual(file.read(), "old\n")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.mtx", "x.mtx"])

    def test_a_link_to_nothing_stays_a_link(self):
        os.symlink("target.mtx", self.path("link.mtx"))
        self.run_command("solve", self.file("a.mtx", grid(3)), "-o", self.path("link.mtx"))
        self.assertTrue(os.path.islink(self.path("link.mtx")))
        self.assertEqual(len(read_array(self.path("target.mtx"))), 9)
        os.symlink("loop.mtx", self.path("loop.mtx"))
        self.assert_fails("solve", self.path("a.mtx"), "-o", self.path("loop.mtx"), expect=BAD_INPUT, says="loop.mtx")

    def test_two_outputs_are_two_files(self):
        os.symlink("same", self.path("link"))
        for history in ("same", "./same", "link"):
            self.assert_fails("solve", self.file("a.mtx", grid(3)), "-o", self.path("same"), "--history", self.path(history),
                              expect=USAGE, says=["--output and --history", "same file"])  # fmt: skip
        self.run_command("solve", self.path("a.mtx"), "-o", "/dev/null", "--history", "/dev/null")

    def test_digits_are_the_shortest(self):
        self.run_command("solve", self.file("a.mtx", grid(10)), "-o", self.path("x.mtx"), "--history", self.path("h.csv"))
        with open(self.path("x.mtx"), encoding="ascii") as file:
            words = file.read().splitlines()[2:]
        with open(self.path("h.csv"), encoding="ascii") as file:
            words += [line.split(",")[1] for line in file.read().splitlines()[1:]]
        for word in words:
            self.assertLessEqual(len(word), len(repr(float(word))))

    def test_replaces_the_file_behind_a_link_and_keeps_its_mode(self):
        target = self.file("target.mtx", "old\n")
        os.chmod(target, 0o640)
        os.symlink(target, self.path("link.mtx"))
        self.run_command("solve", self.file("a.mtx", grid(3)), "-o", self.path("link.mtx"))
        self.assertTrue(os.path.islink(self.path("link.mtx")))
        self.assertEqual(len(read_array(target)), 9)
        self.assertEqual(os.stat(target).st_mode & 0o777, 0o640)

    def test_missing_folder_is_found_before_the_solve(self):
        for option in ("-o", "--history", "--save-plan"):
            self.assert_fails("solve", self.path("no-such.mtx"), option, self.path("nowhere/file"), expect=BAD_INPUT,
                              says=["nowhere/file", "No such file or directory"])

    def test_history(self):
        report, _ = self.run_json("solve", self.file("a.mtx", grid(10)), "--history", self.path("h.csv"))
        with open(self.path("h.csv"), encoding="ascii") as file:
            title, *lines = file.read().splitlines()
        self.assertEqual(title, "iteration,residual")
        self.assertEqual([int(line.split(",")[0]) for line in lines], list(range(len(lines))))
        self.assertGreaterEqual(len(lines), report["iterations"])
        self.assertLess(float(lines[-1].split(",")[1]), 1e-6 * float(lines[0].split(",")[1]))

    def test_plan_is_saved_and_followed(self):
        matrix = self.file("a.mtx", grid(12))
        first, _ = self.run_json("solve", matrix, "--emit-plan", self.path("plan.toml"))
        again, _ = self.run_json("solve", matrix, "--plan", self.path("plan.toml"), "--plan-required")
        self.assertEqual(again["kernels"], first["kernels"])
        self.assertEqual(again["probe_iterations"], 0)

    def test_plan_with_an_engine_by_name_is_required_with_it(self):
        matrix = self.file("a.mtx", grid(40))
        for engine in ("pcg.host-loop.classical.cpu", "pcg.host-loop.predict-recompute.cpu", "pcg.team.classical.cpu"):
            options = ("solve", matrix, "--device", "cpu", "--engine", engine)
            first, _ = self.run_json(*options, "--save-plan", self.path("plan.toml"))
            again, _ = self.run_json(*options, "--plan", self.path("plan.toml"), "--plan-required")
            self.assertEqual(again["kernels"], first["kernels"])


class NoSolution(CommandTest):
    """Exit code 4. JSON has all its keys, with the reason."""

    def test_iteration_limit(self):
        report, messages = self.run_json("solve", self.file("a.mtx", grid(20)), "--max-iterations", "3", "-o",
                                         self.path("x.mtx"), expect=NOT_SOLVED)
        self.assert_keys(report, SOLVE_KEYS)
        self.assertEqual((report["status"], report["reason"], report["iterations"]),
                         ("SXT_NOT_CONVERGED", "iteration-limit", 3))
        self.assertGreater(report["true_relative_residual"], 1e-8)
        self.assertIn("last good iterate", messages)
        self.assertEqual(len(read_array(self.path("x.mtx"))), 400)

    def test_time_limit(self):
        report, _ = self.run_json("solve", self.file("a.mtx", chain(100000)), "--time-limit", "0.1", expect=NOT_SOLVED)
        self.assertEqual(report["reason"], "time-limit")

    def test_indefinite(self):
        # Eigenvalues 3 and -1, positive diagonal; b = A (1, 1) would be an eigenvector, so another b.
        matrix = self.file("a.mtx", coordinate(2, 2, [(1, 1, 1.0), (2, 1, 2.0), (2, 2, 1.0)], "symmetric"))
        report, messages = self.run_json("solve", matrix, "--rhs", self.file("b.mtx", array([1, 0])), expect=NOT_SOLVED)
        self.assertEqual(report["reason"], "a-indefinite")
        self.assertIn("not positive definite", messages)

    def test_not_square_is_not_solvable(self):
        matrix = self.file("a.mtx", coordinate(2, 3, [(1, 1, 1.0), (2, 2, 1.0)]))
        self.assert_fails("solve", matrix, expect=NOT_SOLVED, says=["2", "3", "square"])
        report, _ = self.run_json("solve", matrix, expect=NOT_SOLVED)
        self.assert_keys(report, SOLVE_KEYS)
        self.assertEqual(report["status"], "SXT_E_NOT_SQUARE")
        self.assertIsNone(report["iterations"])
        whole, _ = self.run_json("solve", self.file("b.mtx", grid(3)))
        self.assertEqual(set(report) - {"error"}, set(whole))

    def test_not_symmetric(self):
        matrix = self.file("a.mtx", coordinate(2, 2, [(1, 1, 2.0), (1, 2, 1.0), (2, 2, 2.0)]))
        self.assert_fails("solve", matrix, expect=NOT_SOLVED, says="symmetric")

    def test_symmetric_but_for_rounding(self):
        def matrix(mirror):
            return self.file("a.mtx", coordinate(2, 2, [(1, 1, 2.0), (1, 2, 0.1), (2, 1, mirror), (2, 2, 2.0)]))
        self.assertIn("rounding", self.run_command("solve", matrix(0.10000000000000002)).stdout)
        near = matrix(0.10000001)
        self.assert_fails("solve", near, expect=NOT_SOLVED, says="0.10000001")
        self.run_command("solve", near, "--symmetry-tolerance", "1e-7")
        self.run_command("solve", near, "--assume-symmetric", "--rtol", "1e-6")
        self.run_command("explain", near, "--op", "pcg", "--symmetry-tolerance", "1e-7")
        self.assert_fails("solve", near, "--symmetry-tolerance", "-1", expect=USAGE, says="symmetry-tolerance")

    def test_far_from_one(self):
        for value in (4e-300, 1e300):
            matrix = self.file("a.mtx", coordinate(2, 2, [(1, 1, value), (2, 2, value)], "symmetric"))
            self.assertEqual(self.run_json("solve", matrix)[0]["reason"], "converged")

    def test_zero_diagonal(self):
        matrix = self.file("a.mtx", coordinate(2, 2, [(1, 1, 2.0), (2, 2, 0.0)]))
        self.assert_fails("solve", matrix, expect=NOT_SOLVED, says="diagonal")


if __name__ == "__main__":
    unittest.main()
