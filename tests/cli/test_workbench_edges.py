# SPDX-License-Identifier: BSD-3-Clause
"""sextant workbench at its edges: the browser that it opens, sockets, a folder that is used again or meddled with, NUL
characters, and connections that say nothing."""
import json
import os
import signal
import socket
import stat
import subprocess
import time
import unittest

import test_workbench
from support import BAD_INPUT, BINARY, CommandTest, grid

BROWSER = """#!/bin/sh
printf '%s\\n' "$@" > {folder}/arguments
cut -d' ' -f6 /proc/self/stat > {folder}/session
grep -E '^Sig(Blk|Ign)' /proc/self/status > {folder}/signals
cp "$1" {folder}/page
mv {folder}/signals {folder}/done
"""


def wait_for(what, seconds=30):
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s")
        time.sleep(0.05)


class Opening(CommandTest):
    def setUp(self):
        super().setUp()
        reason = test_workbench.without_server()
        if reason:
            self.skipTest(reason)

    def test_the_browser_gets_no_token_on_its_command_line_and_its_signals_as_usual(self):
        os.mkdir(self.path("bin"))
        os.mkdir(self.path("tmp"))
        os.chmod(self.file("bin/xdg-open", BROWSER.format(folder=self.folder)), 0o700)
        self.environment.update(DISPLAY=":0", PATH=f"{self.path('bin')}:{self.environment['PATH']}", TMPDIR=self.path("tmp"))
        with subprocess.Popen([BINARY, "workbench", "--device", "cpu"], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:  # fmt: skip
            try:
                address = process.stdout.readline().strip()
                wait_for(lambda: os.path.exists(self.path("done")))
                with open(self.path("arguments"), encoding="utf-8") as file:
                    page, *more = file.read().splitlines()
                self.assertEqual(more, [])
                self.assertNotIn(address.split("=")[1], page)
                self.assertEqual(stat.S_IMODE(os.stat(page).st_mode), 0o600)
                self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(page)).st_mode), 0o700)
                with open(self.path("page"), encoding="utf-8") as file:
                    self.assertIn(address, file.read())
                with open(self.path("done"), encoding="ascii") as file:
                    masks = {line.split(":")[0]: int(line.split()[1], 16) for line in file}
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    self.assertFalse(masks["SigBlk"] >> (number - 1) & 1, number)
                self.assertFalse(masks["SigIgn"] >> (signal.SIGPIPE - 1) & 1)
                with open(self.path("session"), encoding="ascii") as file:
                    self.assertNotEqual(int(file.read()), os.getsid(process.pid))
            finally:
                process.send_signal(signal.SIGINT)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(os.listdir(self.path("tmp")), [])


class Sockets(CommandTest):
    def setUp(self):
        super().setUp()
        reason = test_workbench.without_server()
        if reason:
            self.skipTest(reason)

    def serve(self):
        process = subprocess.Popen([BINARY, "workbench", "--no-open", "--device", "cpu", "--socket", self.path("s")],
                                   env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline().strip(), self.path("s"))
        return process

    def answers(self):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.path("s"))
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return connection.recv(64).startswith(b"HTTP/1.1 200")

    def end(self, process):
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), 0)

    def test_one_that_is_served_stays(self):
        first = self.serve()
        self.assert_fails("workbench", "--no-open", "--device", "cpu", "--socket", self.path("s"), expect=BAD_INPUT, says=[self.path("s"), "in use"])
        self.assertTrue(self.answers())
        self.end(first)
        self.assertFalse(os.path.exists(self.path("s")))

    def test_one_that_is_left_over_is_replaced_and_another_s_own_stays(self):
        killed = self.serve()
        killed.kill()
        killed.wait(timeout=60)
        first = self.serve()
        self.assertTrue(self.answers())
        os.remove(self.path("s"))
        second = self.serve()
        self.end(first)
        self.assertTrue(self.answers())
        self.end(second)
        self.assertFalse(os.path.exists(self.path("s")))

    def test_a_file_that_is_no_socket_stays(self):
        self.file("s", "mine\n")
        self.assert_fails("workbench", "--no-open", "--device", "cpu", "--socket", self.path("s"), expect=BAD_INPUT, says=self.path("s"))
        self.assertTrue(os.path.isfile(self.path("s")))


