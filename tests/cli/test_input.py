# SPDX-License-Identifier: BSD-3-Clause
"""Usage errors, unreadable and malformed files, streams that cannot be written; and sextant explain."""
import os
import subprocess
import unittest

from support import BAD_INPUT, BINARY, DATA, DEVICE, NOT_SOLVED, USAGE, CommandTest, array, coordinate, grid, read_array

CANDIDATE_KEYS = ("kernel", "device", "format", "launch", "predicted_setup_s", "predicted_run_s", "rel_error", "memory_bytes",
                  "chosen", "reason")


class Usage(CommandTest):
    def test_help_is_data(self):
        for arguments in (["--help"], ["solve", "--help"], ["explain", "--help"], ["plugins", "--help"], ["bench", "--help"],
                          ["bench", "spmv", "--help"], ["plugin", "check", "--help"]):
            result = self.run_command(*arguments)
            self.assertEqual(result.stderr, "")
            self.assertIn("Usage:", result.stdout)
        text = self.run_command("--help").stdout
        for word in ("Examples", "Exit codes", "SEXTANT_PLUGIN_PATH", "SEXTANT_FORCE", "SEXTANT_PROFILE", "NO_COLOR"):
            self.assertIn(word, text)

    def test_version(self):
        self.assertRegex(self.run_command("--version").stdout, r"^sextant \d+\.\d+\.\d+\n$")

    def test_mistakes_on_the_command_line(self):
        matrix = self.file("a.mtx", grid(3))
        for arguments, says in (([], "subcommand"), (["sovle"], "sovle"), (["solve"], "matrix"), (["bench"], "subcommand"),
                                (["solve", matrix, "--no-such-option"], "--no-such-option"),
                                (["solve", matrix, "--method", "lu"], "lu"), (["solve", matrix, "--threads", "-1"], "threads"),
                                (["solve", matrix, "--max-iterations", "many"], "many"),
                                (["bench", "spmv", "--n", "0"], "--n"), (["explain", matrix, "--op", "qr"], "qr")):
            with self.subTest(arguments=arguments):
                self.assert_fails(*arguments, expect=USAGE, says=says)

    def test_options_of_the_other_method(self):
        matrix = self.file("a.mtx", grid(3))
        self.assert_fails("solve", matrix, "--method", "cholesky", "--history", "h.csv", expect=USAGE, says="--history")
        self.assert_fails("solve", matrix, "--order", "amd", expect=USAGE, says="--method cholesky")

    def test_options_that_exclude_each_other(self):
        self.assert_fails("solve", self.file("a.mtx", grid(3)), "--rhs", "b.mtx", "--rhs-ones", expect=USAGE, says="--rhs-ones")
        self.assert_fails("solve", self.path("a.mtx"), "--plan-required", expect=USAGE, says="--plan FILE")

    def test_unknown_names_show_the_nearest(self):
        matrix = self.file("a.mtx", grid(3))
        for option, given, nearest in (("--precond", "jacoby", "jacobi"), ("--format", "crs", "csr"),
                                       ("--recurrence", "clasical", "classical"),
                                       ("--engine", "pcg.host-loop.clasical.cpu", "pcg.host-loop.classical.cpu")):
            with self.subTest(option=option):
                self.assert_fails("solve", matrix, "--device", "cpu", option, given, expect=USAGE, says=[given, nearest])

    def test_devices(self):
        matrix = self.file("a.mtx", grid(3))
        self.environment["CUDA_VISIBLE_DEVICES"] = ""  # so that a machine with a GPU has none either
        self.assert_fails("solve", matrix, "--device", "cuda", expect=DEVICE, says="cuda")
        self.assert_fails("solve", matrix, "--device", "abacus", expect=USAGE, says=["abacus", "cpu"])

    def test_numbers_without_meaning(self):
        matrix = self.file("a.mtx", grid(3))
        self.assert_fails("solve", matrix, "--rtol", "-1", expect=USAGE, says="rtol")
        for command, option in (("explain", "--runs"), ("solve", "--time-limit"), ("solve", "--expected-solves")):
            for value in ("nan", "-1", "inf"):
                result = self.assert_fails(command, matrix, option, value, expect=USAGE, says=[option, value])
                self.assertLess(len(result.stderr), 150)
        for value in ("99999999999999999999", "-1", "1.5"):
            self.assert_fails("solve", matrix, "--max-iterations", value, expect=USAGE, says=["--max-iterations", value])


