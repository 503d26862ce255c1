# SPDX-License-Identifier: BSD-3-Clause
"""The hook: every way to the driver, what is left alone, and programs that run on as if it were not there."""
import os
import re
import subprocess
import sys
import unittest

from support import DRIVER, HOOK, INTERPOSER, LINKED, PROGRAM, PTX, SHAPE_LINE, HookTest

SIMPLE = ("launch", 960, 32)
PLAIN, CHANGED = ["axpy 960 32 0"], ["axpy 320 96 0"]  # 30720 threads: 96 by the tiers of 15 multiprocessors


class WaysIn(HookTest):
    def test_each_way_is_changed_and_plain_runs_are_not(self):
        for way in ("table", "names"):
            with self.subTest(way=way):
                steps = (way, "load", self.ptx, "get", "axpy", *SIMPLE, "thread", 960, 32, "ex", 960, 32, 8, 0)
                self.assertEqual(self.run_program(*steps, hooked=False), ["axpy 960 32 0", "axpy 960 32 0 thread", "axpy 960 32 0 ex"])
                self.assertEqual(self.run_program(*steps), ["axpy 320 96 0", "axpy 320 96 0 thread", "axpy 320 96 0 ex"])
                self.assertEqual(self.report()[1]["axpy"]["changed"], 3)
        self.assertEqual(self.run_program("linked", "load", self.ptx, "get", "axpy", *SIMPLE, program=LINKED), CHANGED)

    def test_libraries_and_their_kernels(self):
        self.assertEqual(self.run_program("table", "libload", self.ptx, "libget", "axpy", *SIMPLE), CHANGED)

    def test_look_ups_are_answered_with_ours(self):
        self.run_program("table", "load", self.ptx, "get", "axpy", *SIMPLE)
        look_ups = self.report()[0]["look_ups"]
        for name in ("cuGetProcAddress_v2", "cuLaunchKernel", "cuLaunchKernel_ptsz", "cuLaunchKernelEx", "cuModuleLoadData"):
            self.assertIn(name, look_ups)

    def test_a_driver_without_an_entry(self):
        self.assertEqual(self.run_program("table", "load", self.ptx, "get", "axpy", *SIMPLE, SEXTANT_FAKE_MISSING="cuLaunchKernelEx"),
                         CHANGED)  # fmt: skip

    def test_other_interposers(self):
        # One in front that takes dlsym from the C library by its version passes the hook by: the program runs as without it.
        for preload, expected in ((f"{HOOK}:{INTERPOSER}", CHANGED), (f"{INTERPOSER}:{HOOK}", PLAIN)):
            with self.subTest(preload=preload):
                seen = self.path("seen")
                steps = ("names", "load", self.ptx, "get", "axpy", *SIMPLE)
                self.assertEqual(self.run_program(*steps, preload=preload, SEXTANT_TEST_SEEN=seen), expected)
                with open(seen, encoding="ascii") as file:
                    self.assertGreater(int(file.read().split()[0]), 0)
                linked = ("linked", "load", self.ptx, "get", "axpy", *SIMPLE)
                self.assertEqual(self.run_program(*linked, program=LINKED, preload=preload, SEXTANT_TEST_SEEN=seen), CHANGED)
                with open(seen, encoding="ascii") as file:
                    self.assertEqual(file.read().split()[1], "1", "the other's cuLaunchKernel is passed, once")


