# SPDX-License-Identifier: BSD-3-Clause
"""The project's files, and C-like text reduced to its code: shared by the checks of the repository's rules."""

import fnmatch
import pathlib
import re
import sys

C_SUFFIXES = {".c", ".cpp", ".h", ".hpp", ".cu", ".cuh"}
FORTRAN_SUFFIXES = {".f90", ".F90"}


def ignored(relative, patterns):
    """Whether .gitignore leaves this path out. Knows the patterns used here: /name/, /name and *.suffix."""
    for pattern in patterns:
        anchored, name = pattern.startswith("/"), pattern.strip("/")
        if anchored and fnmatch.fnmatch(relative.parts[0], name):
            return True
        if not anchored and any(fnmatch.fnmatch(part, name) for part in relative.parts):
            return True
    return False


def project_files(root):
    """Every file of the project, sorted, relative to root. Needs no git: a release archive is checked alike."""
    root = pathlib.Path(root)
    gitignore = root / ".gitignore"
    lines = gitignore.read_text().splitlines() if gitignore.exists() else []
    patterns = [line for line in lines if line and not line.startswith("#")] + ["/.git"]
    found = []

    def visit(folder):
        for entry in sorted(folder.iterdir()):
            relative = entry.relative_to(root)
            if ignored(relative, patterns):
                continue
            if entry.is_dir() and not entry.is_symlink():
                visit(entry)
            elif entry.is_file():
                found.append(relative)

    visit(root)
    return found


def read_text(path):
    """The text of a file, or None where it is no text (a compressed matrix, say)."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def is_script(text, interpreter):
    return text.startswith("#!") and interpreter in text.split("\n", 1)[0]


TOKEN = re.compile(
    r'//(?:[^\n\\]|\\.|\\\n)*'  # line comment
    r'|/\*.*?\*/'  # block comment
    r'|R"(?P<tag>[^()\s]*)\(.*?\)(?P=tag)"'  # raw string
    r'|"(?:[^"\\\n]|\\.|\\\n)*"'  # string
    r"|'(?:[^'\\\n]|\\.)+'(?<![0-9a-fA-F]')",  # character, but no digit separator
    re.S,
)


def blank(match):
    """The same number of lines, and quotes where a string was, so that positions and shapes stay."""
    text = match.group(0)
    lines = "\n" * text.count("\n")
    return lines if text.startswith("/") else '""' + lines


def without_comments(text):
    """C-like text without comments; strings stay."""
    return TOKEN.sub(lambda m: blank(m) if m.group(0).startswith("/") else m.group(0), text)


def without_comments_and_strings(text):
    # Digit separators first: 1'000'000 would look like a character.
    return TOKEN.sub(blank, re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text))


def report(name, problems, checked):
    """Prints the problems, or how much was checked; returns the exit code. Nothing to check is a failure too."""
    if checked == 0:
        problems = ["nothing to check was found"]
    for problem in problems:
        print(f"{name}: {problem}")
    if not problems:
        print(f"{name}: {checked} files, no problem")
    return 1 if problems else 0


def main(name, check):
    """A check as a command: check_x.py ROOT."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} ROOT")
    problems, checked = check(pathlib.Path(sys.argv[1]))
    sys.exit(report(name, problems, checked))
