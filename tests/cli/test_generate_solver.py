# SPDX-License-Identifier: BSD-3-Clause
"""sextant generate-solver: the files it writes, what it refuses, and that the program takes as many iterations."""
import json
import os
import re
import shlex
import shutil
import subprocess
import unittest

from support import BAD_INPUT, BINARY, NOT_SOLVED, USAGE, CommandTest, array, chain, coordinate, grid

COMPILER, LIBRARY, HEADERS = (os.environ.get(name, "") for name in ("SEXTANT_CC", "SEXTANT_LIBRARY", "SEXTANT_HEADERS"))
SANITIZED = os.environ.get("SEXTANT_SANITIZED", "")
COMPLEX = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 2 0\n2 1 0 1\n2 2 3 0\n"


class Program(CommandTest):
    """C programs are compiled here as they are written; CMake and Fortran builds are among the tests of the installation."""

    def generate(self, *arguments, expect=0):
        return self.run_json("generate-solver", *arguments, "-o", self.path("solver"), expect=expect)

    def build(self):
        if SANITIZED:
            self.skipTest("a library with sanitizers needs a program with them")
        program = self.path("solver/program")
        command = [COMPILER, "-std=c11", "-Wall", "-Wextra", "-Werror", self.path("solver/solve.c"), f"-I{HEADERS}", LIBRARY,
                   f"-Wl,-rpath,{os.path.dirname(LIBRARY)}", "-o", program]  # fmt: skip
        subprocess.run(command, check=True, timeout=60)
        return program

    def solve(self, *arguments, expect=0):
        result = subprocess.run([self.build(), *arguments], env=self.environment, text=True, capture_output=True, timeout=60)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return dict(line.split() for line in result.stdout.splitlines()), result.stderr

    def test_it_takes_exactly_as_many_iterations(self):
        report, messages = self.generate(self.file("a.mtx", grid(30)), "--rtol", "1e-9")
        self.assertEqual(messages, "")
        self.assertEqual(sorted(report["files"]), ["CMakeLists.txt", "matrix.mtx", "plan.toml", "solve.c"])
        self.assertEqual(sorted(os.listdir(self.path("solver"))), sorted(report["files"]))
        self.assertEqual(report["reason"], "converged")
        self.assertEqual(report["history"][-1][0], report["iterations"])
        self.assertGreater(len(report["candidates"]), 3)
        parts = report["iterations"] * report["measured_iteration_seconds"]  # of the solve that is told, not of a colder one
        self.assertLessEqual(parts, 1.001 * report["measured_solve_seconds"])
        answer, _ = self.solve(self.path("solver"))
        self.assertEqual(int(answer["iterations"]), report["iterations"])
        self.assertLessEqual(float(answer["residual"]), 1e-9)
        self.assertAlmostEqual(float(answer["expected_solve_seconds"]), report["measured_solve_seconds"], delta=1e-6)

    def test_it_says_when_the_iterations_differ(self):
        self.generate(self.file("a.mtx", grid(12)))
        with open(self.path("solver/solve.c"), encoding="ascii") as file:
            text = file.read()
        with open(self.path("solver/solve.c"), "w", encoding="ascii") as file:
            file.write(re.sub(r"expected_iterations = \d+", "expected_iterations = 1", text))
        _, messages = self.solve(self.path("solver"), expect=1)
        self.assertIn("1 were expected", messages)

    def test_choices_and_a_right_hand_side_go_with_it(self):
        rhs = self.file("b.mtx", array([1 / (i + 1) for i in range(50)]))
        report, _ = self.generate(self.file("a.mtx", chain(50)), "--rhs", rhs, "--precond", "none", "--recurrence", "classical",
                                  "--format", "csr", "--reorder", "never", "--max-iterations", "500", "--threads", "1",
                                  "--assume-symmetric", "--expected-solves", "7", "--symmetry-tolerance", "1e-12",
                                  "--deterministic", "--rows-per-byte", "-1", "--atol", "1e-30", "--time-limit", "50")
        with open(self.path("solver/solve.c"), encoding="ascii") as file:
            text = file.read()
        for line in ('preconditioner = "none"', 'recurrence = "classical"', 'format = "csr"', "reorder = -1", "atol = 1e-30",
                     "max_iterations = 500", "check_symmetry = 0", "expected_solves = 7.0", "threads = 1", "deterministic = 1",
                     "symmetry_tolerance = 1e-12", "most_rows_per_byte = -1.0", "time_limit = 50.0", "rtol = 1e-08"):
            self.assertIn(f"options.{line};", text)
        answer, _ = self.solve(self.path("solver"))
        self.assertEqual(int(answer["iterations"]), report["iterations"])
        os.remove(self.path("solver/rhs.mtx"))
        self.solve(self.path("solver"), expect=1)

    def test_a_generated_matrix_and_a_compressed_and_a_complex_one(self):
        report, _ = self.generate("--generate", "stencil-2d", "--n", "400")
        self.assertEqual(report["matrix"]["rows"], 400)
        self.assertEqual(int(self.solve(self.path("solver"))[0]["iterations"]), report["iterations"])
        report, _ = self.generate(self.file("c.mtx", COMPLEX), "--force")
        self.assertEqual(int(self.solve(self.path("solver"))[0]["iterations"]), report["iterations"])
        shutil.rmtree(self.path("solver"))
        subprocess.run(["gzip", "-k", self.file("a.mtx", grid(9))], check=True)
        report, _ = self.generate(self.path("a.mtx.gz"))
        self.assertIn("matrix.mtx.gz", report["files"])
        self.assertEqual(int(self.solve(self.path("solver"))[0]["iterations"]), report["iterations"])

    def test_a_plan_of_another_matrix_is_refused_until_it_may_be_made_again(self):
        report, _ = self.generate(self.file("a.mtx", grid(12)))
        self.file("solver/matrix.mtx", grid(13))
        _, messages = self.solve(self.path("solver"), expect=1)
        self.assertIn("SXT_E_PLAN", messages)
        self.assertIn("replan", messages)
        answer, _ = self.solve(self.path("solver"), "replan")
        self.assertGreater(int(answer["iterations"]), 0)


