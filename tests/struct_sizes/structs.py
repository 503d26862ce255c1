#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""structs.py OUT HEADER...: STRUCT(name, MEMBER(name, m) MEMBER(name, m) ...) for each struct that begins with its size."""

import pathlib
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)
STRUCT = re.compile(r"typedef struct(?:\s+\w+)?\s*\{([^{}]*)\}\s*(\w+)\s*;")
FUNCTION = re.compile(r"\(\s*\*\s*(\w+)\s*\)\s*\([^()]*\)")


def members(body):
    """Names in order: of functions, of arrays, and of several in one declaration."""
    names = []
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        function = FUNCTION.search(declaration)
        if function:
            names.append(function.group(1))
            continue
        for part in declaration.split(","):
            names.append(re.search(r"(\w+)\s*(?:\[\w+\]\s*)*$", part).group(1))
    return names


def main():
    lines = []
    for header in map(pathlib.Path, sys.argv[2:]):
        for body, name in STRUCT.findall(COMMENT.sub("", header.read_text())):
            found = members(body)
            if found[0] == "struct_size":
                lines.append(f"STRUCT({name}, {' '.join(f'MEMBER({name}, {member})' for member in found)})\n")
    if len(lines) < 10:
        sys.exit("structs.py: too few structs found; has the headers' form changed?")
    pathlib.Path(sys.argv[1]).write_text("".join(lines))


if __name__ == "__main__":
    main()