class LeftAlone(HookTest):
    def test_what_is_not_proven(self):
        self.assertEqual(self.run_program("table", "load", self.ptx, "get", "shape", "launch", 960, 32), ["shape 960 32 0"])
        kernel = self.report()[1]["shape"]
        self.assertEqual((kernel["status"], kernel["line"], kernel["changed"]), ("refused", SHAPE_LINE, 0))

    def test_launches_that_bind_their_shape(self):
        load = ("table", "load", self.ptx, "get", "axpy")
        self.assertEqual(self.run_program(*load, "launch2", 960, 32), ["axpy 960 32 0"])
        self.assertEqual(self.report()[1]["axpy"]["other_launches"], 1)
        for attribute, value in ((2, 1), (4, 1), (11, 1), (13, 1), (99, 0)):  # cooperative, clusters, updatable, unknown
            with self.subTest(attribute=attribute):
                self.assertEqual(self.run_program(*load, "ex", 960, 32, attribute, value), ["axpy 960 32 0 ex"])
        self.assertEqual(self.run_program(*load, "ex", 960, 32, 2, 0), ["axpy 320 96 0 ex"])
        # Shared memory of a kernel that uses none, a grid that nothing divides, more threads than the proof is for.
        self.assertEqual(self.run_program(*load, "launch", 960, 32, 128), ["axpy 960 32 128"])
        self.assertEqual(self.run_program(*load, "launch", 7, 31), ["axpy 7 31 0"])
        self.assertEqual(self.run_program(*load, "launch", 1 << 26, 32), [f"axpy {1 << 26} 32 0"])

    def test_what_the_driver_says_counts(self):
        load = ("table", "load", self.ptx, "get", "axpy")
        self.assertEqual(self.run_program(*load, *SIMPLE, SEXTANT_FAKE_SHARED="16"), PLAIN)
        self.assertEqual(self.report()[1]["axpy"]["status"], "refused")
        self.assertEqual(self.run_program(*load, *SIMPLE, SEXTANT_FAKE_MOST_THREADS="64"), ["axpy 480 64 0"])
        self.report()
        # Machine code from PTX that is not in the image.
        self.assertEqual(self.run_program(*load, *SIMPLE, SEXTANT_FAKE_PTX_VERSION="90"), PLAIN)
        self.assertIn("compiled from PTX for 90", self.report()[1]["axpy"]["reason"])

    def test_a_shape_that_the_driver_refuses(self):
        load = ("table", "load", self.ptx, "get", "axpy")
        self.assertEqual(self.run_program(*load, *SIMPLE, *SIMPLE, SEXTANT_FAKE_REFUSED_BLOCK="96"), PLAIN * 2)
        kernel = self.report()[1]["axpy"]
        self.assertEqual((kernel["status"], kernel["changed"], kernel["launches"]), ("refused", 0, 2))
        self.assertIn("701", kernel["reason"])
        # An error of the launch itself reaches the program.
        self.run_program(*load, "launch", 7, 31, SEXTANT_FAKE_REFUSED_BLOCK="31", expect=701 & 255)

    def test_machine_code_and_broken_ptx(self):
        for name, content in (("elf", "\x7fELF\x02\x01\x01"), ("broken", PTX.replace(".version 8.4", ".version 77.0")),
                              ("unknown", PTX.replace("mad.lo.s32", "madder.s32")), ("cut", PTX[:400])):  # fmt: skip
            with self.subTest(name=name):
                self.assertEqual(self.run_program("table", "load", self.file(name, content), "get", "axpy", *SIMPLE), PLAIN)
                kernel = self.report()[1]["axpy"]
                self.assertEqual(kernel["status"], "refused")
                self.assertTrue(kernel["reason"])