class Fortran(CommandTest):
    def test_the_source_has_the_choices(self):
        matrix = self.file("a.mtx", grid(8))
        report, _ = self.run_json("generate-solver", matrix, "--language", "fortran", "--precond", "jacobi", "--threads", "1",
                                  "-o", self.path("solver"))
        self.assertIn("solve.f90", report["files"])
        with open(self.path("solver/solve.f90"), encoding="ascii") as file:
            text = file.read()
        self.assertIn("options%preconditioner = 'jacobi'", text)
        self.assertIn("device='auto', threads=1, stat=stat", text)
        self.assertIn(f"expected_iterations = {report['iterations']}", text)
        self.assertNotIn("@", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 132)

    def test_long_names_and_large_numbers(self):
        plugins = os.path.join(self.folder, *("it's" * 20 for _ in range(3)))
        os.makedirs(plugins)
        self.run_command("generate-solver", self.file("a.mtx", grid(8)), "--language", "fortran", "--plugin-path", plugins,
                         "--max-iterations", "3000000000", "-o", self.path("solver"))  # fmt: skip
        with open(self.path("solver/solve.f90"), encoding="ascii") as file:
            text = file.read()
        self.assertIn("max_iterations = 3000000000_int64", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 132)
        constant = re.search(r"plugin_path='((?:[^']|'')*)'", text.replace("&\n    &", ""))
        self.assertEqual(constant[1].replace("''", "'"), plugins)