class BadFiles(CommandTest):
    def test_missing(self):
        for command in (["solve"], ["explain"], ["bench", "spmv"]):
            self.assert_fails(*command, self.path("none.mtx"), expect=BAD_INPUT, says="none.mtx")

    def test_malformed_with_line(self):
        for text, line in ((coordinate(2, 2, [(1, 1, 2.0), (3, 1, 1.0)]), 4), ("%%MatrixMarket matrix coordinate real\n", 1),
                           ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 word\n", 3)):
            with self.subTest(line=line):
                self.assert_fails("solve", self.file("bad.mtx", text), expect=BAD_INPUT, says=f"bad.mtx:{line}")

    def test_truncated_empty_and_folder(self):
        self.assert_fails("solve", self.file("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n"),
                          expect=BAD_INPUT, says="bad.mtx")
        self.assert_fails("solve", self.file("empty.mtx", ""), expect=BAD_INPUT, says="empty.mtx")
        self.assert_fails("solve", self.folder, expect=BAD_INPUT, says=self.folder)

    def test_not_a_number(self):
        text = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 nan\n"
        self.assert_fails("solve", self.file("nan.mtx", text), expect=BAD_INPUT, says="nan.mtx")

    def test_failure_as_json(self):
        report, messages = self.run_json("solve", self.path("none.mtx"), expect=BAD_INPUT)
        self.assertEqual(report["status"], "SXT_E_FILE_READ")
        self.assertIn("none.mtx", report["error"])
        self.assertIn("none.mtx", messages)

    def test_right_hand_side(self):
        matrix = self.file("a.mtx", grid(3))
        self.assert_fails("solve", matrix, "--rhs", self.file("b.mtx", array([1] * 8)), expect=BAD_INPUT, says=["8 x 1", "9"])
        self.assert_fails("solve", matrix, "--rhs", self.path("none.mtx"), expect=BAD_INPUT, says="none.mtx")

    def test_missing_plan(self):
        self.assert_fails("solve", self.file("a.mtx", grid(3)), "--plan", self.path("none.toml"), "--plan-required",
                          expect=BAD_INPUT, says="none.toml")

    def test_missing_profile(self):
        self.assert_fails("solve", self.file("a.mtx", grid(3)), "--profile", self.path("none.toml"), expect=BAD_INPUT,
                          says="none.toml")


class Streams(CommandTest):
    def run_closed(self, *arguments, expect):
        return self.run_command(*arguments, expect=expect, stdout=None, preexec_fn=lambda: os.close(1))

    def test_full_stdout(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            for arguments in (["plugins"], ["--help"], ["solve", self.file("a.mtx", grid(3)), "--json"]):
                result = self.run_command(*arguments, expect=BAD_INPUT, stdout=full)
                self.assertIn("standard output could not be written", result.stderr)

    def test_closed_stdout(self):
        result = self.run_closed("plugins", expect=BAD_INPUT)
        self.assertIn("standard output could not be written", result.stderr)

    def test_closed_stdout_does_not_end_up_in_files(self):
        self.run_closed("solve", self.file("a.mtx", grid(3)), "-o", self.path("x.mtx"), expect=BAD_INPUT)
        self.assertEqual(len(read_array(self.path("x.mtx"))), 9)

    def test_reader_that_leaves_early(self):
        reader, writer = os.pipe()
        os.close(reader)  # before the start: a short output would fit into the pipe of a reader that leaves later
        result = subprocess.run([BINARY, "plugins"], env=self.environment, stdout=writer, timeout=60, check=False)
        os.close(writer)
        self.assertNotEqual(result.returncode, 0)


class Explain(CommandTest):
    def test_json(self):
        matrix = self.file("a.mtx", grid(12))
        for op in ("spmv", "pcg"):
            report, messages = self.run_json("explain", matrix, "--op", op)
            self.assertEqual((messages, report["op"]), ("", op))
            for candidate in report["candidates"]:
                self.assert_keys(candidate, CANDIDATE_KEYS)
                self.assertIsInstance(candidate["chosen"], bool)
            self.assertTrue(any(candidate["chosen"] for candidate in report["candidates"]))
            self.assertEqual(report["matrix"]["nnz"], 144 + 2 * 2 * 11 * 12)

    def test_one_spmv_is_chosen_and_the_others_say_why_not(self):
        report, _ = self.run_json("explain", os.path.join(DATA, "bcsstk16.mtx.gz"), "--op", "spmv")
        chosen = [candidate for candidate in report["candidates"] if candidate["chosen"]]
        self.assertEqual(len(chosen), 1)
        self.assertGreater(chosen[0]["predicted_run_s"], 0)
        self.assertGreater(len(report["candidates"]), 1)
        for candidate in report["candidates"]:
            self.assertNotEqual(candidate["reason"], "", candidate)

    def test_features(self):
        report, _ = self.run_json("explain", self.file("a.mtx", grid(12)), "--op", "spmv")
        self.assertEqual(report["features"]["row_nnz_max"], 5)

    def test_options_without_effect_are_refused(self):
        matrix = self.file("a.mtx", grid(3))
        for words in (["--op", "spmv", "--format", "csr"], ["--op", "spmv", "--reorder", "never"], ["--op", "pcg", "--runs", "9"],
                      ["--type", "f32"]):  # fmt: skip
            self.assert_fails("explain", matrix, *words, expect=USAGE, says=words[-2])

    def test_text(self):
        result = self.run_command("explain", self.file("a.mtx", grid(5)))
        self.assertEqual(result.stderr, "")
        for word in ("25 x 25", "row_nnz_max", "candidates", "plan for pcg", "*"):
            self.assertIn(word, result.stdout)

    def test_features_that_were_computed_are_named_in_the_set_up(self):
        text = self.run_command("explain", "--generate", "power-law", "--n", "20000", "--op", "spmv", "--runs", "1e6", "--device", "cpu").stdout
        self.assertRegex(text, r"  set-up of sxt.spmv/1: \S+ [num]?s are for features of the matrix, whatever is chosen\n")

    def test_a_regular_graph_has_rows_of_one_length(self):
        for n in (8, 999):
            report, _ = self.run_json("explain", "--generate", "regular-graph", "--n", str(n), "--op", "spmv")
            rows = n + n % 2
            self.assertEqual((report["matrix"]["rows"], report["matrix"]["nnz"]), (rows, 4 * rows))
            self.assertEqual((report["features"]["row_nnz_max"], report["matrix"]["symmetry"]), (4, "symmetric"))

    def test_rectangular_falls_back_to_spmv_and_says_so(self):
        matrix = self.file("a.mtx", coordinate(2, 3, [(1, 1, 1.0), (2, 3, 1.0)]))
        report, messages = self.run_json("explain", matrix)
        self.assertEqual(report["op"], "spmv")
        self.assertIn("square", messages)
        self.assert_fails("explain", matrix, "--op", "pcg", expect=NOT_SOLVED, says="square")

    def test_environment_forces_a_kernel(self):
        matrix = self.file("a.mtx", grid(5))
        self.environment["SEXTANT_FORCE"] = "sxt.spmv/1=spmv.reference.cpu"
        report, _ = self.run_json("explain", matrix, "--op", "spmv", "--device", "cpu")
        self.assertEqual([c["kernel"] for c in report["candidates"] if c["chosen"]], ["spmv.reference.cpu"])


class HarwellBoeing(CommandTest):
    """Read by the name; every fault has the file and the line."""

    LINES = ["three rows".ljust(72) + "three", "3 1 1 1", "RSA                        3             3             5             0",
             "(4I4)           (5I4)           (5E13.5)", "   1   3   5   6", "   1   2   2   3   3",
             "  4.00000E+00 -1.00000D+00  4.00000E+00 -2.00000+000  4.00000E+00"]

    def lines(self, **changed):
        return "\n".join(changed.get(f"line{i + 1}", line) for i, line in enumerate(self.LINES)) + "\n"

    def test_solved_as_the_same_matrix_in_matrix_market(self):
        entries = [(1, 1, 4.0), (2, 1, -1.0), (2, 2, 4.0), (3, 2, -2.0), (3, 3, 4.0)]
        for name, text in (("a.mtx", coordinate(3, 3, entries, "symmetric")), ("a.rb", self.lines()), ("a.RSA", self.lines())):
            out = self.path(name + ".x.mtx")
            self.run_command("solve", self.file(name, text), "--rhs-ones", "--device", "cpu", "-o", out)
            for value in read_array(out):
                self.assertAlmostEqual(value, 1, places=7)

    def test_faults(self):
        cases = (({"line2": "3 1 one 1"}, ":2: the second line must have"), ({"line3": "RXA 3 3 5"}, ":3: 'RXA' is no type"),
                 ({"line3": "RSA 3 4 5"}, ":3: a symmetric matrix is square, not 3 x 4"), ({"line3": "RSA 3"}, ":3: behind the type"),
                 ({"line3": "RSA 9999999999 9999999999 5"}, ":3: the size line promises 9999999999 rows"),
                 ({"line3": "RSA 3 3 99999999"}, ":3: the third line promises 99999999 entries"),
                 ({"line4": "(4I4)           (5X4)           (5E13.5)"}, ":4: '(5X4)' is no format of row numbers"),
                 ({"line5": "   1   3   2   6"}, ":5: pointer 3 is 2"), ({"line5": "   0   3   5   6"}, ":5: pointer 1 is 0"),
                 ({"line5": "   1   3   5   7"}, ":5: pointer 4 is 7"), ({"line6": "   1   2   2   4   3"}, ":6: row 4 of 3"),
                 ({"line6": "   1   2   2   3"}, ":6: the line has 4 of 5 numbers"), ({"line6": "   1   b   2   3   3"}, ":6: 'b' is no row"),
                 ({"line7": " 4 -1 4 x 4"}, ":7: 'x' is no value"), ({"line7": " 4 -1 4 nan 4"}, ":7: 'nan' is"))  # fmt: skip
        for changed, says in cases:
            self.assert_fails("solve", self.file("bad.rb", self.lines(**changed)), expect=BAD_INPUT, says="bad.rb" + says)
        self.file("short.rb", "\n".join(self.LINES[:6]) + "\n")
        self.assert_fails("solve", self.path("short.rb"), expect=BAD_INPUT, says="short.rb:6: the file ends where a value should follow")


if __name__ == "__main__":
    unittest.main()
