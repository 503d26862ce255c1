#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Proves that the checks of installed files can fail: each is shown an object or header that breaks its rule."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import headers
import shared_objects

CC = os.environ.get("CC", "cc")
CXX = os.environ.get("CXX", "c++")
HEADER = """/* SXT_API void sxt_in_a_comment(void); */
#define SXT_API
SXT_API void sxt_one(void);
SXT_API int sxt_two(int a,
                    int b);
"""
GUARDED = "#ifndef ONE\n#define ONE\ntypedef struct a { int b; } a;\n#endif\n"
CODE = '#include "sextant.h"\nvoid sxt_one(void) {}\nint sxt_two(int a, int b) { return a + b; }\n'
MAP = "SEXTANT_0 { global: sxt_*; local: *; };\n"


class Rules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.header = self.folder / "sextant.h"
        self.header.write_text(HEADER)

    def build(self, code, version_map=MAP, *flags):
        (self.folder / "code.c").write_text(code)
        (self.folder / "map").write_text(version_map)
        library = self.folder / "libsextant.so"
        subprocess.run([CC, "-shared", "-fPIC", "-O0", self.folder / "code.c", "-o", library,
                        f"-Wl,--version-script={self.folder / 'map'}", *flags], check=True)  # fmt: skip
        return library

    def problems(self, *what):
        return "\n".join(shared_objects.library_problems(self.build(*what), [self.header], "SEXTANT_0"))

    def test_a_library_in_order(self):
        self.assertEqual(self.problems(CODE), "")
        self.assertEqual(shared_objects.declared([self.header]), {"sxt_one", "sxt_two"})

    def test_a_declared_function_is_missing(self):
        self.assertIn("sxt_two is declared", self.problems(CODE.replace("sxt_two", "sxt_too")))

    def test_a_stray_symbol_is_exported(self):
        stray = MAP.replace("sxt_*;", "sxt_*; stray;")
        self.assertIn("stray is exported", self.problems(CODE + "int stray = 1;\n", stray))

    def test_another_version_node(self):
        self.assertIn("SEXTANT_9", self.problems(CODE, MAP.replace("_0", "_9")))

    def test_a_library_that_prints_and_exits(self):
        code = "#include <stdio.h>\n#include <stdlib.h>\n" + CODE
        code = code.replace("{}", '{ fprintf(stderr, "%d", 1); exit(1); }')
        text = self.problems(code)
        self.assertIn("fprintf is used", text)
        self.assertIn("exit is used", text)

    def test_a_library_that_asserts(self):
        library = self.build("#include <assert.h>\n" + CODE.replace("return a", "assert(a); return a"))
        problems = shared_objects.library_problems(library, [self.header], "SEXTANT_0")
        self.assertIn("__assert_fail is used", "".join(problems))
        self.assertEqual(shared_objects.library_problems(library, [self.header], "SEXTANT_0", {"__assert_fail"}), [])

    def test_a_header_without_functions(self):
        self.header.write_text("\n")
        self.assertIn("no SXT_API function", self.problems(CODE))

    def test_a_plugin_with_a_second_symbol(self):
        library = self.build(CODE, "{ global: sxt_one; sxt_two; local: *; };")
        self.assertIn("only sxt_one", "".join(shared_objects.plugin_problems(library, "sxt_one")))
        library = self.build(CODE, "{ global: sxt_one; local: *; };")
        self.assertEqual(shared_objects.plugin_problems(library, "sxt_one"), [])

    def test_an_absolute_search_path(self):
        library = self.build(CODE, MAP, "-Wl,-rpath,/opt/somewhere")
        self.assertIn("/opt/somewhere", "".join(shared_objects.path_problems(library)))
        library = self.build(CODE, MAP, "-Wl,-rpath,$ORIGIN/../lib", "-Wl,-soname,libsextant.so.0")
        self.assertEqual(shared_objects.path_problems(library), [])
        self.assertEqual(shared_objects.dynamic(library, "SONAME"), ["libsextant.so.0"])

    def header_problems(self, text):
        include = self.folder / "include"
        include.mkdir(exist_ok=True)
        (include / "one.h").write_text(text)
        return "\n".join(headers.problems(include, self.folder, CC, CXX))

    def test_headers(self):
        self.assertEqual(self.header_problems(GUARDED), "")
        self.assertIn("c++14", self.header_problems(GUARDED.replace("int b", "int class")))
        self.assertIn("c11", self.header_problems(GUARDED.replace("#define ONE", "")))
        self.assertIn("c11", self.header_problems(GUARDED.replace("int b", "size_t b")))

    def test_headers_in_cpp(self):
        include = self.folder / "include"
        (include / "sextant").mkdir(parents=True)
        names = ["sextant/sextant.hpp"]
        names += [name for name, package in headers.OF_LIBRARIES.items() if headers.flags_of(package) is not None]
        for name in names:
            (include / name).write_text("inline int one() {}\n")
            self.assertIn(name, self.header_problems(GUARDED))
            (include / name).unlink()


if __name__ == "__main__":
    unittest.main()
