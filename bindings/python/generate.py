#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the two generated modules of the package into a folder: generate.py COMPILER INCLUDE LIBRARY OUTPUT

_declarations.py is what cffi must know of the C interface, made from the public headers themselves, so that no declaration
is written twice. The C compiler preprocesses them; what system headers declare is left out by its line markers.
_location.py has the headers' version, and where the library is that the package is for ("": beside the package)."""

import pathlib
import re
import subprocess
import sys

import cffi

# The query of products is in a header for authors of kernels: Matrix.explain() puts it.
HEADERS = '#include "sextant/sextant.h"\n#include "sextant/plugin/kinds/spmv.h"\n'
# The types of functions of the package that the library calls.
CALLBACKS = """
typedef void sextant_log_function(void *user, sxt_log_level level, const char *message);
typedef int32_t sextant_progress_function(void *user, int64_t iteration, double relative_residual);
typedef int32_t sextant_calibration_function(void *user, double done, const char *what, double seconds_left);
"""
MARKER = re.compile(r'# \d+ "([^"]*)"')
ASSERTION = re.compile(r"_Static_assert\(.*?\"\);", re.S)
VERSION = re.compile(r"#define SXT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)")


def declarations(compiler, include):
    """The public headers as plain C declarations."""
    command = [compiler, "-E", "-I", str(include), "-D__attribute__(x)=", "-x", "c", "-"]
    run = subprocess.run(command, input=HEADERS, check=True, capture_output=True, text=True)
    kept, ours, public = [], False, pathlib.Path(include).resolve() / "sextant"
    for line in run.stdout.splitlines():
        marker = MARKER.match(line)
        if marker:
            ours = pathlib.Path(marker.group(1)).resolve().is_relative_to(public)
        elif ours:
            kept.append(line)
    return ASSERTION.sub("", "\n".join(kept))


def location(include, library):
    version = ", ".join(VERSION.findall((pathlib.Path(include) / "sextant/sextant.h").read_text(encoding="utf-8")))
    return f'"""Made by generate.py."""\n\nLIBRARY = {library!r}\nVERSION = ({version})\n'


def main():
    compiler, include, library, output = sys.argv[1:]
    folder = pathlib.Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    ffi = cffi.FFI()
    ffi.cdef(declarations(compiler, include) + CALLBACKS)
    ffi.set_source("sextant._declarations", None)
    ffi.emit_python_code(str(folder / "_declarations.py"))
    (folder / "_location.py").write_text(location(include, library), encoding="utf-8")


if __name__ == "__main__":
    main()
