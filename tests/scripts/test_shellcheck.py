#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A script that parses but that shellcheck refuses is found. Exit code 77 (skipped) where there is no shellcheck."""

import pathlib
import shutil
import sys
import tempfile

import check_shell

if not shutil.which("shellcheck"):
    print("skipped: there is no shellcheck")
    sys.exit(77)
with tempfile.TemporaryDirectory(prefix="sextant-shell-") as folder:
    script = pathlib.Path(folder) / "clean_up"
    script.write_text('#!/usr/bin/env bash\nrm -r "$1"/x\n')
    before, _ = check_shell.check(pathlib.Path(folder))
    script.write_text("#!/usr/bin/env bash\nrm -r $1/x\n")
    after, _ = check_shell.check(pathlib.Path(folder))
print(after)
sys.exit(0 if not before and len(after) == 1 and "SC2086" in after[0] else 1)
