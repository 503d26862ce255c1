# SPDX-License-Identifier: BSD-3-Clause
"""sextant solve --method cholesky: the report, its JSON, the solution, and matrices that have no such factor."""
import unittest

from support import DONE, NOT_SOLVED, USAGE, CommandTest, coordinate, grid, read_array

KEYS = ("status", "reason", "iterations", "comparison", "preconditioner", "method", "order", "kernels", "nnz_l", "flops", "factor_bytes", "measured_analysis_seconds",
        "predicted_factor_seconds", "measured_factor_seconds", "predicted_solve_seconds", "measured_solve_seconds",
        "corrections", "true_relative_residual", "residual_bound", "log_determinant", "plan", "rhs", "matrix")


class Cholesky(CommandTest):
    def test_text_report(self):
        result = self.run_command("solve", self.file("a.mtx", grid(12)), "--method", "cholesky")
        self.assertEqual(result.stderr, "")
        for line in ("matrix", "rhs", "method", "plan", "predicted", "measured", "residual"):
            self.assertRegex(result.stdout, rf"(?m)^{line}\b")

    def test_json_report_and_solution(self):
        x = self.path("x.mtx")
        report, messages = self.run_json("solve", self.file("a.mtx", grid(12)), "--method", "cholesky", "--rhs-ones", "-o", x)
        self.assertEqual(messages, "")
        self.assert_keys(report, KEYS)
        self.assertEqual((report["status"], report["method"]), ("SXT_OK", "cholesky"))
        self.assertLessEqual(report["true_relative_residual"], 1e-14)
        for value in read_array(x):
            self.assertAlmostEqual(value, 1, places=12)

    def test_factors_in_single_precision_solve_to_the_working_one(self):
        matrix = self.file("a.mtx", grid(12))
        report, messages = self.run_json("solve", matrix, "--method", "cholesky", "--factor-precision", "single")
        self.assertEqual(messages, "")
        self.assertEqual((report["status"], report["factor_type"], report["factor_repeated"]), ("SXT_OK", "f32", False))
        self.assertGreaterEqual(report["corrections"], 1)
        self.assertLessEqual(report["true_relative_residual"], 1e-14)
        whole, _ = self.run_json("solve", matrix, "--method", "cholesky")
        self.assertEqual((whole["factor_type"], whole["factor_bytes"]), ("f64", 2 * report["factor_bytes"]))
        text = self.run_command("solve", matrix, "--method", "cholesky", "--factor-precision", "single")
        self.assertIn("factor in f32, solution refined", text.stdout)
        self.assert_fails("solve", matrix, "--factor-precision", "single", expect=USAGE, says="--factor-precision need")

    def test_options_of_conjugate_gradients_are_refused(self):
        matrix = self.file("a.mtx", grid(3))
        for option in (("--precond", "jacobi"), ("--engine", "x"), ("--save-plan", "p.toml"), ("--history", "h.csv"),
                       ("--time-limit", "1"), ("--max-iterations", "5"), ("--null-space", "constant")):
            self.assert_fails("solve", matrix, "--method", "cholesky", *option, expect=USAGE, says=option[0])

    def test_the_tolerance_is_that_of_conjugate_gradients(self):
        matrix = self.file("a.mtx", grid(3))
        report, _ = self.run_json("solve", matrix, "--method", "cholesky", "--rtol", "0", "--atol", "1")
        self.assertEqual((report["status"], report["reason"]), ("SXT_OK", "converged"))
        report, _ = self.run_json("solve", matrix, "--method", "cholesky", "--rtol", "0", expect=NOT_SOLVED)
        self.assertEqual((report["status"], report["reason"]), ("SXT_NOT_CONVERGED", "stagnated"))

    def test_nothing_to_solve(self):
        self.run_command("solve", self.file("a.mtx", coordinate(0, 0, [], "symmetric")), "--method", "cholesky")

    def test_every_order(self):
        matrix = self.file("a.mtx", grid(9))
        for order in ("natural", "rcm", "amd", "grid", "dissection"):
            with self.subTest(order=order):
                report, _ = self.run_json("solve", matrix, "--method", "cholesky", "--order", order)
                self.assertEqual(report["order"], order)
                self.assertLessEqual(report["true_relative_residual"], 1e-14)

    def test_names_the_row_that_is_not_positive(self):
        matrix = self.file("a.mtx", coordinate(3, 3, [(1, 1, 2.0), (2, 2, -1.0), (3, 3, 2.0)], "symmetric"))
        self.assert_fails("solve", matrix, "--method", "cholesky", expect=NOT_SOLVED, says="row 2 (counting from 1)")

INDEFINITE = coordinate(3, 3, [(1, 1, 2.0), (2, 1, 3.0), (2, 2, 2.0), (3, 3, 2.0)], "symmetric")


class Auto(CommandTest):
    def solve(self, matrix, *options, expect=DONE):
        report, _ = self.run_json("solve", self.file("a.mtx", matrix), *options, expect=expect)
        return report

    def assert_chosen(self, report, method):
        self.assertEqual((report["method"], report["comparison"]["chosen"]), (method, method))

    def test_one_solve_of_a_small_system_needs_no_analysis(self):
        report = self.solve(grid(12))
        self.assert_chosen(report, "pcg")
        self.assertIsNone(report["comparison"]["cholesky_seconds"])
        self.assertIn("no direct solve: its analysis would take", report["comparison"]["why"])

    def test_many_solves_are_compared(self):
        report = self.solve(grid(30), "--expected-solves", "10000")
        comparison = report["comparison"]
        direct = comparison["cholesky_seconds"] < comparison["pcg_seconds"]
        self.assert_chosen(report, "cholesky" if direct else "pcg")
        self.assertGreater(comparison["cholesky_bytes"], 900 * 8)

    def test_a_direct_solve_wins_where_iterations_are_many(self):
        entries = [(i, i, 2.0 if i > 1 else 1.0 + 1e-9) for i in range(1, 3001)]
        entries += [(i + 1, i, -1.0) for i in range(1, 3000)]
        entries[2999] = (3000, 3000, 1.0)
        report = self.solve(coordinate(3000, 3000, entries, "symmetric"), "--rhs-ones", "--expected-solves", "1000")
        self.assert_chosen(report, "cholesky")
        self.assertEqual(report["reason"], "converged")
        self.assertIn("a direct solve is predicted to take", report["comparison"]["why"])

    def test_options_of_one_method_settle_it(self):
        report = self.solve(grid(12), "--precond", "jacobi", "--expected-solves", "10000")
        self.assertEqual((report["method"], report["comparison"]), ("pcg", None))

    def test_what_cannot_be_factored_goes_to_conjugate_gradients(self):
        report = self.solve(INDEFINITE, "--rhs-ones", "--expected-solves", "1e9")
        if report["comparison"]["cholesky_seconds"] is None:
            self.fail("the test needs a system that is factored")
        self.assert_chosen(report, "pcg")
        self.assertIn("as the direct solve failed", report["comparison"]["why"])


if __name__ == "__main__":
    unittest.main()
