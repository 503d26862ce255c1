# SPDX-License-Identifier: BSD-3-Clause
"""Code in documents that is not built, an excerpt that is out of date, and another output are found."""
import pathlib
import tempfile
import unittest

import examples

PROGRAM = "```c\nint main(void) { return 0; }\n```\n"
FILE = "int a;\nint b;\nint c;\n"


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "docs").mkdir()
        (self.root / "README.md").write_text("")
        (self.root / "a.c").write_text(FILE)

    def problems(self, text):
        (self.root / "docs/pcg.md").write_text(text)
        return list(examples.problems(self.root))

    def test_programs_and_excerpts_pass(self):
        self.assertEqual(self.problems(PROGRAM + "<!-- from a.c -->\n```c\nint a;\n...\nint c;\n```\n"), [])

    def test_a_fragment_fails(self):
        self.assertRegex(self.problems("```c\nint d;\n```\n")[0], "neither a program nor an excerpt")

    def test_an_old_excerpt_fails(self):
        self.assertRegex(self.problems("<!-- from a.c -->\n```c\nint a;\nint d;\n```\n")[0], "does not have 'int d;'")
        self.assertRegex(self.problems("<!-- from a.c -->\n```c\nint a;\nint c;\n```\n")[0], "does not have 'int a;'")
        self.assertRegex(self.problems("<!-- from b.c -->\n```c\nint a;\n```\n")[0], "is not there")

    def test_another_output_fails(self):
        self.problems(PROGRAM + "It prints\n```text\nhello\n```\n")
        with self.assertRaisesRegex(SystemExit, "the document says\nhello"):
            examples.run(self.root, "pcg_c", "/bin/true")

    def test_several_programs_of_a_document(self):
        block = "```python\nimport sextant\nprint({})\n```\n```text\n{}\n```\n"
        self.assertEqual(self.problems(block.format(1, 1) + block.format(2, 2)), [])
        found = examples.programs(self.root)
        self.assertEqual([(name, each[2]) for name, each in found.items()], [("pcg_python", "1\n"), ("pcg_python_2", "2\n")])

    def test_python_runs(self):
        self.problems("```python\nimport sextant\nprint(1)\n```\n```text\n2\n```\n")
        (self.root / "sextant.py").write_text("")
        (self.root / "program.py").write_text(examples.programs(self.root)["pcg_python"][1])
        with self.assertRaisesRegex(SystemExit, "it printed\n1\nand the document says\n2"):
            examples.run(self.root, "pcg_python", str(self.root / "program.py"))


if __name__ == "__main__":
    unittest.main()
