# SPDX-License-Identifier: BSD-3-Clause
"""sextant retune from its user's side."""
import json
import os
import signal
import subprocess
import time
import unittest

from support import PROGRAM, HookTest

COMMAND = os.environ.get("SEXTANT_BIN", "")


@unittest.skipUnless(COMMAND, "the sextant command is not built")
class Command(HookTest):
    def retune(self, *arguments, expect=0):
        environment = self.environment(hooked=False)
        done = subprocess.run([COMMAND, "retune", *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def program(self, *steps):
        return ("--", PROGRAM, "table", "load", self.ptx, "get", "axpy", "launch", 960, 32, *steps)

    def test_a_report_for_people(self):
        done = self.retune(*self.program("get", "shape", "launch", 960, 32))
        self.assertEqual(done.stdout.splitlines(), ["axpy 320 96 0", "shape 960 32 0"])
        for text in ("policy tiered", "32 -> 96 (1)", "proven", "refused, line 24: %ntid.x reaches st"):
            self.assertIn(text, done.stderr)
        self.assertEqual(self.retune("--report", self.path("r.txt"), *self.program()).stderr, "")
        with open(self.path("r.txt"), encoding="utf-8") as file:
            self.assertIn("32 -> 96 (1)", file.read())

    def test_names_reach_the_terminal_without_their_control_characters(self):
        done = self.retune("--", PROGRAM, "table", "load", self.ptx, "get", "\x1b[31mred\x1b[2J", "launch", 960, 32)
        self.assertIn("?[31mred", done.stderr)
        self.assertNotIn("\x1b", done.stderr)

    def test_json_and_the_page(self):
        self.retune("--report", self.path("r.json"), "--policy", "published", *self.program())
        with open(self.path("r.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual((report["policy"], report["dry_run"], len(report["processes"])), ("published", False, 1))
        self.assertEqual(report["processes"][0]["kernels"][0]["shapes"], [{"original": 32, "chosen": 128, "class": 14, "launches": 1}])
        page = [COMMAND, "report", "--generate", "", "--retune", self.path("r.json"), "-o", self.path("r.html")]
        subprocess.run(page, env=self.environment(hooked=False), check=True, capture_output=True, timeout=120)
        with open(self.path("r.html"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("axpy", text)
        self.assertIn("32 -&gt; 128 (1)", text)
        broken = [COMMAND, "report", "--retune", self.ptx, "-o", self.path("r.html")]
        done = subprocess.run(broken, env=self.environment(hooked=False), capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 3)
        self.assertIn("k.ptx: it is no JSON report", done.stderr)

    def test_dry_run_and_allow(self):
        self.assertEqual(self.retune("--dry-run", *self.program()).stdout.splitlines(), ["axpy 960 32 0"])
        allow = self.file("allow.toml", '[[kernel]]\nname = "shape"\n')
        done = self.retune("--allow", allow, *self.program("get", "shape", "launch", 960, 32))
        self.assertEqual(done.stdout.splitlines()[1], "shape 320 96 0")
        self.assertIn("declared", done.stderr)
        damaged = self.file("damaged.toml", "[[kernel]]\nnme = 3\n")
        self.assertIn("damaged.toml:2: 'nme' is not known", self.retune("--allow", damaged, *self.program(), expect=3).stderr)
        self.assertIn("missing.toml", self.retune("--allow", self.path("missing.toml"), *self.program(), expect=3).stderr)

    def test_exit_codes_and_signals(self):
        self.retune(*self.program("exit", 7), expect=7)
        self.assertIn("could not be started", self.retune("--", self.path("no-program"), expect=3).stderr)
        self.retune(expect=2)
        self.retune("--policy", "best", *self.program(), expect=2)
        self.assertIn("r.txt", self.retune("--report", self.path("no/r.txt"), *self.program(), expect=3).stderr)
        self.retune("--", "bash", "-c", "kill -KILL $$", expect=128 + signal.SIGKILL)
        process = subprocess.Popen([COMMAND, "retune", "--", "sleep", "60"], env=self.environment(hooked=False), stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=30), 128 + signal.SIGTERM)

    def test_programs_without_cuda_and_scripts_with_many_processes(self):
        done = self.retune("--", "bash", "-c", "echo one; true")
        self.assertEqual(done.stdout, "one\n")
        script = " ".join(map(str, self.program()[1:]))
        self.retune("--report", self.path("r.json"), "--", "bash", "-c", f"{script}; {script}")
        with open(self.path("r.json"), encoding="utf-8") as file:
            self.assertEqual(len(json.load(file)["processes"]), 2)


if __name__ == "__main__":
    unittest.main()
