# SPDX-License-Identifier: BSD-3-Clause
"""sextant solve --method cholesky: the report, its JSON, the solution, and matrices that have no such factor."""
import unittest

from support import NOT_SOLVED, CommandTest, coordinate, grid, read_array

KEYS = ("status", "method", "order", "kernels", "nnz_l", "flops", "factor_bytes", "measured_analysis_seconds",
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
        report, messages = self.run_json("solve", self.file("a.mtx", grid(12)), "--method", "cholesky", "-o", x)
        self.assertEqual(messages, "")
        self.assert_keys(report, KEYS)
        self.assertEqual((report["status"], report["method"]), ("SXT_OK", "cholesky"))
        self.assertLessEqual(report["true_relative_residual"], 1e-14)
        for value in read_array(x):
            self.assertAlmostEqual(value, 1, places=12)

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


if __name__ == "__main__":
    unittest.main()
