# SPDX-License-Identifier: BSD-3-Clause
"""sextant convert, matrices on standard input, and the folder that solve --keep leaves."""
import gzip
import json
import os
import shlex
import subprocess
import unittest

from support import BAD_INPUT, BINARY, DATA, DONE, NOT_SOLVED, USAGE, CommandTest, array, chain, coordinate, grid

# Values whose shortest digits are many or few, small or large: every bit must survive.
ODD = [0.1, 1 / 3, -2.0, 1e-308, 1.7976931348623157e308, 5e-324, -123456789.123456789, 1e22]
COMPLEX = "%%MatrixMarket matrix coordinate complex {}\n2 2 3\n1 1 2 0\n2 1 0.1 -0.3\n2 2 3 0\n"
# Rutherford-Boeing as its report shows it, with numbers that touch: [[1, 0], [-2.5, 3]].
TOUCHING = (
    f"{'by hand':72}{'key':8}\n{3:14}{1:14}{1:14}{1:14}\n{'rua':14}{2:14}{2:14}{3:14}{0:14}\n{'(3I2)':16}{'(3I2)':16}{'(3E10.3)':20}\n"
    " 1 3 4\n 1 2 2\n 1.000E+00-2.500E+00 3.000E+00\n"
)


def entries(path):
    """The banner and the size line, and {(row, column): the numbers} of a coordinate file."""
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="ascii")
    with opened as file:
        banner, size, *lines = file.read().splitlines()
    words = [line.split() for line in lines]
    return banner, size, {(int(i), int(j)): tuple(map(float, rest)) for i, j, *rest in words}


