#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs Python with the package, on a library that is not installed: run.py OPTIONS -- ARGUMENTS OF PYTHON

The package is laid out in --work: the sources, and what generate.py makes. Exit code 77, and the reason, where a module of
--needs is not there."""

import argparse
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

PACKAGE = pathlib.Path(__file__).resolve().parents[1]


def lay_out(work, compiler, library):
    folder = work / "sextant"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PACKAGE / "sextant", folder, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-B", PACKAGE / "generate.py", compiler, PACKAGE.parents[1] / "include", library, folder]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--needs", default="cffi,numpy")
    parser.add_argument("--sanitize", default="")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    missing = [name for name in options.needs.split(",") if importlib.util.find_spec(name) is None]
    if missing or options.sanitize:
        print("SKIPPED: " + (f"Python has no module {', '.join(missing)}" if missing else "an interpreter without the sanitizer's runtime"))
        return 77
    lay_out(options.work, options.cc, options.library)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SEXTANT_")}
    environment.update(PYTHONPATH=str(options.work), PYTHONDONTWRITEBYTECODE="1", PYTHONFAULTHANDLER="1")
    return subprocess.run([sys.executable, *options.command], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
