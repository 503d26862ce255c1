#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The ABI gate: fails when a program built against the baseline might not run with this library.

usage: check_abi.py LIBRARY BASELINE HEADERS SUPPRESSIONS

New functions pass, and so do new members at the end of the structs listed in SUPPRESSIONS. Everything else that abidiff
notices fails, whatever weight it gives to it: it calls a changed layout "maybe harmless".
Exit codes: 0 compatible, 1 not (or not to be told), 77 skipped because abidiff is not installed.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile


def has_types(library):
    sections = subprocess.run(["readelf", "-SW", library], check=True, capture_output=True, text=True).stdout
    return ".debug_info" in sections


def problem(library, baseline, headers, suppressions):
    """Why the library fails the gate; None when it passes."""
    for path in (library, baseline, headers, suppressions):
        if not pathlib.Path(path).exists():
            return f"{path} is missing (tools/abi-baseline writes the baseline)"
    # Without debug information abidiff compares names only and finds everything in order.
    if not has_types(library):
        return f"{library} has no debug information, so its types cannot be compared"
    # Written out like the baseline first: told about private types, abidiff would also pass over one handle in the
    # place of another.
    with tempfile.TemporaryDirectory() as folder:
        written = pathlib.Path(folder) / "library.abi"
        subprocess.run(["abidw", "--headers-dir", headers, "--drop-private-types", "--out-file", written, library],
                       check=True)  # fmt: skip
        run = subprocess.run(["abidiff", "--no-added-syms", "--suppressions", suppressions, baseline, written],
                             capture_output=True, text=True)  # fmt: skip
    if run.returncode == 0:
        return None
    return (f"{library} is not compatible with {baseline} (abidiff exits with {run.returncode}):\n"
            f"{run.stdout}{run.stderr}")  # fmt: skip


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    if not shutil.which("abidiff"):
        print("SKIPPED: abidiff is not installed (package abigail-tools)")
        sys.exit(77)
    found = problem(*sys.argv[1:])
    print(f"FAILED: {found}" if found else "compatible with the baseline")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
