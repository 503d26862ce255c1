#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The reference finds a public symbol without a comment, and gives others the comment that a reader sees for them:
test_reference.py SOURCE"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()

HEADER = """/* SPDX-License-Identifier: BSD-3-Clause */
/* A header. */
#ifndef SEXTANT_X_H
#define SEXTANT_X_H
/* Colours. */
#define SXT_COLOUR_TABLE(X) X(RED, 1, "red", "like blood")
enum {
#define SXT_X(suffix, value, name, sentence) SXT_##suffix = value,
  SXT_COLOUR_TABLE(SXT_X)
#undef SXT_X
};

/* Both of these. */
SXT_API int sxt_one(void);
SXT_API int sxt_other(void); /* the second */

typedef struct { /* a pair */
  int left, right; /* its halves */
  int lonely;
} sxt_pair;

SXT_API int sxt_bare(void);
#endif
"""


class Filter(unittest.TestCase):
    def filtered(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.h"
            path.write_text(HEADER)
            command = [sys.executable, "-B", str(SOURCE / "docs/reference/header_filter.py"), str(path)]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def test_comments_reach_what_they_are_about(self):
        text = self.filtered()
        for expected in (
            "/** @file\nA header. */",
            "/** like blood */\nSXT_RED = 1,",
            "/** Both of these. */\nint sxt_one(void);",
            "/** the second Both of these. */\nint sxt_other(void);",
            "/** a pair */\ntypedef struct {",
            "/** its halves */\nint left;\n/** its halves */\nint right;",
        ):
            self.assertIn(expected, text)

    def test_what_has_no_comment_gets_none(self):
        text = self.filtered()
        self.assertNotIn("*/\nint sxt_bare", text)
        self.assertNotIn("*/\nint lonely", text)


@unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed (package doxygen)")
class Reference(unittest.TestCase):
    def made_without(self, header, old, new):
        """What is printed of a tree in which a header was changed, which must fail."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("include", "docs/reference"):
                shutil.copytree(SOURCE / name, root / name)
            shutil.copy(SOURCE / "docs/Doxyfile", root / "docs/Doxyfile")
            path = root / "include/sextant" / header
            self.assertIn(old, path.read_text())
            path.write_text(path.read_text().replace(old, new))
            command = [sys.executable, "-B", str(root / "docs/reference/make.py"), folder, str(root / "out"), "0.1.0"]
            run = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(run.returncode, 1, run.stdout)
            return run.stdout

    def test_a_symbol_without_a_comment_fails(self):
        bare = "\nSXT_API int sxt_pcg_bare(void);\nSXT_API void sxt_pcg_destroy"
        self.assertIn("sxt_pcg_bare", self.made_without("pcg.h", "SXT_API void sxt_pcg_destroy", bare))

    def test_a_member_in_cpp_without_a_comment_fails(self):
        self.assertIn("try_solve", self.made_without("cpp/pcg.hpp", "  /// Solves A x = b. [any-thread]\n", ""))


class Tables(unittest.TestCase):
    def test_a_name_that_is_missing_and_one_too_many_fail(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("include", "docs/reference"):
                shutil.copytree(SOURCE / name, root / name)
            for name in ("core", "abi", "files", "plugins", "tools"):
                (root / name).mkdir(parents=True)
            (root / "core/new.cpp").write_text('getenv("SEXTANT_NEW");')
            errors = root / "docs/reference/errors.md"
            errors.write_text(errors.read_text().replace("| -7 | an index is out of range", "| -7 | an index is wrong"))
            command = [sys.executable, "-B", str(SOURCE / "tests/reference/check_tables.py"), folder]
            run = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(run.returncode, 1)
            for expected in ("lacks SEXTANT_NEW", "has spmv.csr.rows.cpu, which the sources have not", "SXT_E_INDEX"):
                self.assertIn(expected, run.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