class Programs(HookTest):
    def test_without_a_driver(self):
        empty = self.path("empty")
        os.mkdir(empty)
        self.assertEqual(self.run_program("table", driver=empty, hooked=False), ["no driver"])
        self.assertEqual(self.run_program("table", driver=empty), ["no driver"])
        self.assertEqual(os.listdir(self.reports), [])

    def test_names_that_are_not_there_stay_missing(self):
        """A program that asks whether CUDA is linked gets the same answer, and dlerror's message."""
        code = ("import ctypes; d = ctypes.CDLL(None)\n"
                "for name in ('cuLaunchKernel', 'cuGetProcAddress_v2', 'nothing_like_it'):\n"
                "    try: getattr(d, name); print(name, 'found')\n"
                "    except AttributeError as error: print(error)\n")  # fmt: skip
        outputs = [subprocess.run([sys.executable, "-c", code], env=self.environment(hooked=hooked), capture_output=True, text=True).stdout
                   for hooked in (False, True)]  # fmt: skip
        for output in outputs:
            self.assertNotIn("found", output)
            self.assertEqual(len(re.findall("undefined symbol: cu", output)), 2, output)

    def test_closed_stderr_and_a_stderr_that_became_a_file(self):
        data = self.path("data")
        for redirect in ("2>&-", f"2>&- 2>{data}"):
            command = f"exec {PROGRAM} table load {self.ptx} get axpy launch 960 32 {redirect}"
            done = subprocess.run(["bash", "-c", command], env=self.environment(POLICY="nonsense"), capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout.splitlines()), (0, PLAIN))
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([PROGRAM, "table", "load", self.ptx, "get", "axpy", *map(str, SIMPLE)],
                              env=self.environment(POLICY="nonsense"), stdout=subprocess.PIPE, stderr=writer, text=True)  # fmt: skip
        os.close(writer)
        self.assertEqual((done.returncode, done.stdout.splitlines()), (0, PLAIN))

    def test_fork(self):
        lines = self.run_program("table", "load", self.ptx, "get", "axpy", *SIMPLE, "fork", *SIMPLE)
        self.assertEqual([line for line in lines if line != "child"], CHANGED * 2)
        self.assertEqual(self.report()[1]["axpy"]["launches"], 2)  # and the child wrote none

    def long_kernel(self):
        return self.file("long.ptx", PTX.replace("setp.ge.s32", "add.s32 %r4, %r4, 1;\n" * 19000 + "setp.ge.s32", 1))

    def test_a_signal_that_ends_a_process_that_is_proving(self):
        self.run_program("table", "load", self.long_kernel(), "get", "axpy", "alarm", 5, *SIMPLE, "sleep", 20000, expect=3)

        self.run_program("table", "load", self.long_kernel(), "get", "axpy", "atexit", "alarm", 5, *SIMPLE, "sleep", 20000, expect=3)

    def test_a_driver_whose_look_up_looks_something_up(self):
        for way in ("table", "names"):
            steps = (way, "load", self.ptx, "get", "axpy", *SIMPLE)
            self.assertEqual(self.run_program(*steps, SEXTANT_FAKE_LOOKS_UP="1"), CHANGED)

    def test_children_of_a_process_that_is_proving(self):
        """A child has none of the threads of its parent, and no lock that one of them holds may stop its end."""
        path = self.long_kernel()
        lines = self.run_program("table", "load", path, "get", "axpy", "busyfork", 960, 32)
        self.assertEqual(lines, CHANGED)

    def test_closing_the_driver(self):
        self.assertEqual(self.run_program("table", "load", self.ptx, "get", "axpy", *SIMPLE, "close", *SIMPLE), CHANGED * 2)

    def test_addresses_are_given_out_again(self):
        """The fake gives freed addresses out at once: shape lies where axpy was, in either order."""
        for first, second in (("axpy", "shape"), ("shape", "axpy")):
            lines = self.run_program("table", "load", self.ptx, "get", first, *SIMPLE, "unload", "load", self.ptx, "get", second, *SIMPLE)
            self.assertEqual(sorted(lines), ["axpy 320 96 0", "shape 960 32 0"])
            self.report()
        # A function that is launched after its context went is not known any more.
        lines = self.run_program("table", "load", self.ptx, "get", "axpy", *SIMPLE, "reset", *SIMPLE)
        self.assertEqual(lines, CHANGED + PLAIN)
        self.assertEqual(self.report()[0]["unknown_launches"], 1)

    def test_a_hundred_thousand_modules(self):
        lines = self.run_program("table", "many", 100000, self.ptx)
        self.assertEqual(len(lines), 100000)
        self.assertLessEqual(set(lines), {"axpy 64 32 0", "axpy 32 64 0"})
        report, kernels = self.report()
        self.assertEqual((len(report["kernels"]), kernels["axpy"]["launches"]), (1, 100000))

    def test_a_module_of_a_hundred_thousand_kernels(self):
        one = PTX[PTX.index(".visible"): PTX.index(".visible .entry shape")]
        kernels = "".join(one.replace("axpy", f"axpy{i}") for i in range(100000))
        path = self.file("large.ptx", PTX[: PTX.index(".visible")] + kernels)
        lines = self.run_program("table", "load", path, "get", "axpy99999", *SIMPLE, "get", "axpy7", *SIMPLE)
        self.assertEqual(lines, ["axpy99999 320 96 0", "axpy7 320 96 0"])


