#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Proves that the ABI gate lets growth pass and stops everything else: changed copies of the public headers go through
it, against the interface of the unchanged ones."""

import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

import check_abi
import probe

CC = os.environ.get("CC", "cc")
NEW_FUNCTION = "SXT_API sxt_status sxt_newest(sxt_pcg *pcg);\nSXT_API void sxt_pcg_destroy("


class Gate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.baseline = pathlib.Path(folder.name) / "baseline.abi"
        check_abi.write(check_abi.INCLUDE, check_abi.VERSION_MAP, CC, cls.baseline)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.include = self.folder / "include"

    def change(self, pattern, replacement):
        """Copies the headers with a pattern, found exactly once, replaced."""
        found = 0
        (self.include / "sextant").mkdir(parents=True)
        for name in probe.headers(check_abi.INCLUDE):
            text = (check_abi.INCLUDE / "sextant" / name).read_text()
            text, count = re.subn(pattern, replacement, text)
            found += count
            (self.include / "sextant" / name).write_text(text)
        self.assertEqual(found, 1, f"{pattern} in the headers")

    def verdict(self, pattern, replacement, version_map=check_abi.VERSION_MAP):
        self.change(pattern, replacement)
        return check_abi.interface_problem(self.include, version_map, self.baseline, CC)

    def passes(self, pattern, replacement):
        self.assertIsNone(self.verdict(pattern, replacement))

    def fails(self, pattern, replacement, *named):
        text = self.verdict(pattern, replacement) or ""
        for word in ("not compatible", *named):
            self.assertIn(word, text)

    def test_no_change(self):
        self.passes(r"#define SEXTANT_SEXTANT_H", "#define SEXTANT_SEXTANT_H /* the same */")

    def test_a_new_function(self):
        self.passes(r"SXT_API void sxt_pcg_destroy\(", NEW_FUNCTION)

    def test_a_new_constant(self):
        self.passes(r"SXT_NORM_MAX = 1 }", "SXT_NORM_MAX = 1, SXT_NORM_1 = 2 }")

    def test_growth_at_the_end_of_a_sized_struct(self):
        self.passes(r"} sxt_pcg_options;", "double newest; } sxt_pcg_options;")

    def test_growth_in_the_middle_of_a_sized_struct(self):
        self.fails(r"(?=  const char \*recurrence;)", "  double inserted;\n", "sxt_pcg_options", "inserted")

    def test_a_member_is_removed_from_a_sized_struct(self):
        self.fails(r"  double expected_iterations;", "", "expected_iterations")

    def test_a_member_is_renamed(self):
        self.fails(r"(double time_limit; .*\n.*)expected_solves", r"\1swapped", "swapped")

    def test_a_member_of_another_type(self):
        self.fails(r"int32_t reorder;", "float reorder;", "reorder")

    def test_a_growing_struct_that_also_changes(self):
        self.fails(r"double expected_iterations;", "float other, newest;", "expected_iterations")

    def test_a_callback_with_another_parameter(self):
        self.fails(r"int64_t iteration, double relative_residual\);", "int64_t iteration, float r);", "progress")

    def test_growth_of_a_struct_without_size(self):
        self.fails(r"} sxt_query;", "double newest; } sxt_query;", "newest")

    def test_another_parameter(self):
        self.fails(r"(sxt_pcg_create\()sxt_matrix", r"\1sxt_vector", "sxt_pcg_create")

    def test_an_added_parameter(self):
        self.fails(r"(sxt_pcg_destroy\(sxt_pcg \*pcg)", r"\1, int32_t why", "sxt_pcg_destroy")

    def test_another_result(self):
        self.fails(r"SXT_API void (sxt_pcg_destroy)", r"SXT_API sxt_status \1", "sxt_pcg_destroy")

    def test_a_removed_function(self):
        self.fails(r"SXT_API void sxt_pcg_destroy\([^;]*;", "", "sxt_pcg_destroy")

    def test_a_changed_constant(self):
        self.fails(r"SXT_E_INDEX, -7", "SXT_E_INDEX, -70", "SXT_E_INDEX")

    def test_another_version_node(self):
        other = self.folder / "map"
        other.write_text("SEXTANT_1 { global: sxt_*; local: *; };\n")
        self.assertIn("not compatible", self.verdict(r"SEXTANT_SEXTANT_H\n(?=\n)", "SEXTANT_SEXTANT_H\n", other) or "")

    def test_a_missing_baseline(self):
        missing = self.folder / "nowhere.abi"
        text = check_abi.interface_problem(check_abi.INCLUDE, check_abi.VERSION_MAP, missing, CC)
        self.assertIn("nowhere.abi is missing", text)

    def test_a_library_that_lacks_a_function(self):
        self.change(r"SXT_API void sxt_pcg_destroy\([^;]*;", "")
        library = probe.build(self.include, check_abi.VERSION_MAP, self.folder, CC)
        text = check_abi.library_problem(library, self.baseline)
        self.assertIn("lacks sxt_pcg_destroy@@SEXTANT_0", text)

    def test_a_library_that_has_all(self):
        library = probe.build(check_abi.INCLUDE, check_abi.VERSION_MAP, self.folder, CC)
        self.assertIsNone(check_abi.library_problem(library, self.baseline))


class Headers(unittest.TestCase):
    def test_the_public_folder_is_covered(self):
        public = {path.name for path in (check_abi.INCLUDE / "sextant").glob("*.h")} - {"mpi.h"}  # compiled by the caller
        self.assertEqual(set(probe.headers(check_abi.INCLUDE)), public)

    def test_every_function_of_the_headers_is_in_the_baseline(self):
        baseline = check_abi.BASELINE.read_text()
        names = [re.search(r"(sxt_\w+)\s*\(", declaration)[1] for declaration in probe.declarations(check_abi.INCLUDE)]
        self.assertEqual([name for name in names if f"'{name}'" not in baseline], [], "run tools/abi-baseline")


class Suppressions(unittest.TestCase):
    def test_only_structs_that_begin_with_their_size(self):
        self.assertEqual(sorted(check_abi.growing_structs()), sorted(probe.sized_structs(check_abi.INCLUDE)))


if __name__ == "__main__":
    if not (shutil.which("abidiff") and shutil.which("abidw")):
        print("SKIPPED: abidiff is not installed (package abigail-tools)")
        sys.exit(77)
    unittest.main()
