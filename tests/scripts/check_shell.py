#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every shell script parses and satisfies shellcheck. Exit code 77 (skipped) where there is no shellcheck."""

import pathlib
import shutil
import subprocess
import sys

import tree


def scripts(root):
    """The scripts that are run; those they source are checked with them."""
    return [path for path in tree.project_files(root) if tree.is_script(tree.read_text(root / path) or "", "bash")]


def run(root, command, path):
    result = subprocess.run([*command, str(path)], cwd=root, capture_output=True, text=True)
    return [] if result.returncode == 0 else [f"{path}:\n{result.stdout}{result.stderr}"]


def check(root):
    problems, paths = [], scripts(root)
    for path in paths:
        wrong = run(root, ["bash", "-n"], path)
        if not wrong and shutil.which("shellcheck"):
            wrong = run(root, ["shellcheck", "-x"], path)
        problems += wrong
    return problems, len(paths)


if __name__ == "__main__":
    found, number = check(pathlib.Path(sys.argv[1]))
    code = tree.report("shell", found, number)
    if code == 0 and not shutil.which("shellcheck"):
        print("shell: skipped, there is no shellcheck; the scripts were only parsed")
        code = 77
    sys.exit(code)