class Policies(HookTest):
    def load(self):
        return ("table", "load", self.ptx, "get", "axpy")

    def test_published_leaves_what_its_size_does_not_divide(self):
        lines = self.run_program(*self.load(), *SIMPLE, "launch", 1000, 32, POLICY="published")
        self.assertEqual(lines, ["axpy 240 128 0", "axpy 1000 32 0"])

    def test_dry_run(self):
        self.assertEqual(self.run_program(*self.load(), *SIMPLE, DRY_RUN="1"), PLAIN)
        report, kernels = self.report()
        self.assertTrue(report["dry_run"])
        self.assertEqual(kernels["axpy"]["shapes"][0]["chosen"], 96)
        self.assertEqual(kernels["axpy"]["changed"], 0)

    def test_declared_kernels(self):
        allow = self.file("allow.toml", '[[kernel]]\nname = "sha*"\nreason = "its output is not used"\n')
        load = ("table", "load", self.ptx, "get", "shape")
        self.assertEqual(self.run_program(*load, *SIMPLE, ALLOW=allow), ["shape 320 96 0"])
        self.assertEqual(self.report()[1]["shape"]["reason"], "its output is not used")
        # A declared kernel keeps its shared memory in all: 960 * 128 bytes, or the launch.
        self.assertEqual(self.run_program(*load, "launch", 960, 32, 128, ALLOW=allow), ["shape 320 96 384"])
        for content in ("[[kernel]", '[[kernel]]\nnme = "x"\n'):
            damaged = self.file("damaged.toml", content)
            self.assertEqual(self.run_program(*self.load(), *SIMPLE, ALLOW=damaged), PLAIN)
            self.assertRegex(self.stderr, r"^sextant retune: .*damaged.toml:\d")
            self.assertEqual(self.stderr.count("\n"), 1)

    def test_measured_finds_the_fastest_and_keeps_it(self):
        cache = self.path("cache.toml")
        # Time for trials: the fake's launches take none of it.
        steps = (*self.load(), "sleep", 500, "repeat", 400, 9600, 32)
        lines = self.run_program(*steps, POLICY="measured", CACHE=cache)
        blocks = [int(line.split()[2]) for line in lines]
        self.assertEqual(blocks[0], 32)
        best = blocks[-1]
        self.assertIn(best, (128, 160, 192, 256, 320, 384, 512))
        kernel = self.report()[1]["axpy"]
        self.assertGreater(kernel["seconds_won"], 0)
        # The next run begins with it, in a capture, too.
        lines = self.run_program(*self.load(), "capture", 1, "launch", 9600, 32, POLICY="measured", CACHE=cache)
        self.assertEqual(lines, [f"axpy {9600 * 32 // best} {best} 0"])

    def test_no_trials_in_captures(self):
        lines = self.run_program(*self.load(), "sleep", 200, "capture", 1, "repeat", 50, 9600, 32, POLICY="measured",
                                 CACHE=self.path("none.toml"))  # fmt: skip
        self.assertEqual(set(lines), {"axpy 9600 32 0"})

    def test_a_damaged_cache(self):
        cache = self.file("cache.toml", "version = 1\n[[choice]]\ndevice = 3\n")
        lines = self.run_program(*self.load(), *SIMPLE, POLICY="measured", CACHE=cache)
        self.assertEqual(lines, PLAIN)
        self.assertRegex(self.stderr, r"cache.toml:\d+: ")
        with open(cache, encoding="ascii") as file:
            self.assertIn("device = 3", file.read())


if __name__ == "__main__":
    unittest.main()
