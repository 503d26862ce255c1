# SPDX-License-Identifier: BSD-3-Clause
"""Module sextant has everything that the C headers have: every constant with its value, every function, every
struct with its layout, every option. A gap fails, so a member that is added to a header is added to the module with it.

An added option takes one line in the bind(c) type of a *_c.f90 module, one in the type that callers set, and one where the
one is copied to the other."""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

RENAMED = {"sxt_copy": "sxt_copy_arrays"}  # a constant and a function whose names differ in case alone
# Members that callers do not set: the module fills them in.
OWN = re.compile(r"struct_size|reserved\d+|\w+_user|index_type|offset_type|n_plugin_paths|history_length")


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


class Headers:
    def __init__(self, texts):
        text = without_comments("\n".join(texts)).replace("\\\n", " ")
        self.functions = set(re.findall(r"SXT_API[^;{]*?\b(sxt_\w+)\(", text))
        self.constants = set(re.findall(r"\bX\((SXT_\w+),", text))
        for body in re.findall(r"\benum\s*\{([^{}]*)\}", text):
            self.constants.update(re.findall(r"\b(SXT_\w+)\s*=(?!=)", body))
        self.constants.discard("SXT_X")
        self.structs = {}
        for body, name in re.findall(r"typedef struct(?:\s+\w+)?\s*\{([^{}]*)\}\s*(\w+)\s*;", text):
            self.structs[name] = self.members(body)

    @staticmethod
    def members(body):
        found = []
        for declaration in body.split(";"):
            pointer = re.search(r"\(\*(\w+)\)\s*\(", declaration)
            if pointer:
                found.append(pointer.group(1))
                continue
            for part in declaration.split(","):
                name = re.search(r"(\w+)\s*(?:\[\d+\])?\s*$", part)
                if name:
                    found.append(name.group(1))
        return found


def joined(text):
    """Fortran without comments, continued lines made one."""
    text = re.sub(r"(?m)!.*$", "", text)
    return re.sub(r"&\s*\n\s*&?", " ", text)


class Module:
    def __init__(self, layer, upper):
        layer = joined("\n".join(layer)).lower()
        self.upper = joined("\n".join(upper)).lower()
        self.functions = set(re.findall(r"(?:function|subroutine)\s+(sxt_\w+)\s*\([^)]*\)\s*bind\(c\)", layer))
        self.constants = set()
        for names in re.findall(r"integer\(i4\), parameter :: (sxt_[^\n]*)", layer):
            self.constants.update(re.findall(r"(sxt_\w+)\s*=", names))
        self.structs = {}
        for name, body in re.findall(r"type, bind\(c\) :: (sxt_\w+)\n(.*?)\n\s*end type", layer, flags=re.S):
            self.structs[name] = re.findall(r"::\s*(\w+)", body)

    def calls(self, function):
        return re.search(rf"\b{function}\b", self.upper) is not None

    def sets(self, member):
        return re.search(rf"%{member}\b", self.upper) is not None


def gaps(headers, module):
    """What the module lacks of the headers, a sentence each."""
    found = []
    for constant in sorted(headers.constants):
        name = RENAMED.get(constant.lower(), constant.lower())
        if name not in module.constants:
            found.append(f"constant {constant} is not in sextant_constants.f90")
    for function in sorted(headers.functions):
        if function not in module.functions:
            found.append(f"function {function} has no interface with bind(c)")
        elif not module.calls(function):
            found.append(f"function {function} is reached by no procedure of the module")
    for struct, members in sorted(headers.structs.items()):
        if struct not in module.structs:
            found.append(f"struct {struct} has no type with bind(c)")
        elif members != module.structs[struct]:
            found.append(f"struct {struct} has {members}, its type {module.structs[struct]}")
        elif struct.endswith(("_options", "_report")):
            found += [f"{struct}.{each} can be neither set nor read" for each in members
                      if not OWN.fullmatch(each) and not module.sets(each)]  # fmt: skip
    return found


def c_program(headers):
    lines = ["#include <stdio.h>", '#include "sextant/sextant.h"', "int main(void) {"]
    lines += [f'  printf("{RENAMED.get(c.lower(), c.lower())} %d\\n", (int){c});' for c in sorted(headers.constants)]
    for struct, members in sorted(headers.structs.items()):
        lines.append(f'  printf("{struct} %d\\n", (int)sizeof({struct}));')
        lines += [f'  printf("{struct}.{m} %d\\n", (int)offsetof({struct}, {m}));' for m in members]
    return "\n".join([*lines, "  return 0;", "}", ""])


def fortran_program(headers):
    """The same numbers from Fortran; a procedure for each struct, so that names may repeat."""
    lines = ["program layout", "use iso_c_binding"]
    lines += [f"use sextant_{m}" for m in ("constants", "c", "cholesky_c", "cholesky_sets_c", "hermitian_c", "kernels_c", "models_c", "world_c")]
    lines += ["implicit none"]
    lines += [f"call show_{struct}()" for struct in sorted(headers.structs)]
    for constant in sorted(headers.constants):
        name = RENAMED.get(constant.lower(), constant.lower())
        lines.append(f"print '(a, i0)', '{name} ', {name}")
    lines.append("contains")
    for struct, members in sorted(headers.structs.items()):
        lines += [f"subroutine show_{struct}()", f"type({struct}), target :: o", "integer(c_intptr_t) :: start"]
        lines += ["start = transfer(c_loc(o), start)", f"print '(a, i0)', '{struct} ', c_sizeof(o)"]
        lines += [f"print '(a, i0)', '{struct}.{m} ', transfer(c_loc(o%{m}), start) - start" for m in members]
        lines.append("end subroutine")
    return "\n".join([*lines, "end program", ""])


