#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The code in README.md and docs/*.md.

A block of C, C++, Fortran or Python is a whole program, which is built and run and must print the ```text block that follows it; or it is
an excerpt, which says above itself where it is from:

    <!-- from docs/examples/heat/heat.c -->

and then stands in that file line by line ('...' on a line of its own leaves lines out). Other sketches are ```text.

  examples.py list SOURCE             a line for each program: name, language, document
  examples.py extract SOURCE NAME OUT writes a program
  examples.py run SOURCE NAME PROGRAM runs it and compares what it prints
  examples.py check SOURCE            every block is a program or an excerpt that is up to date
"""

import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"(?:<!-- from (\S+) -->\n)?^```(\w+)\n(.*?)^```$", re.S | re.M)
PROGRAM = {
    "c": re.compile(r"^int main\(", re.M),
    "cpp": re.compile(r"^int main\(", re.M),
    "fortran": re.compile(r"^program \w+", re.M),
    "python": re.compile(r"^import sextant$", re.M),
}
CODE = {"c", "cpp", "fortran", "python"}


def documents(source):
    root = pathlib.Path(source)
    return [root / "README.md", *sorted((root / "docs").glob("*.md")), *sorted((root / "docs/reference").glob("*.md"))]


def blocks(path):
    """(where it is from, language, text, what follows) of each fenced block."""
    found = [match.groups() for match in BLOCK.finditer(path.read_text(encoding="utf-8"))]
    return [(*each, found[i + 1] if i + 1 < len(found) else None) for i, each in enumerate(found)]


def programs(source):
    """name: (language, text, expected output or None, document)"""
    result = {}
    for path in documents(source):
        for origin, language, text, after in blocks(path):
            if origin is None and language in PROGRAM and PROGRAM[language].search(text):
                expected = after[2] if after and after[1] == "text" else after_shell(path, text)
                result[free_name(f"{path.stem.lower()}_{language}", result)] = (language, text, expected, path.name)
    return result


def free_name(name, taken):
    """The name itself, or for later programs of a document with a number from 2."""
    numbered = (name if i == 1 else f"{name}_{i}" for i in range(1, len(taken) + 2))
    return next(each for each in numbered if each not in taken)


def after_shell(path, text):
    """The ```text block after the ```sh block that builds the program."""
    found = blocks(path)
    i = next(i for i, each in enumerate(found) if each[2] == text)
    following = [each[1] for each in found[i + 1 : i + 3]]
    return found[i + 2][2] if following == ["sh", "text"] else None


def excerpt_problem(text, original):
    """The first line of an excerpt that the file does not have at its place."""
    lines, at = [line.rstrip() for line in original.split("\n")], 0
    for part in re.split(r"^\s*\.\.\.\n", text, flags=re.M):
        wanted = [line.rstrip() for line in part.rstrip("\n").split("\n")]
        place = next((i for i in range(at, len(lines)) if lines[i : i + len(wanted)] == wanted), None)
        if place is None:
            missing = next((line for line in wanted if line not in lines), wanted[0])
            return missing.strip()
        at = place + len(wanted)
    return None


def problems(source):
    root = pathlib.Path(source)
    for path in documents(source):
        for origin, language, text, _ in blocks(path):
            where = f"{path.relative_to(root)}, block '{text.splitlines()[0].strip()}'"
            if origin and not (root / origin).is_file():
                yield f"{where} is from {origin}, which is not there"
            elif origin:
                line = excerpt_problem(text, (root / origin).read_text(encoding="utf-8"))
                if line is not None:
                    yield f"{where}: {origin} does not have '{line}' at this place"
            elif language in CODE and not (language in PROGRAM and PROGRAM[language].search(text)):
                yield f"{where} is neither a program nor an excerpt '<!-- from FILE -->'; a sketch is ```text"


def run(source, name, program):
    expected = programs(source)[name][2]
    command = [sys.executable, program] if program.endswith(".py") else [program]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    printed = result.stdout
    if result.returncode != 0:
        sys.exit(f"it printed\n{printed}and ended with {result.returncode}")
    if expected is not None and printed != expected:
        sys.exit(f"it printed\n{printed}and the document says\n{expected}")


def main():
    what, source, *rest = sys.argv[1:]
    if what == "list":
        for name, (language, _, _, document) in programs(source).items():
            print(f"{name},{language},{document}")
    elif what == "extract":
        pathlib.Path(rest[1]).write_text(programs(source)[rest[0]][1], encoding="utf-8")
    elif what == "run":
        run(source, *rest)
    elif what == "check":
        found = list(problems(source))
        sys.exit("\n".join(found) if found else 0)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
