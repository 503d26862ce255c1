#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The C++ interface has everything that the C headers have: headers.py SOURCE. Every function is called, every struct of
options has a type that sets its defaults. A gap fails."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bindings" / "fortran" / "tests"))
from headers import Headers, without_comments  # noqa: E402: the parser of the C headers


def gaps(headers, text):
    """What the C++ headers lack of the C headers, a sentence each."""
    text = without_comments(text)
    found = [f"function {name} is not called" for name in sorted(headers.functions) if not re.search(rf"\b{name}\b", text)]
    options = [name for name in sorted(headers.structs) if name.endswith("_options")]
    found += [f"struct {name} has no type that sets its defaults" for name in options
              if not re.search(rf"struct \w+ : {name} \{{\s*\w+\(\) \{{\s*{name}_init\(this, sizeof\({name}\)\);", text)]  # fmt: skip
    return found


class Gaps(unittest.TestCase):
    """A gap is detected."""

    HEADER = """
    typedef struct { uint64_t struct_size; double x; } sxt_o_options;
    SXT_API void sxt_o_options_init(sxt_o_options *options, uint64_t struct_size);
    SXT_API sxt_status sxt_f(int a);
    """
    TEXT = "struct O : sxt_o_options {\n  O() { sxt_o_options_init(this, sizeof(sxt_o_options)); }\n};\nauto s = sxt_f(1);"

    def test_none(self):
        self.assertEqual(gaps(Headers([self.HEADER]), self.TEXT), [])

    def test_a_function_that_is_not_called(self):
        for text in (self.TEXT.replace("sxt_f(", "sxt_ff("), self.TEXT.replace("auto s", "// auto s")):
            self.assertEqual(gaps(Headers([self.HEADER]), text), ["function sxt_f is not called"])

    def test_options_without_a_type(self):
        found = gaps(Headers([self.HEADER]), self.TEXT.replace("struct O : sxt_o_options", "struct O"))
        self.assertEqual(found, ["struct sxt_o_options has no type that sets its defaults"])


def main():
    include = pathlib.Path(sys.argv[1]) / "include" / "sextant"
    # What a program compiles for its MPI is C.
    headers = Headers([path.read_text() for path in sorted(include.glob("*.h")) if path.name != "mpi.h"])
    problems = gaps(headers, "\n".join(path.read_text() for path in sorted((include / "cpp").glob("*.hpp"))))
    print("\n".join(problems), file=sys.stderr)
    print(f"{len(headers.functions)} functions, {len(problems)} gaps")
    seen = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Gaps))
    return 0 if seen.wasSuccessful() and not problems and len(headers.functions) > 90 else 1


if __name__ == "__main__":
    sys.exit(main())
