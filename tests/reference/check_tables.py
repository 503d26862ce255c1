#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/reference/ say what the sources say: statuses and reasons, environment variables, kinds and kernels.
check_tables.py SOURCE"""

import pathlib
import re
import sys

SUFFIXES = {".c", ".cpp", ".cu", ".h", ".hpp"}
PYTHON = {".py"}
ENTRY = re.compile(r'\bX\((\w+), (-?\d+), "([^"]*)"(?:, "([^"]*)")?')
VARIABLE = re.compile(r'"(SEXTANT_[A-Z_]+|XDG_[A-Z_]+|NO_COLOR|TERM|HOME|VIRTUAL_ENV|CONDA_PREFIX)"')
KERNEL = re.compile(r'"((?:[a-z_]+)\.[a-z0-9_.-]+\.(?:cpu|cuda)|launch\.[a-z]+|device\.(?:cpu|cuda))"')
KIND = re.compile(r'#define SXT_KIND_\w+ "(sxt\.[^"]+)"')


def cells(text):
    """The rows of all tables, without code marks."""
    rows = [line for line in text.split("\n") if line.startswith("|") and not re.match(r"\|[-:|]+$", line)]
    return [[cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def differences(what, documented, known):
    yield from (f"{what} lacks {each}" for each in sorted(known - documented))
    yield from (f"{what} has {each}, which the sources have not" for each in sorted(documented - known))


def texts(root, *folders, suffixes=SUFFIXES):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and not path.name.startswith("test_"):
                yield path.read_text(encoding="utf-8", errors="replace")


def table(header, name):
    return ENTRY.findall(header.split(f"#define {name}(X)")[1].split("\ntypedef")[0])


def errors(root):
    header = (root / "include/sextant/types.h").read_text(encoding="utf-8")
    rows = cells((root / "docs/reference/errors.md").read_text(encoding="utf-8"))
    known = {(name, value, sentence) for name, value, sentence, _ in table(header, "SXT_STATUS_TABLE")}
    known |= {(name, value, text, sentence) for name, value, sentence, text in table(header, "SXT_REASON_TABLE")}
    documented = {tuple(row[:-1]) for row in rows if row[0].startswith("SXT_")}
    yield from differences("docs/reference/errors.md", documented, known)
    yield from (f"docs/reference/errors.md does not say what to do about {row[0]}" for row in rows if not row[-1])


def environment(root):
    rows = cells((root / "docs/reference/environment.md").read_text(encoding="utf-8"))
    documented = {row[0] for row in rows if re.fullmatch(r"[A-Z_]+", row[0])}
    known = {name for text in texts(root, "core", "abi", "files", "plugins", "tools") for name in VARIABLE.findall(text)}
    known |= {name for text in texts(root, "bindings/python/sextant", suffixes=PYTHON) for name in VARIABLE.findall(text)}
    yield from differences("docs/reference/environment.md", documented, known)


def names(root):
    text = (root / "docs/reference/names.md").read_text(encoding="utf-8")
    known = {name for source in texts(root, "plugins") for name in KERNEL.findall(source)}
    documented = {cell for row in cells(text) for cell in row if re.fullmatch(KERNEL.pattern.strip('"'), cell)}
    yield from differences("docs/reference/names.md", documented, known)
    kinds = {kind for source in texts(root, "include/sextant/plugin") for kind in KIND.findall(source)}
    kinds = {"sxt.storage.<format>/1" if kind.startswith("sxt.storage.") else kind for kind in kinds}
    yield from differences("docs/reference/names.md", set(re.findall(r"`(sxt\.[a-z_.<>]+/[0-9]+)`", text)) - {"sxt.storage.csr/1"}, kinds)


def main():
    root = pathlib.Path(sys.argv[1])
    problems = [*errors(root), *environment(root), *names(root)]
    print("\n".join(problems) or "tables of the reference: no problem")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
