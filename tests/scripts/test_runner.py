#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tools/test on small projects whose tests pass, fail, are skipped or missing: exit codes, counts, last words."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 and os.path.isdir(sys.argv[1]) else pathlib.Path.cwd()

HEAD = "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES NONE)\nenable_testing()\n"
# A configuration without the options that tools/test should give must be noticed.
HEAD += 'if(NOT SEXTANT_TESTS)\n  message(FATAL_ERROR "no tests asked for")\nendif()\n'
PASSING = "add_test(NAME good COMMAND ${CMAKE_COMMAND} -E true)\n"
FAILING = "add_test(NAME bad COMMAND ${CMAKE_COMMAND} -E echo the-words-of-bad)\n"
FAILING += 'set_tests_properties(bad PROPERTIES PASS_REGULAR_EXPRESSION "never said")\n'
SLOW = "add_test(NAME slow_bad COMMAND ${CMAKE_COMMAND} -E false)\n"
SLOW += "set_tests_properties(slow_bad PROPERTIES LABELS slow)\n"


def gpu_test(name, code):
    return (
        f"add_test(NAME {name} COMMAND sh -c \"exit {code}\")\n"
        f"set_tests_properties({name} PROPERTIES LABELS gpu SKIP_RETURN_CODE 77)\n"
    )


class Runner(unittest.TestCase):
    def setUp(self):
        self.project = pathlib.Path(tempfile.mkdtemp(prefix="sextant-runner-"))
        self.addCleanup(shutil.rmtree, self.project)
        shutil.copytree(SOURCE / "tools" / "lib", self.project / "tools" / "lib")
        shutil.copy2(SOURCE / "tools" / "test", self.project / "tools")

    def run_tests(self, tests, *options, **settings):
        (self.project / "CMakeLists.txt").write_text(HEAD + tests)
        # Without variables of an outer ctest or make in the environment.
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("CTEST_", "MAKE"))}
        environment.update(settings)
        command = ["bash", str(self.project / "tools" / "test"), *options]
        result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return result.returncode, result.stdout

    def test_passing_tests_end_with_the_summary(self):
        code, output = self.run_tests(PASSING)
        self.assertEqual(code, 0, output)
        self.assertIn("100% tests passed", output)
        self.assertRegex(output.rstrip().splitlines()[-1], r"^Total Test time \(real\) =")
        self.assertEqual(output.count("100% tests passed"), 1)

    def test_a_failing_test_is_shown_and_is_the_exit_code(self):
        code, output = self.run_tests(PASSING + FAILING)
        self.assertEqual(code, 8, output)
        self.assertIn("the-words-of-bad", output)
        self.assertIn("50% tests passed, 1 tests failed out of 2\n", output)

    def test_no_test_is_a_failure(self):
        code, output = self.run_tests("")
        self.assertNotEqual(code, 0, output)
        self.assertIn("No tests were found", output)

    def test_skipped_gpu_tests_are_counted(self):
        gpu = gpu_test("cuda.first", 77) + gpu_test("cuda.second_one", 77) + gpu_test("cuda.ok", 0)
        code, output = self.run_tests(PASSING + gpu)
        self.assertEqual(code, 0, output)
        self.assertIn("GPU tests skipped: 2 of 3.\n", output)
        self.assertLess(output.index("GPU tests skipped"), output.index("100% tests passed"))

    def test_a_build_without_gpu_tests_says_so(self):
        _, output = self.run_tests(PASSING)
        self.assertIn("GPU tests skipped: all", output)

    def test_quick_leaves_out_the_slow_ones(self):
        code, output = self.run_tests(PASSING + SLOW, "--quick")
        self.assertEqual(code, 0, output)
        self.assertNotIn("slow_bad", output)
        self.assertEqual(self.run_tests(PASSING + SLOW)[0], 8)

    def test_options_reach_cmake_and_ctest(self):
        show = 'message(STATUS "sanitize=${SEXTANT_SANITIZE} in ${CMAKE_BINARY_DIR}")\n'
        code, output = self.run_tests(show + PASSING + FAILING, "--asan", "--", "-R", "good")
        self.assertEqual(code, 0, output)
        self.assertIn(f"sanitize=address,undefined in {self.project}/build-asan", output)
        self.assertIn("out of 1\n", output)

    def test_a_project_that_does_not_configure_fails(self):
        code, output = self.run_tests('message(FATAL_ERROR "no such thing")\n')
        self.assertEqual(code, 1, output)
        self.assertIn("tools/quickstart installs", output)

    def test_a_project_that_does_not_build_fails(self):
        code, output = self.run_tests(PASSING + "add_custom_target(broken ALL COMMAND ${CMAKE_COMMAND} -E false)\n")
        self.assertEqual(code, 1, output)
        self.assertIn("the build in", output)

    def test_plugins_that_quickstart_left_out_are_built(self):
        show = 'message(STATUS "cuda=${SEXTANT_CUDA}")\n'
        (self.project / "build").mkdir()
        (self.project / "build/cuda-left-out").touch()
        self.assertIn("cuda=AUTO\n", self.run_tests(show + PASSING)[1])
        self.assertFalse((self.project / "build/cuda-left-out").exists())

    def test_a_build_without_a_driver_is_for_tests(self):
        show = 'message(STATUS "architectures=${CMAKE_CUDA_ARCHITECTURES}")\n'
        nvcc = self.project / "cuda/bin/nvcc"
        nvcc.parent.mkdir(parents=True)
        nvcc.touch(0o755)
        for driver, wanted in (("none", "90-real"), ("580", "")):
            shutil.rmtree(self.project / "build", ignore_errors=True)
            output = self.run_tests(show + PASSING, CUDACXX=str(nvcc), QUICKSTART_DRIVER=driver)[1]
            self.assertIn(f"architectures={wanted}\n", output)
            self.assertEqual("for tests without a GPU" in output, bool(wanted), output)

    def test_wrong_options(self):
        for options in (["--nonsense"], ["--jobs", "none"], ["--build"]):
            code, output = self.run_tests(PASSING, *options)
            self.assertEqual(code, 2, output)


if __name__ == "__main__":
    unittest.main()
