#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Nothing in the project names the machine it was written on: no folder of its own, no package mirror by its host.

A document or a header of ours that a comment or a text refers to by its path must be there too. Words that a reader whose
second language is English would have to look up or read twice are not used, each for the reason beside it.
"""

import re

import tree

# In pieces, so that this file does not name them either.
FOLDERS = ["/" + "work/", "/" + "root/"]
HOSTS = ["py" + r"pi\.org", r"pythonhosted" + r"\.org", r"deb\." + r"debian\.org", r"archive\." + r"ubuntu\.com",
         r"registry\." + r"npmjs", r"index\." + r"crates\.io", r"proxy\." + r"golang\.org"]
# A folder counts only where it starts a path, not behind a variable or "..".
FORBIDDEN = re.compile("|".join([r"(?<![\w.}$)*-])(?:" + "|".join(FOLDERS) + ")", *HOSTS]))
HEADER = re.compile(r"(?<![\w.-])(?<!tools/)(?:include/)?(sextant/(?:[a-z_]+/)*[a-z_]+\.(?:h|hpp))\b")
# Tells of headers that are gone.
HEADERS_GONE = "docs/header_paths.md"
DOCUMENT = re.compile(r"(?<![\w/.-])([\w./-]+\.md)\b")

# What is not written, and why or what to write instead. Compared with lower case, so that names of tests count.
WORST_WORDS = [
    (r"nobody|everybody|somebody|anybody", "persons where programs are meant: say which caller, kernel or file, or use no or any"),
    (r"whoever|\bwho asks?\b", "a person where a program is meant: name the caller"),
    (r"(?<!\")\b(?:he|him|his|himself|she|hers|herself)\b(?!\")", "a user or a kernel is no he: repeat the noun"),
    (r"\belse's\b", "say whose: another program's, the caller's"),
    (r"crooked", "say what is wrong: misaligned, not symmetric"),
    (r"opponent", "the term is vendor baseline"),
    (r"(?<!latency\.)meetings?\b", "the term is barrier; where blocks add numbers, exchange"),
    (r"\brecorded (?:solve|block|step|graph|iteration|launch|kernel|work|stream)", "the term is captured"),
    (r"\b(?:is|are|was|were|be|been) had\b", "say available, or use the verb that is meant: allocated, measured"),
    (r"\bhand (?:that )?(?:is|was) laid\b|\blaid a hand\b", "the term is force"),
    (r"\bin the mean\b(?! of)", "say on average"),
    (r"\bto know better\b", "say what more information would gain"),
    (r"\bfor want of\b", "say because there is no, or for lack of"),
    (r"\bat 1 times\b", "say once"),
    (r"\bto (?:its|their|his) taste\b", "say what is not supported"),
    (r"\bshall\b", "say must, or should"),
    (r"\bstrangers?\b", "say a third party's kernel, or another program"),
    (r"\b(?:has|have|had|having) (?:a|no|its|their|some) say\b", "say what counts or does not count"),
    (r"\b(?:aught|naught|nought|ere|hitherto|lest|thereof|whence|whither|wherein|whereof)\b", "no longer spoken: use a common word"),
]
# Words of a sentence may stand on two lines of a comment, and those of a message of C++ or Python in strings that are joined.
JOINT = r"[\"'](?:\s*\+)?\s*(?:r|b|f|rf|fr)?[\"']"
SPACE = rf"(?:\s*{JOINT}\s*|\s+(?:(?://+|[*#!>])\s*)?)"
WORST = [(re.compile(words.replace(" ", SPACE)), reason) for words, reason in WORST_WORDS]
# Licences, texts of others, and the files that plant such words.
NOT_OURS = ("LICENSE", "tests/data", "tests/scripts/check_words.py", "tests/scripts/test_checks.py")


def within(path, places):
    return any(path.as_posix() == place or path.as_posix().startswith(place + "/") for place in places)


def worst_words(text):
    """(line, words, reason) for each in a text."""
    text = text.lower()
    found = [(match, reason) for pattern, reason in WORST for match in pattern.finditer(text)]
    return [(text.count("\n", 0, match.start()) + 1, " ".join(match.group(0).split()), reason) for match, reason in found]


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
        if not within(path, NOT_OURS):
            problems += [f'{path}:{number} says "{words}": {reason}' for number, words, reason in worst_words(text)]
    return problems, checked


if __name__ == "__main__":
    tree.main("words", check)
