#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Links between documents lead somewhere: to a file of the project, and to a heading where they name one. Functions, types
and constants that documents name stand in a header, in the Fortran module or in the tools."""

import posixpath
import re

import tree

LINK = re.compile(r"\]\(([^)\s]+)\)")
NAME = re.compile(r"(?<!\w)sxt_\w+", re.I)
SOURCES = ("include", "bindings", "tools")


def prose(text):
    """Markdown without its code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


def anchors(text):
    """What headings are called in links: lower case, words joined by '-', no punctuation."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), flags=re.M)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def unknown_names(texts, known):
    """Names in documents that no source has; those that end in '_' stand for all that begin so."""
    for name, text in texts.items():
        for word in sorted({word.lower() for word in NAME.findall(text)} - known):
            if not (word.endswith("_") and any(each.startswith(word) for each in known)):
                yield f"{name} names {word}, which no source has"


def check(root):
    files = tree.project_files(root)
    texts = {path.as_posix(): tree.read_text(root / path) or "" for path in files if path.suffix == ".md"}
    known = {path.as_posix() for path in files} | {parent.as_posix() for path in files for parent in path.parents}
    problems = []
    for name, text in texts.items():
        for link in LINK.findall(prose(text)):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            if target not in known:
                problems.append(f"{name} links to {link}, which is not there")
            elif anchor and target in texts and anchor not in anchors(texts[target]):
                problems.append(f"{name} links to {link}, but {target} has no such heading")
    sources = [tree.read_text(root / path) or "" for path in files if path.parts[0] in SOURCES]
    names = {word.lower() for text in sources for word in NAME.findall(text)}
    return problems + list(unknown_names(texts, names)), len(texts)


if __name__ == "__main__":
    tree.main("links", check)
