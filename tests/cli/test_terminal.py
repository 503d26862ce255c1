# SPDX-License-Identifier: BSD-3-Clause
"""What a person at a terminal sees: colours, progress, Ctrl-C."""
import errno
import json
import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

from support import BINARY, DONE, NOT_SOLVED, CommandTest, chain, grid

COLOUR, CLEAR_LINE = b"\x1b[", b"\x1b[K"


def read_terminal(descriptor, until=None, seconds=60):
    """What the command writes to a terminal, to its end or until it matches this pattern."""
    text, deadline = b"", time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not select.select([descriptor], [], [], 0.1)[0]:
            continue
        try:
            part = os.read(descriptor, 4096)
        except OSError as error:  # the other side is closed
            if error.errno != errno.EIO:
                raise
            return text
        text += part
        if not part or (until and re.search(until, text)):
            return text
    raise AssertionError(f"still waiting after {seconds} s; so far: {text!r}")


class Terminal(CommandTest):
    def start(self, arguments, terminal):
        """The command with stdout or stderr on a new terminal; the other stream is a pipe."""
        try:
            ours, theirs = pty.openpty()
        except OSError as problem:
            self.skipTest(f"no pseudo-terminal here: {problem}")
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, terminal: theirs}
        process = subprocess.Popen([BINARY, *arguments], env=self.environment, stdin=subprocess.DEVNULL, **streams)
        os.close(theirs)
        self.addCleanup(os.close, ours)
        self.addCleanup(process.kill)
        return process, ours

    def output_on_terminal(self, *arguments):
        process, terminal = self.start(arguments, "stdout")
        text = read_terminal(terminal)
        self.assertEqual(process.wait(timeout=60), DONE)
        process.stderr.close()
        return text

    def test_colours_only_on_terminals_that_want_them(self):
        self.assertIn(COLOUR, self.output_on_terminal("plugins"))
        self.environment["NO_COLOR"] = ""  # empty counts as unset
        self.assertIn(COLOUR, self.output_on_terminal("plugins"))
        self.environment["NO_COLOR"] = "1"
        self.assertNotIn(COLOUR, self.output_on_terminal("plugins"))
        del self.environment["NO_COLOR"]
        self.environment["TERM"] = "dumb"
        self.assertNotIn(COLOUR, self.output_on_terminal("plugins"))
        self.assertNotIn("\x1b", self.run_command("plugins").stdout)

    def interrupt(self, number):
        process, terminal = self.start(["solve", self.file("a.mtx", chain(100000)), "--method", "pcg", "--json"], "stderr")
        shown = read_terminal(terminal, until=b"iteration [1-9]")
        self.assertIn(CLEAR_LINE, shown)
        process.send_signal(number)
        read_terminal(terminal)
        report = json.loads(process.stdout.read())
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), NOT_SOLVED)
        self.assertEqual((report["status"], report["reason"]), ("SXT_NOT_CONVERGED", "cancelled"))
        self.assertGreater(report["iterations"], 0)

    def test_ctrl_c_during_a_solve_gives_the_report(self):
        self.interrupt(signal.SIGINT)

    def test_terminate_during_a_solve_gives_the_report(self):
        self.interrupt(signal.SIGTERM)

    def test_what_remains_of_a_solve(self):
        """The clock goes on while the command is held, so that any machine seems slow to it."""
        solve = ["solve", self.file("a.mtx", grid(400)), "--method", "pcg", "--precond", "none", "--device", "cpu"]
        process, terminal = self.start(solve, "stderr")
        shown = read_terminal(terminal, until=rb"iteration [1-9]")
        process.send_signal(signal.SIGSTOP)
        time.sleep(2.2)
        process.send_signal(signal.SIGCONT)
        shown += read_terminal(terminal)
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), DONE)
        self.assertRegex(shown, rb"\(wanted [^)]*\), about \d+ (s|min) left")

    def test_quiet(self):
        process, terminal = self.start(["solve", self.file("a.mtx", grid(300)), "--method", "pcg", "--quiet"], "stderr")
        self.assertEqual(read_terminal(terminal), b"")
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), DONE)

    def test_no_progress_without_a_terminal(self):
        self.assertEqual(self.run_command("solve", self.file("a.mtx", grid(40))).stderr, "")


if __name__ == "__main__":
    unittest.main()