def numbers_of(compiler, source, text, *flags):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / source
        path.write_text(text)
        program = pathlib.Path(folder) / "program"
        subprocess.run([compiler, path, "-o", program, *flags], cwd=folder, check=True)
        output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return dict(line.split() for line in output.splitlines())


def differences(in_c, in_fortran):
    return [f"{name} is {in_c.get(name)} in C and {in_fortran.get(name)} in Fortran"
            for name in sorted(in_c.keys() | in_fortran.keys()) if in_c.get(name) != in_fortran.get(name)]  # fmt: skip


class Gaps(unittest.TestCase):
    """A gap is detected: the checks on headers and modules made up for it."""

    HEADER = """
    #define SXT_S_TABLE(X) X(SXT_OK, 0, "done")
    enum { SXT_A = 1, SXT_B = 2 }; /* enum { SXT_NO = 3 }; */
    typedef struct { uint64_t struct_size; double x, y; void (*f)(void *u, int v); const double *z[2]; } sxt_o_options;
    SXT_API sxt_status sxt_f(int a,
                             int b);
    """
    LAYER = """
      integer(i4), parameter :: sxt_ok = 0
      integer(i4), parameter :: sxt_a = 1, sxt_b = 2
      type, bind(c) :: sxt_o_options
        integer(i8) :: struct_size
        real(r8) :: x
        real(r8) :: y
        type(c_funptr) :: f
        type(c_ptr) :: z(2)
      end type
      function sxt_f(a, &
                     b) bind(c) result(status)
    """
    UPPER = "status = sxt_f(1, 2)\nc%x = 1\nc%y = 2\nc%f = g\nc%z = h\n"

    def found(self, header=HEADER, layer=LAYER, upper=UPPER):
        return gaps(Headers([header]), Module([layer], [upper]))

    def assert_gap(self, words, **texts):
        found = self.found(**texts)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_none(self):
        self.assertEqual(self.found(), [])

    def test_constants(self):
        self.assert_gap("constant SXT_C", header=self.HEADER.replace("SXT_B = 2", "SXT_B = 2, SXT_C = 3"))
        self.assert_gap("constant SXT_E", header=self.HEADER.replace('"done")', '"done") X(SXT_E, 1, "no")'))

    def test_functions(self):
        self.assert_gap("no interface", header=self.HEADER + "SXT_API const char *sxt_g(void);")
        self.assert_gap("reached by no procedure", upper=self.UPPER.replace("sxt_f", "sxt_ff"))

    def test_structs(self):
        self.assert_gap("sxt_o_options has", header=self.HEADER.replace("x, y;", "x, y, w;"))
        self.assert_gap("no type", header=self.HEADER + "typedef struct sxt_p { int a; } sxt_p;")
        self.assert_gap("sxt_o_options.y can be neither", upper=self.UPPER.replace("c%y", "c%yy"))

    def test_numbers(self):
        self.assertEqual(differences({"a": "1", "b": "2"}, {"a": "1", "b": "2"}), [])
        self.assertEqual(differences({"a": "1"}, {"a": "2"}), ["a is 1 in C and 2 in Fortran"])
        self.assertEqual(differences({"a": "1"}, {}), ["a is 1 in C and None in Fortran"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", type=pathlib.Path, required=True)
    parser.add_argument("--sources", type=pathlib.Path, required=True)
    parser.add_argument("--modules", required=True)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--fc", required=True)
    options = parser.parse_args()
    headers = Headers([path.read_text() for path in sorted((options.include / "sextant").glob("*.h"))])
    files = sorted([*options.sources.glob("sextant*.f90"), *options.sources.glob("*.inc")])
    layer = [path for path in files if path.stem.endswith(("_c", "_constants"))]
    module = Module([path.read_text() for path in layer], [path.read_text() for path in files if path not in layer])
    problems = gaps(headers, module)
    if not problems:  # else the programs do not compile
        in_c = numbers_of(options.cc, "layout.c", c_program(headers), f"-I{options.include.resolve()}")
        in_fortran = numbers_of(options.fc, "layout.f90", fortran_program(headers), f"-I{pathlib.Path(options.modules).resolve()}")
        problems = differences(in_c, in_fortran)
    print("\n".join(problems), file=sys.stderr)
    counts = f"{len(headers.functions)} functions, {len(headers.constants)} constants, {len(headers.structs)} structs"
    print(f"{counts}; {len(problems)} gaps")
    seen = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Gaps))
    return 0 if seen.wasSuccessful() and not problems and len(headers.functions) > 90 else 1


if __name__ == "__main__":
    sys.exit(main())
