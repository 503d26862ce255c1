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


if __name__ == "__main__":
    unittest.main()
