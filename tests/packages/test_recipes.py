#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The checks of the recipes can fail."""

import unittest

from recipes import manifest_problems, problems_of

CONDA = 'context:\n  version: "1.2.3"\nscript: cmake -DSEXTANT_TESTS=OFF\n'
SPACK = 'version("1.2.3")\nself.define("SEXTANT_TESTS", False)\nself.define_from_variant("SEXTANT_CUDA", "cuda")\n'
OPTIONS = {"SEXTANT_TESTS", "SEXTANT_CUDA"}


class Problems(unittest.TestCase):
    def test_none(self):
        for recipe in (CONDA, SPACK):
            self.assertEqual(problems_of(recipe, "1.2.3", OPTIONS), [])

    def test_another_version(self):
        for recipe in (CONDA, SPACK, "-DSEXTANT_TESTS=ON"):
            self.assertIn("the header's 1.2.4", problems_of(recipe, "1.2.4", OPTIONS)[0])

    def test_an_option_that_is_none(self):
        for recipe in (CONDA, SPACK):
            self.assertEqual(len(problems_of(recipe, "1.2.3", {"SEXTANT_CUDA"})), 1)
        self.assertIn("no option", problems_of('version("1.2.3")', "1.2.3", OPTIONS)[0])

    def test_the_manifest_for_fpm(self):
        manifest = 'name = "sextant"\nversion = "1.2.3"\n[build]\nlink = "sextant"\n'
        self.assertEqual(manifest_problems(manifest, "1.2.3"), [])
        self.assertIn("the header's 1.2.4", manifest_problems(manifest, "1.2.4")[0])
        self.assertIn("does not link", manifest_problems(manifest.replace("link", "#"), "1.2.3")[0])


if __name__ == "__main__":
    unittest.main()
