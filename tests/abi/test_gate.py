#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Proves that the ABI gate lets growth pass and stops everything else: small libraries over changed copies of the real
headers go through the real gate with the real suppressions."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import check_abi

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUPPRESSIONS = ROOT / "abi" / "baseline" / "growing_structs.suppr"
CC = os.environ.get("CC", "cc")

# A few functions of the interface, through which the gate reaches the structs.
CODE = """#include "sextant/sextant.h"
struct sxt_pcg { int inner[INNER]; };
sxt_status sxt_pcg_create(sxt_matrix *a, const sxt_pcg_options *o, sxt_pcg **p) { return a && o && p ? SXT_OK : -1; }
sxt_status sxt_kernel_select(sxt_context *c, const sxt_query *q, sxt_matrix *m, sxt_selection **s) {
  return c && q && m && s ? SXT_OK : -1;
}
void sxt_pcg_destroy(sxt_pcg *p) { if (p) p->inner[0] = 0; }
"""


class Gate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        old = self.build("old")
        self.baseline = self.folder / "old.abi"
        subprocess.run(["abidw", "--headers-dir", self.folder / "old/include", "--drop-private-types",
                        "--out-file", self.baseline, old], check=True)  # fmt: skip

    def build(self, name, code=CODE, pattern="", replacement="", flags=("-g", "-DINNER=1")):
        """A library over headers in which a pattern, found exactly once, was replaced."""
        include = self.folder / name / "include"
        (include / "sextant").mkdir(parents=True)
        found = 0
        for header in ("types.h", "sextant.h"):
            text = (ROOT / "include" / "sextant" / header).read_text()
            if pattern:
                text, count = re.subn(pattern, replacement, text)
                found += count
            (include / "sextant" / header).write_text(text)
        self.assertEqual(found, 1 if pattern else 0, f"{pattern} in the headers")
        source, library = self.folder / name / "library.c", self.folder / name / "libsextant.so"
        source.write_text(code)
        subprocess.run([CC, "-shared", "-fPIC", *flags, f"-I{include}", source, "-o", library,
                        f"-Wl,--version-script={ROOT / 'abi' / 'sextant.map'}"], check=True)  # fmt: skip
        return library

    def verdict(self, *what, **more):
        library = self.build("new", *what, **more)
        return check_abi.problem(library, self.baseline, library.parent / "include", SUPPRESSIONS) or ""

    def test_no_change(self):
        self.assertEqual(self.verdict(), "")

    def test_what_is_behind_a_handle_may_change(self):
        self.assertEqual(self.verdict(flags=("-g", "-DINNER=9")), "")

    def test_a_new_function(self):
        self.assertEqual(self.verdict(CODE + "sxt_status sxt_new(void) { return SXT_OK; }\n"), "")

    def test_growth_at_the_end_of_a_sized_struct(self):
        text = self.verdict(pattern=r"} sxt_pcg_options;", replacement="double newest; } sxt_pcg_options;")
        self.assertEqual(text, "")

    def test_growth_in_the_middle_of_a_sized_struct(self):
        text = self.verdict(pattern=r"(?=  const char \*recurrence;)", replacement="  double inserted;\n")
        self.assertIn("not compatible", text)
        self.assertIn("inserted", text)

    def test_a_member_is_removed_from_a_sized_struct(self):
        self.assertIn("not compatible", self.verdict(pattern=r"  double expected_iterations;", replacement=""))

    def test_growth_of_a_struct_without_size(self):
        text = self.verdict(pattern=r"} sxt_query;", replacement="double newest; } sxt_query;")
        self.assertIn("not compatible", text)

    def test_a_changed_parameter(self):
        code = CODE.replace("sxt_matrix *a, const", "sxt_vector *a, const")
        header = r"(sxt_pcg_create\()sxt_matrix"
        self.assertIn("not compatible", self.verdict(code, pattern=header, replacement=r"\1sxt_vector"))

    def test_an_added_parameter(self):
        code = CODE.replace("sxt_pcg_destroy(sxt_pcg *p)", "sxt_pcg_destroy(sxt_pcg *p, int why)") + "int w;"
        header = r"(sxt_pcg_destroy\(sxt_pcg \*pcg)"
        self.assertIn("not compatible", self.verdict(code, pattern=header, replacement=r"\1, int why"))

    def test_a_removed_function(self):
        code = CODE[: CODE.index("void sxt_pcg_destroy")]
        self.assertIn("not compatible", self.verdict(code))

    def test_a_library_without_types(self):
        self.assertIn("no debug information", self.verdict(flags=("-DINNER=1",)))

    def test_a_missing_baseline(self):
        self.baseline.unlink()
        self.assertIn("old.abi is missing", self.verdict())


class Suppressions(unittest.TestCase):
    def test_only_structs_that_begin_with_their_size(self):
        names = re.search(r"name_regexp = \^sxt_\((.*)\)\$", SUPPRESSIONS.read_text()).group(1).split("|")
        header = (ROOT / "include" / "sextant" / "sextant.h").read_text()
        sized = re.findall(r"typedef struct \{\s*uint64_t struct_size;[^}]*\} sxt_(\w+);", header)
        self.assertEqual(sorted(names), sorted(sized))


if __name__ == "__main__":
    if not (shutil.which("abidiff") and shutil.which("abidw")):
        print("SKIPPED: abidiff is not installed (package abigail-tools)")
        sys.exit(77)
    unittest.main()
