# SPDX-License-Identifier: BSD-3-Clause
"""Helpers for the tests of the command: running it in a clean environment, and small matrices."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

BINARY = os.environ["SEXTANT_BIN"]
DATA = os.environ["SEXTANT_TEST_DATA"]
DONE, USAGE, BAD_INPUT, NOT_SOLVED, DEVICE, REFUSED = 0, 2, 3, 4, 5, 6


def coordinate(n_rows, n_cols, entries, symmetry="general"):
    """The text of a coordinate file from (row, column, value) triples, one-based."""
    lines = [f"%%MatrixMarket matrix coordinate real {symmetry}", f"{n_rows} {n_cols} {len(entries)}"]
    lines += [f"{i} {j} {value!r}" for i, j, value in entries]
    return "\n".join(lines) + "\n"


def array(values):
    """The text of an n x 1 array file."""
    lines = ["%%MatrixMarket matrix array real general", f"{len(values)} 1"]
    return "\n".join(lines + [repr(float(value)) for value in values]) + "\n"


def grid(side):
    """The 5-point Laplacian of a square grid: symmetric positive definite; the lower triangle, as files hold it."""
    entries = []
    for y in range(side):
        for x in range(side):
            i = y * side + x + 1
            if y > 0:
                entries.append((i, i - side, -1.0))
            if x > 0:
                entries.append((i, i - 1, -1.0))
            entries.append((i, i, 4.0))
    return coordinate(side * side, side * side, entries, "symmetric")


def chain(n):
    """tridiag(-1, 2, -1): needs about n iterations, so a solve of a large one lasts."""
    entries = []
    for i in range(1, n + 1):
        if i > 1:
            entries.append((i, i - 1, -1.0))
        entries.append((i, i, 2.0))
    return coordinate(n, n, entries, "symmetric")


def read_array(path):
    """The values of an n x 1 array file, checked against its header."""
    with open(path, encoding="ascii") as file:
        banner, size, *values = file.read().splitlines()
    assert banner == "%%MatrixMarket matrix array real general", banner
    assert size == f"{len(values)} 1", size
    return [float(value) for value in values]


class CommandTest(unittest.TestCase):
    """A temporary folder, an environment without the caller's settings, and the command."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sextant-cli-")
        self.addCleanup(shutil.rmtree, self.folder)
        keep = ("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS")
        self.environment = {name: os.environ[name] for name in keep if name in os.environ}
        self.environment.update(HOME=self.folder, LC_ALL="C.UTF-8", TERM="xterm")
        # Where there is a GPU, its driver would keep a folder in the home.
        cache = tempfile.mkdtemp(prefix="sextant-cli-cuda-")
        self.addCleanup(shutil.rmtree, cache)
        self.environment["CUDA_CACHE_PATH"] = cache

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)
        return self.path(name)

    def run_command(self, *arguments, expect=DONE, **options):
        """Runs the command and checks its exit code; the result has stdout and stderr as text."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        result = subprocess.run([BINARY, *arguments], env=self.environment, text=True, timeout=60, check=False,
                                stdin=subprocess.DEVNULL, **options)
        self.assertEqual(result.returncode, expect, f"{arguments}\nstdout: {result.stdout}\nstderr: {result.stderr}")
        return result

    def run_json(self, *arguments, expect=DONE):
        """The JSON on stdout, which must hold nothing else."""
        result = self.run_command(*arguments, "--json", expect=expect)
        return json.loads(result.stdout), result.stderr

    def assert_fails(self, *arguments, expect, says):
        """Nothing on stdout, and on stderr a sentence with each of these words."""
        result = self.run_command(*arguments, expect=expect)
        self.assertEqual(result.stdout, "")
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, result.stderr)
        self.assertTrue(result.stderr.startswith("sextant: "), result.stderr)
        return result

    def assert_drawing(self, name):
        """A well-formed SVG that asks for nothing from elsewhere; its labels and the number of its marks."""
        with open(self.path(name), encoding="utf-8") as file:
            text = file.read()
        root = xml.etree.ElementTree.fromstring(text)
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        for foreign in ("href", "url(", "<script", "<style", "@import", "nan", "inf "):
            self.assertNotIn(foreign, text)
        labels = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
        return labels, text.count("<circle")

    def assert_keys(self, record, keys):
        self.assertLessEqual(set(keys), set(record), f"missing: {set(keys) - set(record)}")
