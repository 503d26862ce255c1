#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Nothing in the project names the machine it was written on: no folder of its own, no package mirror by its host.

A document or a header of ours that a comment or a text refers to by its path must be there too.
"""

import re

import tree

# In pieces, so that this file does not name them either.
FOLDERS = ["/" + "work/", "/" + "root/"]
HOSTS = ["py" + r"pi\.org", r"pythonhosted" + r"\.org", r"deb\." + r"debian\.org", r"archive\." + r"ubuntu\.com",
         r"registry\." + r"npmjs", r"index\." + r"crates\.io", r"proxy\." + r"golang\.org"]
# A folder counts only where it starts a path, not behind a variable or "..".
FORBIDDEN = re.compile("|".join([r"(?<![\w.}$)*-])(?:" + "|".join(FOLDERS) + ")", *HOSTS]))
HEADER = re.compile(r"(?<![\w.-])(?:include/)?(sextant/(?:[a-z_]+/)*[a-z_]+\.(?:h|hpp))\b")
# Tells of headers that are gone.
HEADERS_GONE = "docs/header_paths.md"
DOCUMENT = re.compile(r"(?<![\w/.-])([\w./-]+\.md)\b")


def may_name_headers(path):
    """Not of headers that are gone, or of those that tests of these checks plant."""
    return path.as_posix() != HEADERS_GONE and path.parts[:2] != ("tests", "scripts")


def check(root):
    problems, checked = [], 0
    files = tree.project_files(root)
    documents = {path.name for path in files if path.suffix == ".md"}
    headers = {path.relative_to("include").as_posix() for path in files if path.parts[0] == "include"}
    for path in files:
        text = tree.read_text(root / path)
        if text is None:
            continue
        checked += 1
        for number, line in enumerate(text.split("\n"), 1):
            for match in FORBIDDEN.finditer(line):
                problems.append(f"{path}:{number} names {match.group(0)}")
            for match in DOCUMENT.finditer(line):
                if match.group(1).rsplit("/", 1)[-1] not in documents:
                    problems.append(f"{path}:{number} refers to {match.group(1)}, which is not here")
            for match in HEADER.finditer(line) if may_name_headers(path) else []:
                if headers and match.group(1) not in headers:
                    problems.append(f"{path}:{number} refers to {match.group(1)}, which is not here")
    return problems, checked


if __name__ == "__main__":
    tree.main("words", check)
