# SPDX-License-Identifier: BSD-3-Clause
"""The messages of the command: hints for typing errors, help of each subcommand, log, progress, exit codes and sums."""
import re
import signal
import subprocess
import time
import unittest

from support import BINARY, NOT_SOLVED, USAGE, CommandTest, array, coordinate, grid

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


class Hints(CommandTest):
    def test_mistyped_words_are_shown_what_they_were_meant_to_be(self):
        matrix = self.file("a.mtx", grid(3))
        for arguments, says in ((["slove", matrix], ["'slove'", "'solve'"]), (["solve", matrix, "--tol", "1e-3"], ["'--tol'", "'--rtol'"]),
                                (["solve", matrix, "--recurence=classical"], "'--recurrence'"), (["bench", "spvm", matrix], "'spmv'"),
                                (["plugin", "chekc", "x.so"], "'check'"), (["--vesion"], "'--version'"),
                                (["solve", matrix, "--reorder", "alwys"], "the nearest is 'always'"),
                                (["solve", matrix, "--log", "inof"], "the nearest is 'info'"),
                                (["solve", matrix, "--method", "pcgg"], "the nearest is 'pcg'"),
                                (["explain", matrix, "--op", "smpv"], "the nearest is 'spmv'"),
                                (["bench", "spmv", "--generate", "stencil-2b"], "the nearest is 'stencil-2d'"),
                                (["hermitian", matrix, "--definiteness", "definit"], "the nearest is 'definite'")):  # fmt: skip
            with self.subTest(arguments=arguments):
                self.assert_fails(*arguments, expect=USAGE, says=says)

    def test_values_are_not_taken_for_options(self):
        matrix = self.file("a.mtx", grid(3))
        result = self.assert_fails("solve", matrix, "--rtol", "-1", expect=USAGE, says="rtol")
        self.assertNotIn("did you mean", result.stderr)

    def test_every_known_name_stands_once(self):
        result = self.assert_fails("solve", self.file("a.mtx", grid(3)), "--precond", "zzzzzzzzzz", expect=USAGE, says="known:")
        known = result.stderr.split("known:")[1].strip().split(", ")
        self.assertIn("none", known)
        self.assertEqual(sorted(set(known)), sorted(known))

    def test_version_in_every_way(self):
        expected = self.run_command("--version").stdout
        self.assertEqual(self.run_command("-V").stdout, expected)
        self.assertEqual(self.run_command("version").stdout, expected)


class Help(CommandTest):
    def test_every_subcommand_has_words_of_its_own(self):
        whole = self.run_command("--help").stdout
        footer = whole[whole.index("Examples:"):]
        for words in (["solve"], ["explain"], ["verify-model"], ["plugins"], ["hermitian"], ["bench"], ["bench", "spmv"],
                      ["calibrate"], ["plugin"], ["plugin", "check"], ["version"]):  # fmt: skip
            with self.subTest(words=words):
                text = self.run_command(*words, "--help").stdout
                self.assertIn("Usage:", text)
                self.assertNotIn(footer[:200], text)
        for words in ("calibrate", "plugins", "plugin"):
            self.assertIn(f"sextant {words}", self.run_command(words, "--help").stdout.split("Usage:")[1].split("\n", 1)[1])


class Told(CommandTest):
    def test_the_log_of_a_solve(self):
        result = self.run_command("solve", self.file("a.mtx", grid(5)), "--log", "info", "--device", "cpu")
        self.assertRegex(result.stderr, r"sextant: info: conjugate gradients are set up")
        self.assertRegex(result.stderr, r"sextant: info: a solve ended: converged after \d+ iterations")
        self.assertEqual(self.run_command("solve", self.path("a.mtx"), "--device", "cpu").stderr, "")

    def test_a_long_wait_is_told(self):
        """The clock goes on while the command is held, so that any machine seems slow to it."""
        log = self.path("log")
        with open(log, "w", encoding="utf-8") as file:
            process = subprocess.Popen([BINARY, "solve", self.file("a.mtx", grid(300)), "--log", "info", "--device", "cpu"],
                                       env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=file)  # fmt: skip
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        told = ""
        while process.poll() is None and not re.search(r"sextant: (reading .*a.mtx|setting up): \d+ s", told):
            time.sleep(0.05)
            process.send_signal(signal.SIGSTOP)
            time.sleep(2.1)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.01)
            with open(log, encoding="utf-8") as file:
                told = file.read()
        process.wait()
        with open(log, encoding="utf-8") as file:
            self.assertRegex(file.read(), r"sextant: (reading .*a.mtx|setting up): \d+ s")

    def test_the_rows_of_times_add_up(self):
        text = self.run_command("solve", self.file("a.mtx", grid(20)), "--device", "cpu").stdout
        for name in ("predicted", "measured"):
            line = re.search(rf"^{name} (.*)$", text, flags=re.M).group(1)
            fields = re.split(r"\s{2,}", line.strip())
            _, iterations, one, residuals, rest, solve = fields
            count, residual = residuals.split(" x ")
            total = float(iterations) * self.seconds(one) + float(count) * self.seconds(residual) + self.seconds(rest)
            # Printed numbers have three digits.
            self.assertAlmostEqual(total, self.seconds(solve), delta=0.02 * self.seconds(solve), msg=line)

    def seconds(self, text):
        number, unit = text.split()
        return float(number) * SECONDS[unit]

    def test_what_is_wrong_with_the_matrix(self):
        negative = coordinate(2, 2, [(1, 1, -2.0), (2, 1, 1.0), (2, 2, -2.0)], "symmetric")
        self.assert_fails("solve", self.file("n.mtx", negative), expect=NOT_SOLVED, says=["row 1 (counting from 1)", "solve with -A"])
        ring = [(i + 1, (i + 1) % 30 + 1, -1.0) for i in range(30)] + [((i + 1) % 30 + 1, i + 1, -1.0) for i in range(30)]
        singular = coordinate(30, 30, ring + [(i, i, 2.0) for i in range(1, 31)])
        rhs = self.file("b.mtx", array([1] + 29 * [0]))
        result = self.run_command("solve", self.file("s.mtx", singular), "--rhs", rhs, expect=NOT_SOLVED)
        self.assertIn("--null-space constant", result.stderr)

    def test_hermitian_of_what_is_none(self):
        skew = coordinate(2, 2, [(1, 2, 1.0), (2, 1, 5.0)])
        self.assert_fails("hermitian", self.file("s.mtx", skew), "--device", "cpu", expect=NOT_SOLVED, says="not Hermitian")
        self.assert_fails("hermitian", self.file("r.mtx", coordinate(2, 3, [(1, 1, 1.0)])), "--device", "cpu", expect=NOT_SOLVED,
                          says="not square")  # fmt: skip

    def test_inertia_of_a_singular_system(self):
        text = coordinate(3, 3, [(1, 1, 1.0), (2, 2, 0.0), (3, 3, -1.0)], "symmetric")
        answer, _ = self.run_json("hermitian", self.file("d.mtx", text), "--device", "cpu", expect=NOT_SOLVED)
        self.assertEqual(answer["systems"][0]["inertia"], [1, 1, 1])
        self.assertEqual(self.run_command("hermitian", self.path("d.mtx"), "--device", "cpu", expect=NOT_SOLVED).stdout.count("1+ 1- 1"), 1)


if __name__ == "__main__":
    unittest.main()
