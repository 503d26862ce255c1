# SPDX-License-Identifier: BSD-3-Clause
"""Writes the first fenced block of a language in a Markdown file to a source file: extract.py README.md c out.c"""
import re
import sys

text, language, target = open(sys.argv[1], encoding="utf-8").read(), sys.argv[2], sys.argv[3]
block = re.search(rf"^```{language}\n(.*?)^```$", text, re.S | re.M)
if not block:
    sys.exit(f"{sys.argv[1]}: no ```{language} block")
with open(target, "w", encoding="utf-8") as out:
    out.write(block.group(1))
