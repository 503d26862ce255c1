#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_isa_objects.py BUILD_FOLDER COMPILER: objects of ISA_SOURCES define no weak symbol outside their own namespace.

A weak symbol, such as an inline function of the standard library, is kept once a shared object: the copy compiled for
AVX-512 could be the one that runs on a processor without it. A reference to a handler of exceptions (DW.ref), as sanitizers
leave them, is data. The check is first tried on an object that must fail."""

import pathlib
import re
import subprocess
import sys
import tempfile

WEAK = re.compile(r"^[0-9a-f]+ [WVu] (.*)$")


def stray_symbols(path, isa):
    """Weak symbols of an object that do not belong to the namespace of its instruction set."""
    listing = subprocess.run(["nm", "-C", "--defined-only", str(path)], capture_output=True, text=True, check=True).stdout
    found = (WEAK.match(line) for line in listing.splitlines())
    names = [match.group(1) for match in found if match]
    return [name for name in names if f"::{isa}::" not in name and not name.startswith("DW.ref.")]


def notices_a_stray(compiler):
    with tempfile.TemporaryDirectory() as folder:
        source, output = pathlib.Path(folder, "stray.cpp"), pathlib.Path(folder, "stray.o")
        source.write_text("inline __attribute__((noinline)) int stray(int a) { return a + 1; }\n"
                          "int used(int a) { return stray(a); }\n")
        subprocess.run([compiler, "-c", str(source), "-o", str(output)], check=True)
        return stray_symbols(output, "avx512") == ["stray(int)"]


def main(build, compiler):
    if not notices_a_stray(compiler):
        return "the check does not notice a weak symbol"
    objects = [(path, isa) for isa in ("avx2", "avx512") for path in pathlib.Path(build).rglob(f"*_{isa}.dir/**/*.o")]
    problems = [f"{path}: {symbol}" for path, isa in objects for symbol in stray_symbols(path, isa)]
    print(f"{len(objects)} objects for instruction sets, {len(problems)} stray weak symbols")
    return "\n".join(problems) or 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
