# SPDX-License-Identifier: BSD-3-Clause
"""sextant completion and sextant manual: scripts that the shells take, with what --help says."""
import re
import shutil
import subprocess
import unittest

from support import USAGE, CommandTest

BASH = """
{script}
COMP_WORDS=({words}) COMP_CWORD={at}
_sextant
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
# The builtins of completion, which zsh offers while a line is edited alone, print what they get.
ZSH = """
compdef() {{ :; }}
compadd() {{ shift; print -l -- $@; }}
_files() {{ print FILES; }}
_describe() {{ [[ $1 == -o ]] && shift; print -l -- ${{(P)2}}; }}
{script}
words=({words}) CURRENT={at}
_sextant
"""


def needs(shell):
    return unittest.skipUnless(shutil.which(shell), f"{shell} is not installed")


class Completion(CommandTest):
    def script(self, shell):
        return self.run_command("completion", shell).stdout

    def lines(self, *command):
        result = subprocess.run(command, capture_output=True, text=True, env=self.environment, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.split("\n")[:-1]

    def in_bash(self, *words):
        text = BASH.format(script=self.script("bash"), words=" ".join(f"'{each}'" for each in ("sextant", *words)), at=len(words))
        return self.lines("bash", "--norc", "-c", text)

    def in_zsh(self, *words):
        text = ZSH.format(script=self.script("zsh"), words=" ".join(f"'{each}'" for each in ("sextant", *words)), at=len(words) + 1)
        return self.lines("zsh", "-f", "-c", text)

    def in_fish(self, line):
        command = f"{self.script('fish')}\ncomplete -C {line!r}"
        return self.lines("fish", "--no-config", "-c", command)

    @needs("bash")
    def test_bash(self):
        self.assertEqual(self.in_bash("so"), ["solve"])
        self.assertEqual(self.in_bash("bench", "re"), ["reduction"])
        self.assertEqual(self.in_bash("solve", "--meth"), ["--method"])
        self.assertEqual(self.in_bash("solve", "A.mtx", "--method", ""), ["auto", "pcg", "cholesky"])
        self.assertEqual(self.in_bash("solve", "--rhs", "A"), [""], "files, which bash completes itself")
        self.assertEqual(self.in_bash("completion", ""), ["bash", "zsh", "fish"])

    @needs("zsh")
    def test_zsh(self):
        self.assertIn("solve:Solve A x = b and say what was chosen, and why", self.in_zsh("so"))
        self.assertEqual(self.in_zsh("solve", "--method", ""), ["auto", "pcg", "cholesky"])
        self.assertTrue(any(line.startswith("--method:") for line in self.in_zsh("solve", "--meth")))
        self.assertEqual(self.in_zsh("solve", "--rhs", ""), ["FILES"])
        self.assertEqual(self.in_zsh("solve", ""), ["FILES"])

    @needs("fish")
    def test_fish(self):
        self.assertEqual([line.split("\t")[0] for line in self.in_fish("sextant so")], ["solve"])
        self.assertEqual([line.split("\t")[0] for line in self.in_fish("sextant bench re")], ["reduction"])
        self.assertIn("--method", [line.split("\t")[0] for line in self.in_fish("sextant solve --meth")])
        self.assertEqual({line.split("\t")[0] for line in self.in_fish("sextant solve --method ")}, {"auto", "cholesky", "pcg"})

    def test_an_unknown_shell_is_a_usage_error(self):
        self.assert_fails("completion", "fisch", expect=USAGE, says="the nearest is 'fish'")


class Manual(CommandTest):
    def test_every_subcommand_and_option_is_in_it(self):
        text = self.run_command("manual").stdout.replace("\\-", "-")
        self.assertTrue(text.startswith('.\\"'))
        for words in (["solve"], ["bench", "spmv"], ["plugin", "check"]):
            section = text.split(".SS sextant " + " ".join(words) + "\n")[1].split("\n.S")[0]
            for flag in set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", self.run_command(*words, "--help").stdout, flags=re.M)) - {"--help"}:
                self.assertRegex(section, rf"(?m)^\\fB.*{flag}\b")
        self.assertIn(".SH EXIT CODES", text)
        self.assertIn("SEXTANT_FORCE", text)

    @needs("groff")
    def test_groff_has_no_complaint(self):
        page = self.run_command("manual").stdout
        result = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