class Convert(CommandTest):
    def there_and_back(self, text, *names):
        """A file through files of these names, one after the other, and the first and the last as entries."""
        first = at = self.file("in.mtx", text)
        for name in names:
            self.run_command("convert", at, self.path(name))
            at = self.path(name)
        return entries(first), entries(at)

    def test_a_closed_standard_output(self):
        matrix = self.path("closed.mtx")
        with open(matrix, "w") as file:
            file.write("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n")
        done = subprocess.run(["sh", "-c", '"$0" convert "$1" - >&-', BINARY, matrix], stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("standard output is closed", done.stderr)

    def test_every_bit_survives(self):
        text = coordinate(3, 4, [(1 + k % 3, 1 + k // 3 if k < 6 else 4 - k % 2, value) for k, value in enumerate(ODD)])
        for names in (["a.mtx"], ["a.rb", "b.mtx"], ["a.rra.gz", "b.mtx.gz"], ["a.mtx.gz", "b.hb", "c.mtx"]):
            with self.subTest(names=names):
                before, after = self.there_and_back(text, *names)
                self.assertEqual(after[2], before[2])
                self.assertEqual(after[1], before[1])

    def test_symmetry_stays(self):
        cases = {"symmetric": (grid(4), "rsa"), "hermitian": (COMPLEX.format("hermitian"), "cha"),
                 "skew-symmetric": (coordinate(3, 3, [(2, 1, 1.5), (3, 2, -2.0)], "skew-symmetric"), "rza"),
                 "general": (COMPLEX.format("general"), "cua")}  # fmt: skip
        for symmetry, (text, letters) in cases.items():
            with self.subTest(symmetry=symmetry):
                before, after = self.there_and_back(text, f"a.{letters}", "b.mtx")
                self.assertEqual(after, before)
                with open(self.path(f"a.{letters}"), encoding="ascii") as file:
                    self.assertEqual(file.read().splitlines()[2].split()[0], letters)

    def test_files_of_others(self):
        self.run_command("convert", self.file("t.rua", TOUCHING), self.path("t.mtx"))
        self.assertEqual(entries(self.path("t.mtx"))[2], {(1, 1): (1.0,), (2, 1): (-2.5,), (2, 2): (3.0,)})
        self.run_command("convert", os.path.join(DATA, "bcsstk16.mtx.gz"), self.path("d.rsa.gz"))
        self.run_command("convert", self.path("d.rsa.gz"), self.path("d.mtx"))
        banner, size, found = entries(self.path("d.mtx"))
        with gzip.open(os.path.join(DATA, "bcsstk16.mtx.gz"), "rt") as file:
            original = [line.split() for line in file if not line.startswith("%")]
        self.assertEqual(size.split(), original[0])
        self.assertEqual(found, {(int(i), int(j)): (float(value),) for i, j, value in original[1:]})

    def test_flags(self):
        a = self.file("a.mtx", chain(3))
        self.run_command("convert", a, self.path("p.mtx"), "--pattern")
        self.assertEqual(entries(self.path("p.mtx"))[0].split()[3:], ["pattern", "symmetric"])
        self.run_command("convert", self.path("p.mtx"), self.path("p.psa"), "--pattern")
        self.run_command("convert", a, self.path("g.mtx"), "--general")
        banner, _, found = entries(self.path("g.mtx"))
        self.assertEqual((banner.split()[4], len(found), found[(1, 2)]), ("general", 7, (-1.0,)))
        self.run_command("convert", a, self.path("plain"), "--to", "mtx")
        self.assertEqual(entries(self.path("plain"))[2], entries(a)[2])

    def test_refusals(self):
        a = self.file("a.mtx", chain(3))
        self.assert_fails("convert", a, self.path("a.txt"), expect=USAGE, says=["a.txt", ".mtx is Matrix Market"])
        self.assert_fails("convert", a, self.path("a.rua"), expect=USAGE, says="the matrix is of type rsa: name it x.rsa or x.rb")
        self.assert_fails("convert", a, self.path("no/a.rb"), expect=BAD_INPUT, says="no/a.rb")
        self.assert_fails("convert", self.path("none.mtx"), self.path("a.rb"), expect=BAD_INPUT, says="none.mtx")
        self.assertFalse(os.path.exists(self.path("a.rb")))


class StandardInput(CommandTest):
    def piped(self, text, *arguments, expect=DONE):
        data = text if isinstance(text, bytes) else text.encode()
        run = subprocess.run([BINARY, *arguments], env=self.environment, input=data, capture_output=True, timeout=60, check=False)
        self.assertEqual(run.returncode, expect, run.stderr.decode())
        return run.stdout.decode(), run.stderr.decode()

    def test_every_reader(self):
        self.assertIn("converged", self.piped(chain(50), "solve", "-")[0])
        self.assertIn("converged", self.piped(gzip.compress(chain(50).encode()), "solve", "-")[0])
        self.assertEqual(json.loads(self.piped(chain(50), "explain", "-", "--json")[0])["matrix"]["rows"], 50)
        out = self.piped(chain(3), "convert", "-", "-")[0]
        self.assertEqual(out, chain(3).replace(".0", ""))
        b = array([1.0, 0.0, 1.0])
        self.assertIn("converged", self.piped(b, "solve", self.file("a.mtx", chain(3)), "--rhs", "-")[0])

    def test_mistakes(self):
        bad = "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n"
        self.assertIn("standard input:3: the row index 3", self.piped(bad, "solve", "-", expect=BAD_INPUT)[1])
        self.assertIn("standard input", self.piped("", "explain", "-", expect=BAD_INPUT)[1])
        self.assertIn("cannot both", self.piped(chain(3), "solve", "-", "--rhs", "-", expect=USAGE)[1])


class Kept(CommandTest):
    def test_a_failure_is_kept_and_can_be_run_again(self):
        a, folder = self.file("it's a.mtx", chain(400)), self.path("kept")
        run = self.run_command("solve", a, "--method", "pcg", "--precond", "none", "--max-iterations", "5", "--keep", folder, expect=NOT_SOLVED)
        self.assertIn("kept holds command.txt", run.stderr)
        names = {"command.txt", "log.txt", "about.txt", "b.mtx", "x.mtx", "history.csv", "explain.txt", "plan.toml"}
        self.assertEqual(set(os.listdir(folder)), names)
        with open(os.path.join(folder, "about.txt"), encoding="utf-8") as file:
            about = file.read()
        self.assertIn(f"exit code {NOT_SOLVED}", about)
        self.assertIn(os.path.realpath(a), about)
        with open(os.path.join(folder, "log.txt"), encoding="utf-8") as file:
            self.assertIn("info:", file.read())  # though the terminal shows warnings alone
        with open(os.path.join(folder, "history.csv"), encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 7)
        with open(os.path.join(folder, "command.txt"), encoding="utf-8") as file:
            line = file.read().splitlines()[1].replace("/kept", "/again")
        again = subprocess.run(["sh", "-c", line], env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(again.returncode, NOT_SOLVED, again.stderr)
        for name in ("b.mtx", "x.mtx"):
            with open(os.path.join(folder, name), encoding="ascii") as one, open(self.path(f"again/{name}"), encoding="ascii") as other:
                self.assertEqual(one.read(), other.read())
        self.assertEqual(shlex.split(line)[2], a)

    def test_standard_input_is_kept(self):
        indefinite = coordinate(2, 2, [(1, 1, 1.0), (2, 1, 4.0), (2, 2, 1.0)], "symmetric")
        run = subprocess.run([BINARY, "solve", "-", "--keep", self.path("kept")], env=self.environment, input=indefinite, capture_output=True,
                             text=True, timeout=60, check=False)  # fmt: skip
        self.assertEqual(run.returncode, NOT_SOLVED, run.stderr)
        self.assertEqual(entries(self.path("kept/A.mtx.gz"))[2], {(1, 1): (1.0,), (2, 1): (4.0,), (2, 2): (1.0,)})

    def test_success_leaves_nothing(self):
        a = self.file("a.mtx", chain(20))
        self.run_command("solve", a, "--keep", self.path("kept"))
        self.assertFalse(os.path.exists(self.path("kept")))
        os.mkdir(self.path("mine"))
        self.run_command("solve", a, "--keep", self.path("mine"))
        self.assertEqual(os.listdir(self.path("mine")), [])

    def test_refusals(self):
        a = self.file("a.mtx", chain(20))
        self.assert_fails("solve", a, "--keep", self.folder, expect=BAD_INPUT, says=["--keep", "not empty"])
        self.assert_fails("solve", a, "--keep", self.path("no/where"), expect=BAD_INPUT, says="--keep")


if __name__ == "__main__":
    unittest.main()
