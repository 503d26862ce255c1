#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The ABI gate: fails when a program built against the baseline might not run with this library.

usage: check_abi.py [--library LIBSEXTANT] [--cc CC]     compare
       check_abi.py --renew [--cc CC]                    write a new baseline (tools/abi-baseline)

The interface of the public header is compared with the baseline by abidiff; the symbols of the library, if it is
given, by nm. New functions and constants pass, and so do new members at the end of the structs that begin with their
size. Every other change that abidiff reports fails, also those it calls harmless.
Exit codes: 0 compatible, 1 not (or not decided), 77 skipped because abidiff is not installed.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import layout
import probe

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
VERSION_MAP = ROOT / "abi" / "sextant.map"
BASELINE = ROOT / "abi" / "baseline" / "libsextant.abi"
SUPPRESSIONS = ROOT / "abi" / "baseline" / "growing_structs.suppr"


def write(include, version_map, cc, written):
    """The interface of a header, as abidw puts it."""
    with tempfile.TemporaryDirectory() as folder:
        probe.describe(probe.build(include, version_map, folder, cc), written)


def growing_structs():
    """Names in the suppressions."""
    names = re.search(r"name_regexp = \^sxt_\((.*)\)\$", SUPPRESSIONS.read_text()).group(1)
    return [f"sxt_{name}" for name in names.split("|")]


def interface_problem(include, version_map, baseline, cc):
    """Why the header fails the gate; None when it passes."""
    if not baseline.exists():
        return f"{baseline} is missing: tools/abi-baseline writes it"
    with tempfile.TemporaryDirectory() as folder:
        now = pathlib.Path(folder) / "now.abi"
        write(include, version_map, cc, now)
        command = ["abidiff", "--no-added-syms", "--harmless", "--suppressions", SUPPRESSIONS, baseline, now]
        run = subprocess.run(command, capture_output=True, text=True)
        moved = layout.moved_members(baseline, now, growing_structs())
    if run.returncode == 0 and not moved:
        return None
    report = "\n".join(moved) + f"\nabidiff exits with {run.returncode}:\n{run.stdout}{run.stderr}"
    return f"not compatible with {baseline}:\n{report}"


def symbols(library):
    """name@@node of everything the library exports."""
    text = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library], check=True,
                          capture_output=True, text=True).stdout  # fmt: skip
    return {line.split()[-1] for line in text.splitlines()}


def library_problem(library, baseline):
    """Which functions of the baseline the library lacks; None when it has all."""
    wanted = re.findall(r"<elf-symbol name='([^']*)' version='([^']*)'", baseline.read_text())
    wanted = {f"{name}@@{node}" for name, node in wanted if not name.startswith(probe.PINNED)}
    missing = sorted(wanted - symbols(library))
    if not wanted:
        return f"{baseline} lists no function"
    return f"{library} lacks {', '.join(missing)}" if missing else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=pathlib.Path)
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    parser.add_argument("--renew", action="store_true")
    options = parser.parse_args()
    if not (shutil.which("abidiff") and shutil.which("abidw")):
        print("SKIPPED: abidiff is not installed (package abigail-tools)")
        sys.exit(77)
    if options.renew:
        write(INCLUDE, VERSION_MAP, options.cc, BASELINE)
        print(f"wrote {BASELINE}")
        return
    problems = [interface_problem(INCLUDE, VERSION_MAP, BASELINE, options.cc)]
    if options.library and BASELINE.exists():
        problems.append(library_problem(options.library, BASELINE))
    problems = [problem for problem in problems if problem]
    for problem in problems:
        print(f"FAILED: {problem}")
    if problems:
        sys.exit(1)
    print("compatible with the baseline")


if __name__ == "__main__":
    main()
