# SPDX-License-Identifier: BSD-3-Clause
"""Every header compiles alone, in every language standard it promises, without a warning."""

import platform
import re
import shutil
import subprocess

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
C_STANDARDS = ["c11", "c17"]
CXX_STANDARDS = ["c++14", "c++17", "c++20"]
# Headers for users of another library, and its package for pkg-config: left out where that is not installed.
OF_LIBRARIES = {"sextant/eigen.hpp": "eigen3"}
# Compiled by the caller's mpicc: tests/world does that where there is one.
OF_MPI = {"sextant/mpi.h"}
# As sextant_add_plugin compiles a plugin's ISA_SOURCES.
ISAS = {"baseline": []}
if platform.machine().lower() in ("x86_64", "amd64"):
    ISAS["avx2"] = ["-mavx2", "-mfma"]
    ISAS["avx512"] = ["-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw", "-mfma", "-mprefer-vector-width=512"]


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


def for_one_isa(headers, include):
    """Headers that stop a compiler without a chosen instruction set, directly or through what they include."""
    texts = {path.relative_to(include).as_posix(): path.read_text() for path in headers}
    found = {name for name, text in texts.items() if re.search(r'#error ".* is for ISA_SOURCES"', text)}
    while True:
        more = {name for name, text in texts.items() if found.intersection(re.findall(r'#include "([^"]+)"', text))}
        if more <= found:
            return [include / name for name in sorted(found)]
        found |= more


def flags_of(package):
    """What pkg-config says a package's headers need; None where it is not installed."""
    if not shutil.which("pkg-config"):
        return None
    run = subprocess.run(["pkg-config", "--cflags", package], capture_output=True, text=True)
    return run.stdout.replace("-I", "-isystem").split() if run.returncode == 0 else None


def library_header_problems(include, folder, cxx):
    found = []
    for name, package in OF_LIBRARIES.items():
        flags = flags_of(package)
        if flags is None:
            print(f"SKIPPED: {name}, because {package} is not installed, or pkg-config")
        elif (include / name).exists():
            sources = one_file_each([include / name], include, folder, ".hpp.cpp")
            found += complaints(cxx, "c++20", [*WARNINGS, *flags], include, sources)
    return found


def cpp_problems(include, folder, cxx):
    """The C++ interface and helpers for authors of kernels, in C++20, the latter meant for OpenMP; those for CUDA need a
    compiler of their own."""
    helpers = sorted(path for path in include.rglob("*.hpp") if "cuda" not in path.relative_to(include).parts
                     and path.relative_to(include).as_posix() not in OF_LIBRARIES)  # fmt: skip
    isa_helpers = for_one_isa(helpers, include)
    runs = [([path for path in helpers if path not in isa_helpers], [])]
    runs += [(isa_helpers, [f"-DSXT_ISA={isa}", f"-DSXT_ISA_{isa}=1", *flags]) for isa, flags in ISAS.items()]
    found = []
    for headers, flags in runs:
        sources = one_file_each(headers, include, folder, ".hpp.cpp")
        if sources:
            warnings = ["-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Werror"]
            found += complaints(cxx, "c++20", warnings + flags, include, sources)
    return found + library_header_problems(include, folder, cxx)


def problems(include, folder, cc, cxx):
    """The compilers' output; empty when there is none."""
    headers = sorted(path for path in include.rglob("*.h") if path.relative_to(include).as_posix() not in OF_MPI)
    found = [] if headers else [f"no header under {include}"]
    runs = [(cc, standard, ".c", ["-Wstrict-prototypes"]) for standard in C_STANDARDS]
    runs += [(cxx, standard, ".cpp", []) for standard in CXX_STANDARDS]
    for compiler, standard, suffix, more in runs:
        sources = one_file_each(headers, include, folder, suffix)
        found += complaints(compiler, standard, WARNINGS + more, include, sources)
    return found + cpp_problems(include, folder, cxx)
