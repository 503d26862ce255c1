# SPDX-License-Identifier: BSD-3-Clause
"""docs/command.md, docs/command_bench.md and --help know the same subcommands and options."""
import os
import re
import unittest

from support import CommandTest

FOLDER = os.path.join(os.path.dirname(__file__), "..", "..", "docs")
DOCUMENT, BENCH = os.path.join(FOLDER, "command.md"), os.path.join(FOLDER, "command_bench.md")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
SUITES = ("spmv", "vector", "reduction", "pcg", "cholesky", "dispatch", "hermitian", "published")


def sections(text):
    """The text of each heading of the second level, by its name."""
    return {name: body for name, body in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", text, flags=re.M | re.S)}


class Documented(CommandTest):
    def setUp(self):
        super().setUp()
        with open(DOCUMENT, encoding="utf-8") as file:
            self.text = file.read()
        with open(BENCH, encoding="utf-8") as file:
            self.bench = file.read()

    def help_of(self, *subcommand):
        """The options and the subcommands that --help lists."""
        text = self.run_command(*subcommand, "--help").stdout
        options = re.findall(r"^  (?:-\w,)?--[a-z-]+(?:,--[a-z-]+)?", text, flags=re.M)
        listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, flags=re.M)
        names = re.findall(r"^  (\S+)", listed.group(1), flags=re.M) if listed else []
        return {flag for line in options for flag in FLAG.findall(line)} - {"--help", "--version"}, names

    def commands(self):
        """Every subcommand as words; those of subcommands in place of the one they belong to."""
        for name in self.help_of()[1]:
            inner = self.help_of(name)[1]
            yield from ((name, each) for each in inner) if inner else ((name,),)

    def test_every_option_stands_in_its_section_and_every_flag_of_the_document_exists(self):
        known = sections(self.text) | {"bench": self.bench}
        common, everywhere = set(FLAG.findall(known["Rules that scripts can rely on"])), set()
        found = list(self.commands())
        self.assertEqual({words[1] for words in found if words[0] == "bench"}, set(SUITES))
        for words in found:
            options = self.help_of(*words)[0]
            everywhere |= options
            name = "bench" if words[0] == "bench" else " ".join(words)
            self.assertIn(name, known, "no section")
            with self.subTest(command=" ".join(words)):
                self.assertEqual(options - common - set(FLAG.findall(known[name])), set(), "not in the documents")
        self.assertEqual(set(FLAG.findall(self.text + self.bench)) - everywhere - {"--help", "--version"}, set(), "no such option")

    def test_every_command_is_listed_at_the_top(self):
        listed = self.text.split("```")[1]
        for words in self.commands():
            self.assertRegex(listed, r"(?m)^sextant " + r"\b.*\b".join(words) + r"\b")


if __name__ == "__main__":
    unittest.main()