class Refusals(CommandTest):
    def test_one_matrix_and_a_folder(self):
        folder = self.path("solver")
        self.assert_fails("generate-solver", "-o", folder, expect=USAGE, says="one matrix is needed")
        self.assert_fails("generate-solver", self.file("a.mtx", grid(4)), expect=USAGE, says="--output")
        self.assert_fails("generate-solver", "--generate", "stencl-2d", "-o", folder, expect=USAGE, says="'stencil-2d'")
        self.assert_fails("generate-solver", self.path("none.mtx"), "-o", folder, expect=BAD_INPUT, says="none.mtx")
        self.assert_fails("generate-solver", self.path("a.mtx"), "-o", self.path("a.mtx"), expect=BAD_INPUT, says="a.mtx")

    def test_what_was_changed_by_hand_stays(self):
        matrix = self.file("a.mtx", grid(4))
        self.run_command("generate-solver", matrix, "-o", self.path("solver"))
        self.file("solver/solve.c", "mine\n")
        self.assert_fails("generate-solver", matrix, "-o", self.path("solver"), expect=BAD_INPUT, says=["solve.c", "--force"])
        with open(self.path("solver/solve.c"), encoding="ascii") as file:
            self.assertEqual(file.read(), "mine\n")

    def test_nothing_is_written_for_what_is_not_solved(self):
        matrix = self.file("a.mtx", chain(400))
        self.assert_fails("generate-solver", matrix, "--max-iterations", "3", "-o", self.path("solver"), expect=NOT_SOLVED,
                          says=["3", "no program was written"])
        unsymmetric = self.file("u.mtx", coordinate(2, 2, [(1, 1, 2.0), (1, 2, 1.0), (2, 2, 2.0)]))
        self.assert_fails("generate-solver", unsymmetric, "-o", self.path("solver"), expect=NOT_SOLVED, says="symmetric")
        self.assert_fails("generate-solver", "--generate", "stencil-2d", "--n", "400", "--max-iterations", "3", "-o", self.path("solver"),
                          expect=NOT_SOLVED, says="no program was written")
        self.assertFalse(os.path.exists(self.path("solver")))
        os.mkdir(self.path("solver"))
        self.assert_fails("generate-solver", self.path("none.mtx"), "-o", self.path("solver"), expect=BAD_INPUT, says="none.mtx")
        self.assertEqual(os.listdir(self.path("solver")), [])

    def test_no_file_of_the_user_is_replaced(self):
        os.mkdir(self.path("solver"))
        matrix, rhs = self.file("a.mtx", grid(4)), self.file("b.mtx", array(range(1, 17)))
        for name in ("matrix.mtx", "plan.toml", "rhs.mtx", "CMakeLists.txt"):
            path = self.file(f"solver/{name}", "mine\n")
            for source in ((matrix,), ("--generate", "stencil-2d", "--n", "16")):
                self.assert_fails("generate-solver", *source, "--rhs", rhs, "-o", self.path("solver"), expect=BAD_INPUT, says=[name, "--force"])
            with open(path, encoding="ascii") as file:
                self.assertEqual(file.read(), "mine\n")
            os.remove(path)
            self.assertEqual(os.listdir(self.path("solver")), [])

    def test_a_matrix_and_a_right_hand_side_that_lie_in_their_places(self):
        os.mkdir(self.path("solver"))
        texts = {"matrix.mtx": grid(4), "rhs.mtx": array(range(1, 17))}
        matrix, rhs = (self.file(f"solver/{name}", text) for name, text in texts.items())
        self.run_command("generate-solver", matrix, "--rhs", rhs, "-o", self.path("solver"))
        for name, text in texts.items():
            with open(self.path(f"solver/{name}"), encoding="ascii") as file:
                self.assertEqual(file.read(), text)

    def test_the_build_line_is_quoted_for_a_shell(self):
        folder = self.path("out 1 \"$(touch it)'")
        line = self.run_command("generate-solver", self.file("a.mtx", grid(4)), "-o", folder).stdout.split("build      ")[1]
        words = shlex.split(line)
        self.assertEqual(words[:5], ["cmake", "-S", folder, "-B", f"{folder}/build"])
        self.assertEqual(words[-2:], [f"{folder}/build/solve", folder])


class Events(CommandTest):
    def test_progress_is_a_json_object_a_line(self):
        events = self.path("events")
        self.run_command("generate-solver", self.file("a.mtx", grid(20)), "-o", self.path("solver"), "--events", events)
        with open(events, encoding="ascii") as file:
            told = [json.loads(line) for line in file]
        self.assertEqual([each["stage"] for each in told if each["event"] == "stage"], ["reading", "setting up", "solving"])
        self.assertTrue(any(each["event"] == "timing" for each in told))
        self.assert_fails("generate-solver", self.path("a.mtx"), "-o", self.path("other"), "--events", self.path("no/where"),
                          expect=BAD_INPUT, says="no/where")
        self.assert_fails("generate-solver", self.path("a.mtx"), "-o", self.path("other"), "--events", "/dev/full/x",
                          expect=BAD_INPUT, says="/dev/full/x")

    def test_a_reader_that_goes_away_ends_no_work(self):
        reading, writing = os.pipe()
        with subprocess.Popen([BINARY, "generate-solver", self.file("a.mtx", grid(30)), "-o", self.path("solver"), "--events", f"/dev/fd/{writing}"],
                              env=self.environment, pass_fds=(writing,), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # fmt: skip
            os.close(writing)
            self.assertIn(b"reading", os.read(reading, 40))
            os.close(reading)
            self.assertEqual(process.wait(timeout=60), 0, process.stderr.read())


if __name__ == "__main__":
    unittest.main()
