# SPDX-License-Identifier: BSD-3-Clause
"""Every C header compiles alone, in every language standard it promises, without a warning."""

import subprocess

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
C_STANDARDS = ["c11", "c17"]
CXX_STANDARDS = ["c++14", "c++17", "c++20"]


def one_file_each(headers, include, folder, suffix):
    """A source file for each header that includes it and nothing else; twice, as a guard may be missing."""
    files = []
    for header in headers:
        name = header.relative_to(include).as_posix()
        source = folder / (name.replace("/", "_") + suffix)
        source.write_text(f'#include "{name}"\n#include "{name}"\ntypedef int nothing_else;\n')
        files.append(source)
    return files


def complaints(compiler, standard, flags, include, sources):
    command = [compiler, "-fsyntax-only", f"-std={standard}", *flags, f"-I{include}", *sources]
    run = subprocess.run(command, capture_output=True, text=True)
    return [f"{standard}:\n{run.stderr}"] if run.returncode != 0 else []


def problems(include, folder, cc, cxx):
    """What the compilers say; empty when nothing."""
    headers = sorted(include.rglob("*.h"))
    found = [] if headers else [f"no header under {include}"]
    runs = [(cc, standard, ".c", ["-Wstrict-prototypes"]) for standard in C_STANDARDS]
    runs += [(cxx, standard, ".cpp", []) for standard in CXX_STANDARDS]
    for compiler, standard, suffix, more in runs:
        sources = one_file_each(headers, include, folder, suffix)
        found += complaints(compiler, standard, WARNINGS + more, include, sources)
    # Helpers for authors of kernels, in C++20 only, and meant for OpenMP.
    helpers = one_file_each(sorted(include.rglob("*.hpp")), include, folder, ".hpp.cpp")
    if helpers:
        found += complaints(cxx, "c++20", ["-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Werror"], include, helpers)
    return found