class Kept(test_workbench.Served):
    """A workbench with a folder of its own."""

    def start(self, *options):
        super().start("--folder", self.path("kept"), *options)

    def again(self, *options):
        self.end(self.process)
        self.start(*options)

    def upload(self, name, text):
        return self.ask(f"/api/upload?name={name}", text)[0]

    def generate(self):
        self.upload("a.mtx", grid(8))
        result = self.run_job("generate", {"matrix": "a.mtx"})
        return result, self.data_of(result)

    def test_a_folder_that_is_used_again_has_its_results(self):
        result, data = self.generate()
        self.again()
        state = self.ask_json("/api/state")
        self.assertIsNone(state["job"])
        self.assertEqual([each["html"] for each in state["results"]], [result["html"]])
        self.assertEqual(self.data_of(state["results"][0]), data)
        status, _, content = self.ask(f"/api/file?result={state['results'][0]['id']}&name=solve.c")
        self.assertEqual(status, 200)
        with open(os.path.join(data["directory"], "solve.c"), "rb") as file:
            self.assertEqual(content, file.read())
        _, later = self.generate()
        self.assertNotEqual(later["directory"], data["directory"])
        self.again("--read-only")
        self.assertEqual(len(self.ask_json("/api/state")["results"]), 2)
        self.refused("/api/jobs", {"action": "machine", "fields": {}}, status=409, says="read-only")

    def test_a_second_workbench_on_the_folder(self):
        self.run_job("machine", {})
        for folder in (self.path("kept"), f"{self.path('kept')}/../kept"):
            self.assert_fails("workbench", "--no-open", "--device", "cpu", "--folder", folder, expect=BAD_INPUT,
                              says=[folder, "another workbench", "--read-only"])
        first, port, token = self.process, self.port, self.token
        self.start("--read-only")
        self.assertEqual(len(self.ask_json("/api/state")["results"]), 1)
        self.end(self.process)
        self.process, self.port, self.token = first, port, token
        self.run_job("machine", {})
        self.again()  # and the lock is gone with the first
        self.assertEqual(len(self.ask_json("/api/state")["results"]), 2)

    def test_folders_of_programs_with_large_numbers(self):
        for name in ("solver-2147483647", "solver-99999999999999999999", "solver-7", "solver-x"):
            os.mkdir(self.path(f"kept/{name}"))
        self.again()
        _, data = self.generate()
        self.assertEqual(os.path.basename(data["directory"]), "solver-8")

    def test_results_that_cannot_be_written_are_told(self):
        self.assertEqual(self.ask_json("/api/state")["unsaved"], "")
        os.makedirs(self.path("kept/results.jsonl/x"))
        self.run_job("machine", {})
        self.assertIn("results.jsonl", self.ask_json("/api/state")["unsaved"])
        self.assertIn("could not be written", self.ask_json("/api/state")["unsaved"])
        os.rmdir(self.path("kept/results.jsonl/x"))
        os.rmdir(self.path("kept/results.jsonl"))
        self.run_job("machine", {})
        self.assertEqual(self.ask_json("/api/state")["unsaved"], "")
        self.again()
        self.assertEqual(len(self.ask_json("/api/state")["results"]), 2)

    def test_a_model_on_matrices_that_were_uploaded(self):
        for side in (5, 12, 30, 60):
            self.upload(f"g{side}.mtx", grid(side))
        data = self.data_of(self.run_job("model", {"kernel": "spmv.csr.rows.cpu", "matrices": "uploads", "points": "all", "seconds": "20"}))
        self.assertEqual(sorted(each["matrix"] for each in data["samples"]), ["g12.mtx", "g30.mtx", "g5.mtx", "g60.mtx"])

    def test_the_device_of_one_action(self):
        for fields, said in (({}, "--device cpu --threads 1"), ({"device": "auto"}, "--device auto --threads 1")):
            command = self.ask_json("/api/command", {"action": "machine", "fields": fields})["command"]
            self.assertEqual(command, f"sextant machine {said} --json")

    def test_results_that_are_none_are_told(self):
        self.run_job("machine", {})
        self.end(self.process)
        with open(self.path("kept/results.jsonl"), "a", encoding="utf-8") as file:
            file.write("[]\n")
        self.assert_fails("workbench", "--no-open", "--device", "cpu", "--folder", self.path("kept"), expect=BAD_INPUT, says="results.jsonl:2")

    def test_uploads_are_apart_from_what_commands_write(self):
        for name in ("solver-1", "solver-2", "model.toml", "results.jsonl"):
            self.assertEqual(self.upload(name, grid(4)), 200)
        self.assertEqual(sorted(os.listdir(self.path("kept"))), ["uploads", "workbench.lock"])
        self.assertFalse(self.ask_json("/api/state")["has_model"])
        self.refused("/api/jobs", {"action": "accept", "fields": {}}, status=409, says="no model")
        _, data = self.generate()
        self.assertEqual(os.path.basename(data["directory"]), "solver-1")

    def test_an_acceptance_and_its_undoing(self):
        self.end(self.process)
        profile = self.path("p.toml")
        self.run_command("calibrate", *self.options, "--kind", "sxt.reduction/1", "--seconds", "3", "-o", profile)
        self.options = (*self.options, "--profile", profile)
        self.start()
        self.run_job("model", {"kernel": "spmv.csr.rows.cpu", "seconds": "2"})
        for action, says in (("accept", "has the model"), ("undo", "is what it was before")):
            self.assertIn(says, self.data_of(self.run_job(action, {})).get("message", ""))

    def test_what_cannot_be_read_leaves_no_folder(self):
        self.upload("bad.mtx", "nothing\n")
        self.assertIn("error", self.data_of(self.run_job("generate", {"matrix": "bad.mtx"})))
        self.assertEqual(sorted(os.listdir(self.path("kept"))), ["results.jsonl", "uploads", "workbench.lock"])

    def test_files_of_a_program_that_were_replaced(self):
        result, data = self.generate()
        secret = self.file("secret", "secret\n")
        os.remove(os.path.join(data["directory"], "CMakeLists.txt"))
        os.mkfifo(os.path.join(data["directory"], "CMakeLists.txt"))
        self.refused(f"/api/file?result={result['id']}&name=CMakeLists.txt", status=404, says="regular file")
        os.remove(os.path.join(data["directory"], "plan.toml"))
        os.symlink(secret, os.path.join(data["directory"], "plan.toml"))
        self.refused(f"/api/file?result={result['id']}&name=plan.toml", status=404, says="plan.toml")
        os.rename(data["directory"], self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), data["directory"])
        self.refused(f"/api/file?result={result['id']}&name=solve.c", status=404, says="solver-1")
        self.goes_on()

    def test_results_lead_to_no_file_outside(self):
        self.run_job("machine", {})
        self.end(self.process)
        self.file("secret", "secret\n")
        with open(self.path("kept/results.jsonl"), encoding="utf-8") as file:
            line = json.loads(file.read())
        line["data"] = {"history": [], "directory": self.folder, "files": ["secret"]}
        with open(self.path("kept/results.jsonl"), "w", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self.start()
        self.refused("/api/file?result=1&name=secret", status=404, says="folder of a program")


class Characters(test_workbench.Served):
    def test_nul_characters_are_refused_in_whole_sentences(self):
        for form, says in (({"action": "explain", "fields": {"matrix": "a\0b"}}, "'a?b' is not a file"),
                           ({"action": "model", "fields": {"kernel": "a\0b"}}, "'a?b' is not a name"),
                           ({"action": "verify", "fields": {"applies": "1\0"}}, "'1?' is not a number"),
                           ({"action": "machine", "fields": {"a\0b": True}}, "no field 'a?b'"),
                           ({"action": "ma\0chine"}, "'ma?chine'")):  # fmt: skip
            self.refused("/api/command", form, status=400, says=says)
        good = json.dumps({"action": "machine", "fields": {}})
        self.assertEqual(self.ask("/api/command", good)[0], 200)
        self.assertEqual(self.ask("/api/command", f"{good}\0junk")[0], 400)
        for address in ("/api/upload?name=a%00b.mtx", "/api/upload?name=a.mtx%00"):
            self.refused(address, {}, status=400, says="name: a NUL")
        self.goes_on()


class Connections(test_workbench.Served):
    def test_silent_ones_keep_no_other_out_and_are_closed(self):
        silent = [socket.create_connection(("127.0.0.1", self.port), timeout=20) for _ in range(200)]
        try:
            for connection in silent[::2]:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ")
            start = time.monotonic()
            self.goes_on()
            self.assertLess(time.monotonic() - start, 5)
            for connection in (silent[0], silent[-1]):
                connection.settimeout(15)
                self.assertIn(connection.recv(4096)[:12], (b"", b"HTTP/1.1 408"))
            self.assertLess(time.monotonic() - start, 15)
        finally:
            for connection in silent:
                connection.close()

    def test_kernels_while_a_job_runs(self):
        self.environment["SEXTANT_PROFILE"] = self.path("profile.toml")
        self.ask_json("/api/jobs", {"action": "calibrate", "fields": {"seconds": 600}}, expect=202)
        start = time.monotonic()
        answer = self.ask_json("/api/kernels")
        self.assertLess(time.monotonic() - start, 5)
        plugins = self.run_json("plugins", "--device", "cpu")[0]["plugins"]
        known = {(kernel["name"], kernel["kind"]) for plugin in plugins for kernel in plugin["kernels"]
                 if kernel["kind"] in answer["kinds"] and not kernel["reference"]}  # fmt: skip
        self.assertEqual(known, {(each["name"], each["kind"]) for each in answer["kernels"]})
        self.assertLessEqual({"sxt.spmv/1", "sxt.preconditioner/1", "sxt.pcg/1", "sxt.vector/1", "sxt.reduction/1", "sxt.cholesky/1",
                              "sxt.hermitian/1"}, set(answer["kinds"]))  # fmt: skip


if __name__ == "__main__":
    unittest.main()
