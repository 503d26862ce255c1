#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the reference of the public headers with Doxygen: make.py SOURCE OUTPUT VERSION

The HTML goes to OUTPUT/html. The exit code is 1 where a public symbol has no comment, or Doxygen warns of something else:
its lines say where. It is 77 where Doxygen is not installed.
"""

import os
import pathlib
import shutil
import subprocess
import sys


def make(source, output, version):
    pathlib.Path(output).mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "SEXTANT_REFERENCE_OUTPUT": str(output), "SEXTANT_VERSION": version, "PYTHON": sys.executable}
    return subprocess.run(["doxygen", "docs/Doxyfile"], cwd=source, env=environment, capture_output=True, text=True)


def main():
    source, output, version = sys.argv[1:4]
    if not shutil.which("doxygen"):
        print("SKIPPED: doxygen is not installed (package doxygen)")
        return 77
    run = make(source, output, version)
    print(run.stdout + run.stderr, end="")
    if run.returncode == 0:
        print(f"the reference is {output}/html/index.html")
    return min(run.returncode, 1)


if __name__ == "__main__":
    sys.exit(main())
