# SPDX-License-Identifier: BSD-3-Clause
"""A C library with the same interface as libsextant and nothing behind it, made from the public header alone.

The compiler checks the library against the header, so the interface is that of the header. Without the C++ code it is small
enough to store, needs no debug information in the product, and takes a second. Functions get a body that traps.
Every enumerator becomes an array whose length is its value, so that a changed value is a changed interface.
"""

import pathlib
import re
import subprocess

PINNED = "sxt_pinned_"  # not in the product: names of those arrays
OFFSET = 1000  # makes lengths of negative values positive


def headers(include):
    """Names of what one #include "sextant/sextant.h" brings in, that one included."""
    found, todo = [], ["sextant.h"]
    while todo:
        name = todo.pop()
        if name not in found:
            found.append(name)
            text = (include / "sextant" / name).read_text()
            todo += re.findall(r'^#include "sextant/(\w+\.h)"', text, flags=re.M)
    return sorted(found)


def text(include):
    """The text of all headers without comments."""
    together = "\n".join((include / "sextant" / name).read_text() for name in headers(include))
    return re.sub(r"/\*.*?\*/", "", together, flags=re.S)


def declarations(include):
    """Prototypes of all SXT_API functions, without the semicolon."""
    return re.findall(r"^SXT_API\b([^;]*);", text(include), flags=re.M)


def sized_structs(include):
    """Names of the structs that begin with their size."""
    return re.findall(r"typedef struct \{\s*uint64_t struct_size;[^}]*\} (\w+);", text(include))


def enumerators(include, cc):
    command = [cc, "-E", "-P", f"-I{include}", "-x", "c", "-"]
    run = subprocess.run(command, input='#include "sextant/sextant.h"\n', check=True, capture_output=True, text=True)
    bodies = re.findall(r"\benum\s*\w*\s*\{([^}]*)\}", run.stdout)
    return [name for body in bodies for name in re.findall(r"\b(SXT_\w+)\s*(?:=|,|$)", body)]


def build(include, version_map, folder, cc):
    """Compiles the probe; returns its path."""
    functions = declarations(include)
    lines = ['#include "sextant/sextant.h"', "#undef SXT_API", "#define SXT_API"]
    lines += [f"{function.strip()} {{ __builtin_trap(); }}" for function in functions]
    lines += [f"const char {PINNED}{name}[{OFFSET} + (int)({name})] = {{0}};" for name in enumerators(include, cc)]
    source, library = pathlib.Path(folder) / "probe.c", pathlib.Path(folder) / "libsextant.so"
    source.write_text("\n".join(lines) + "\n")
    # By its name alone, as the path is written into the file.
    subprocess.run([cc, "-std=gnu11", "-w", "-g", "-O0", "-shared", "-fPIC", f"-I{include}", source.name, "-o", library,
                    "-Wl,-soname,libsextant.so.0", f"-Wl,--version-script={version_map}"],
                   check=True, cwd=folder)  # fmt: skip
    return library


def describe(library, written):
    """Its interface as abidw writes it, without places on this machine."""
    options = ["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs"]
    subprocess.run(["abidw", *options, "--out-file", written, library], check=True)
