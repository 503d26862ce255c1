#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The checks of the Debian packages can fail: each is shown a package that breaks it."""

import unittest

from debian_test import problems_of

PATHS = ["/usr/bin/sextant", "/usr/share/man/man1/sextant.1.gz", "/usr/share/bash-completion/completions/sextant",
         "/usr/share/zsh/vendor-completions/_sextant", "/usr/share/fish/vendor_completions.d/sextant.fish",
         "/usr/lib/x86_64-linux-gnu/sextant/libsextant-retune.so", "/usr/share/doc/sextant-tools/copyright", "/usr/share/doc/sextant-tools/changelog.Debian.gz"]  # fmt: skip
FIELDS = {"Section": "math", "Depends": "libsextant0 (= 0.1.0-1), libc6", "Description": "a command\n It does."}


class Problems(unittest.TestCase):
    def found(self, paths=(), fields=(), control=()):
        return problems_of("sextant-tools", paths or PATHS, dict(FIELDS, **dict(fields)), dict(control))

    def test_none(self):
        self.assertEqual(self.found(), [])

    def test_a_file_that_is_missing_or_elsewhere(self):
        for path in PATHS:
            self.assertEqual(len(self.found([each for each in PATHS if each != path])), 1)
        self.assertIn("not below /usr", self.found([*PATHS, "/opt/x"])[0])

    def test_a_plugin_that_belongs_to_the_package_for_cuda(self):
        for path in ("/usr/lib/x86_64-linux-gnu/sextant/plugins-0/cuda/spmv-csr-cuda.so",
                     "/usr/lib/x86_64-linux-gnu/sextant/plugins-0/device/device-cuda.so", "/usr/lib/x86_64-linux-gnu/libcudart.so.13"):  # fmt: skip
            self.assertEqual(len(self.found([*PATHS, path])), 1)

    def test_fields(self):
        self.assertIn("Depends", self.found(fields={"Depends": "libc6"})[0])
        self.assertIn("description", self.found(fields={"Description": "a command"})[0])

    def test_a_trigger_that_does_not_belong_there(self):
        self.assertIn("ldconfig", self.found(control={"triggers": "activate-noawait ldconfig\n"})[0])


if __name__ == "__main__":
    unittest.main()
