#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every source file says its licence in one SPDX line, within its first three lines."""

import tree

SUFFIXES = tree.C_SUFFIXES | tree.FORTRAN_SUFFIXES | {".py", ".sh", ".cmake"}
LINE = "SPDX-License-" + "Identifier: BSD-3-Clause"


def check(root):
    problems, checked = [], 0
    for path in tree.project_files(root):
        text = tree.read_text(root / path)
        if text is None or not (path.suffix in SUFFIXES or path.name == "CMakeLists.txt" or text.startswith("#!")):
            continue
        checked += 1
        if not any(LINE in line for line in text.split("\n")[:3]):
            problems.append(f"{path} has no line '{LINE}' among its first three")
    return problems, checked


if __name__ == "__main__":
    tree.main("spdx", check)
