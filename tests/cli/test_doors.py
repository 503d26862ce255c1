# SPDX-License-Identifier: BSD-3-Clause
"""Outputs that are no regular files, inputs that never end, and headers that promise far more than their file holds."""
import os
import stat
import threading
import unittest

from support import BAD_INPUT, REFUSED, USAGE, CommandTest, coordinate, grid


class Doors(CommandTest):
    def fifo(self, name):
        os.mkfifo(self.path(name))
        return self.path(name)

    def test_outputs_leave_targets_what_they_are(self):
        matrix, fifo = self.file("a.mtx", grid(5)), self.fifo("fifo")
        for option in ("--save-plan", "--history", "-o"):
            got = []
            reader = threading.Thread(target=lambda into=got: into.append(open(fifo, encoding="utf-8").read()))
            reader.start()
            self.run_command("solve", matrix, option, fifo)
            reader.join()
            self.assertTrue(got[0], option)
            self.assertTrue(stat.S_ISFIFO(os.stat(fifo).st_mode), option)
            target, link = self.file("target", "old"), self.path("link")
            os.chmod(target, 0o640)
            os.symlink("target", link)
            self.run_command("solve", matrix, option, link)
            self.assertTrue(os.path.islink(link), option)
            with open(target, encoding="utf-8") as file:
                self.assertEqual(file.read(), got[0], option)
            self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), 0o640, option)
            os.unlink(link)
            result = self.run_command("solve", matrix, option, "/dev/full", expect=BAD_INPUT)
            self.assertIn("/dev/full: could not be written: No space left on device", result.stderr, option)
            self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode), option)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.mtx", "fifo", "target"])

    def test_folders_that_take_no_files(self):
        matrix = self.file("a.mtx", grid(5))
        for option in ("-o", "--save-plan", "--history"):
            result = self.run_command("solve", matrix, option, "/proc/version", expect=BAD_INPUT)
            self.assertEqual(result.stdout, "")
            self.assertIn("/proc/version: could not be written: Permission denied", result.stderr)
            missing = self.path("none/x")
            result = self.run_command("solve", matrix, option, missing, expect=BAD_INPUT)
            self.assertIn(f"{missing}: could not be written: No such file or directory", result.stderr)
        self.assertEqual(os.listdir(self.folder), ["a.mtx"])

    def test_empty_names(self):
        matrix = self.file("a.mtx", grid(5))
        for option in ("--precond", "--format", "--recurrence", "--device"):
            self.assert_fails("solve", matrix, option, "", expect=USAGE, says=f"{option} is empty")

    def test_what_never_ends_is_not_read(self):
        matrix, fifo = self.file("a.mtx", grid(5)), self.fifo("x.so")
        for path in (fifo, "/dev/zero"):
            self.assert_fails("solve", matrix, "--plan", path, expect=BAD_INPUT, says="it is not a regular file")
            self.assert_fails("solve", matrix, "--profile", path, expect=BAD_INPUT, says="it is not a regular file")
            result = self.run_command("plugin", "check", path, expect=None)
            self.assertIn(result.returncode, (BAD_INPUT, REFUSED))
            self.assertIn("not a regular file", result.stdout + result.stderr)
        self.assert_fails("bench", "spmv", "--list", "/dev/zero", expect=BAD_INPUT, says="longer than 16 MiB")

    def test_headers_that_promise_too_much(self):
        large = self.file("large.mtx", coordinate(10**8, 10**8, [(1, 1, 1.0)]))
        says = [f"large.mtx:2: the size line promises 100000000 rows, but the file has {os.path.getsize(large)} bytes",
                "more than 1000 for each byte"]
        self.assert_fails("explain", large, "--op", "spmv", expect=BAD_INPUT, says=says)
        some = self.file("some.mtx", coordinate(1100000, 1100000, [(1, 1, 1.0)]))
        self.assert_fails("explain", some, "--op", "spmv", expect=BAD_INPUT, says="1100000 rows")
        result = self.run_command("solve", large, expect=BAD_INPUT)
        self.assertIn("unless --rows-per-byte allows them", result.stderr)
        self.assertNotIn("most_rows_per_byte", result.stderr)
        for allowed in ("30000", "-1"):
            self.run_command("explain", some, "--op", "spmv", "--rows-per-byte", allowed)
        self.assert_fails("explain", some, "--rows-per-byte", "many", expect=USAGE, says="many")

    def run_command(self, *arguments, expect=0, **options):
        if expect is not None:
            return super().run_command(*arguments, expect=expect, **options)
        for code in (BAD_INPUT, REFUSED):
            try:
                return super().run_command(*arguments, expect=code, **options)
            except AssertionError:
                pass
        return super().run_command(*arguments, expect=REFUSED, **options)


if __name__ == "__main__":
    unittest.main()
