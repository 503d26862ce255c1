# SPDX-License-Identifier: BSD-3-Clause
"""sextant workbench from the side of HTTP: who is answered, what is refused and with which words, and that it goes on."""
import json
import os
import random
import signal
import socket
import subprocess
import time
import unittest

from support import BINARY, DATA, USAGE, CommandTest, grid

SEED = 20260917


def without_server():
    """The sentence of a command that was built without libmicrohttpd, or None."""
    result = subprocess.run([BINARY, "workbench", "--no-open", "--socket", "/nonexistent/folder/socket"], text=True,
                            capture_output=True, check=False, timeout=60)
    return result.stderr if "libmicrohttpd" in result.stderr else None


class Served(CommandTest):
    """A workbench on a free port, ended by Ctrl-C when the test is over."""

    options = ("--device", "cpu", "--threads", "1")

    def setUp(self):
        super().setUp()
        reason = without_server()
        if reason:
            self.skipTest(reason)
        self.process, self.port, self.token = None, 0, ""
        self.start()

    def start(self, *options):
        self.process = subprocess.Popen([BINARY, "workbench", "--no-open", *self.options, *options], env=self.environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, self.process)
        address = self.process.stdout.readline()
        self.assertRegex(address, r"^http://127\.0\.0\.1:\d+/#token=[0-9a-f]{32}$")
        self.port, self.token = int(address.split(":")[2].split("/")[0]), address.strip().split("=")[1]

    def end(self, process):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(out, "")

    def raw(self, data, timeout=20):
        """What the server answers to these bytes before it closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            while True:
                got = connection.recv(65536)
                if not got:
                    return answer
                answer += got

    def ask(self, path, body=None, token=None, host=None, method=None, **headers):
        """Status, headers, body."""
        body = body.encode() if isinstance(body, str) else body
        lines = [f"{method or ('GET' if body is None else 'POST')} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}",
                 "Connection: close", f"X-Sextant-Token: {self.token if token is None else token}"]  # fmt: skip
        lines += [f"{name}: {value}" for name, value in headers.items()]
        lines += [f"Content-Length: {len(body)}"] if body is not None else []
        answer = self.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))
        head, _, content = answer.partition(b"\r\n\r\n")
        self.assertTrue(head.startswith(b"HTTP/1.1 "), answer[:200])
        return int(head.split()[1]), head.decode("latin-1"), content

    def ask_json(self, path, body=None, expect=200, **more):
        status, _, content = self.ask(path, None if body is None else json.dumps(body), **more)
        self.assertEqual(status, expect, content)
        return json.loads(content)

    def refused(self, path, body=None, status=403, says="", **more):
        answer = self.ask_json(path, body, expect=status, **more)
        self.assertIn(says, answer["error"])

    def goes_on(self):
        self.assertEqual(self.ask_json("/api/state")["read_only"], "--read-only" in self.process.args)

    def run_job(self, action, fields, seconds=60):
        number = self.ask_json("/api/jobs", {"action": action, "fields": fields}, expect=202)["id"]
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            state = self.ask_json("/api/state")
            if not state["job"]["running"]:
                self.assertEqual(state["job"]["id"], number)
                return state["results"][-1]
            time.sleep(0.05)
        self.fail(f"{action} did not end")

    def data_of(self, result):
        return self.ask_json(f"/api/result?id={result['id']}")


class Admission(Served):
    def test_the_page_holds_no_data_and_needs_no_token(self):
        status, head, content = self.ask("/", token="")
        self.assertEqual(status, 200)
        self.assertLessEqual(len(content), 400_000)
        self.assertNotIn(self.token.encode(), content)
        policy = next(line for line in head.splitlines() if line.startswith("Content-Security-Policy"))
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        nonce = policy.split("'nonce-")[1].split("'")[0]
        self.assertEqual(content.count(f'nonce="{nonce}"'.encode()), 2)
        self.assertEqual(content.count(b"<script"), 2)  # the page's own, and the chart library as text
        self.assertIn(b'<script type="text/plain" id="chart-library">', content)
        self.assertNotEqual(nonce, self.ask("/")[1].split("'nonce-")[1].split("'")[0])
        for word in (b"http://", b"https://"):  # names of XML and links of licences, none of which is fetched
            for at in range(content.count(word)):
                self.assertRegex(content.split(word)[at + 1][:24], rb"^(www\.w3\.org|www\.chartjs\.org|github\.com)")

    def test_a_wrong_token(self):
        for token in ("", "0" * 32, self.token[:-1], self.token + "0"):
            self.refused("/api/state", status=401, says="token", token=token)
            self.refused("/api/jobs", {"action": "machine"}, status=401, says="token", token=token)
        self.goes_on()

    def test_a_foreign_host(self):
        for host in ("evil.example", "127.0.0.1.evil.example", f"localhost.evil:{self.port}", "10.0.0.1", "localhost:x",
                     "localhost:", "[::2]", "127.0.0.1:123456"):  # fmt: skip
            self.refused("/", status=403, says="Host", host=host)
        for host in ("localhost", "localhost:8000", "[::1]:9", "127.0.0.1"):  # a forwarded port has another number
            self.assertEqual(self.ask("/", host=host)[0], 200, host)
        self.assertIn(self.raw(b"GET / HTTP/1.1\r\n\r\n").split()[1], (b"400", b"403"))  # no Host at all
        self.goes_on()

    def test_a_foreign_origin(self):
        for origin in ("http://evil.example", "null", f"https://127.0.0.1:{self.port}", f"http://127.0.0.1:{self.port + 1}"):
            self.refused("/api/jobs", {"action": "machine"}, status=403, says="origin", Origin=origin)
        self.ask_json("/api/state", Origin=f"http://127.0.0.1:{self.port}")

    def test_other_methods_and_addresses(self):
        self.refused("/api/state", {}, status=405, says="GET and POST", method="PUT")
        self.refused("/", {}, status=405, says="GET")
        for path in ("/nothing", "/api/../etc/passwd", "/api/file?result=1&name=../../etc/passwd", "/api/result?id=7"):
            self.refused(path, status=404)
        self.goes_on()


class Bodies(Served):
    def test_a_huge_body(self):
        self.refused("/api/jobs", "x" * 70_000, status=413, says="65536 bytes")
        lines = f"POST /api/upload?name=a.mtx HTTP/1.1\r\nHost: localhost\r\nX-Sextant-Token: {self.token}\r\n"
        for length in ("99999999999999999999", str((64 << 20) + 1)):
            answer = self.raw(f"{lines}Content-Length: {length}\r\n\r\n".encode())
            self.assertIn(answer.split(b"\r\n")[0].split()[1], (b"413", b"400"))
        chunk = b"10000\r\n" + b"y" * 0x10000 + b"\r\n"
        answer = self.raw(lines.replace("upload?name=a.mtx", "jobs").encode() + b"Transfer-Encoding: chunked\r\n\r\n" + 3 * chunk + b"0\r\n\r\n")
        self.assertIn(b" 413 ", answer.split(b"\r\n")[0])
        self.goes_on()

    def test_what_is_no_form(self):
        for body in ("", "{", "[]", '{"action": 3}', '{"action": "machine", "fields": 3}', "\x00\xff"):
            self.assertEqual(self.ask("/api/jobs", body.encode("latin-1"))[0], 400, body)
        self.refused("/api/jobs", {"action": "machin"}, status=400, says="'machine'")
        self.refused("/api/jobs", {"action": "machine", "fields": {"plugin_path": "/x"}}, status=400, says="plugin_path")
        for field, value, says in (("kernel", "--accept", "a name"), ("kernel", "a;b", "a name"), ("seconds", "nan", "a number"),
                                   ("seconds", "-1", "a number"), ("wanted", "x" * 500, "longer"), ("type", ["f64"], "text or a number")):
            self.refused("/api/jobs", {"action": "model", "fields": {field: value}}, status=400, says=says)
        self.refused("/api/jobs", {"action": "explain", "fields": {"matrix": "--help"}}, status=400, says="a file")
        self.goes_on()

    def test_a_slow_client_holds_up_no_other(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as slow:
            slow.sendall(b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\n")
            start = time.monotonic()
            self.goes_on()
            self.assertLess(time.monotonic() - start, 5)
            slow.sendall(f"X-Sextant-Token: {self.token}\r\nContent-Length: 100\r\n\r\nfirst".encode())
            self.goes_on()
            slow.settimeout(60)
            self.assertIn(slow.recv(4096)[:12], (b"", b"HTTP/1.1 408"))  # closed when its time is over

    def test_many_connections(self):
        many = [socket.create_connection(("127.0.0.1", self.port), timeout=20) for _ in range(40)]
        self.goes_on()
        for connection in many:
            connection.close()
        self.goes_on()

    def test_fuzzed_requests(self):
        numbers = random.Random(SEED)
        seeds = [f"GET /api/state?event=1&result=2 HTTP/1.1\r\nHost: localhost:{self.port}\r\nX-Sextant-Token: {self.token}\r\n\r\n",
                 f"POST /api/command HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nX-Sextant-Token: {self.token}\r\n"
                 'Content-Length: 60\r\n\r\n{"action": "tree", "fields": {"op": "axpy", "type": "f64"}}',
                 f"POST /api/upload?name=a%2e.mtx HTTP/1.1\r\nHost: [::1]\r\nX-Sextant-Token: {self.token}\r\nContent-Length: 3\r\n\r\nabc"]
        words = [b"\r\n", b"\x00", b"%00", b"%", b"..", b"/", b"{", b"}", b"[", b'"', b"\\", b"\xff\xfe", b"9" * 30, b"-1", b":", b" "]
        for _ in range(1500):
            data = bytearray(numbers.choice(seeds).encode())
            for _ in range(numbers.randint(1, 8)):
                at = numbers.randrange(len(data))
                kind = numbers.randrange(4)
                if kind == 0:
                    data[at] = numbers.randrange(256)
                elif kind == 1:
                    data[at:at] = numbers.choice(words)
                elif kind == 2:
                    del data[at:at + numbers.randint(1, 20)]
                else:
                    data += data[at:at + numbers.randint(1, 60)]
                if not data:
                    data = bytearray(b" ")
            answer = self.raw(bytes(data))
            self.assertTrue(answer == b"" or answer.startswith(b"HTTP/1."), answer[:80])
        self.goes_on()
        self.assertIsNone(self.process.poll())


class Jobs(Served):
    def test_a_job_gives_the_bytes_of_its_command(self):
        result = self.run_job("tree", {"op": "axpy", "type": "f64"})
        self.assertEqual(result["view"], "choice")
        self.assertIn("<svg", result["html"])
        command = self.ask_json("/api/command", {"action": "tree", "fields": {"op": "axpy", "type": "f64"}})["command"]
        self.assertEqual(command, "sextant explain --tree --op axpy --type f64 --device cpu --threads 1 --json")
        self.assertEqual(self.data_of(result), json.loads(self.run_command(*command.split()[1:]).stdout))

    def test_one_at_a_time_and_it_can_be_cancelled(self):
        fields = {"quick": True, "seconds": 600}
        self.environment["SEXTANT_PROFILE"] = self.path("profile.toml")
        first = self.ask_json("/api/jobs", {"action": "calibrate", "fields": fields}, expect=202)["id"]
        self.refused("/api/jobs", {"action": "machine", "fields": {}}, status=409, says="calibrate is still running")
        # Another browser sees the same job, with its events, and a tab that was closed meanwhile changed nothing.
        deadline = time.monotonic() + 30
        while not self.ask_json("/api/state")["job"]["events"]:
            self.assertLess(time.monotonic(), deadline, "no event")
            time.sleep(0.1)
        state = self.ask_json("/api/state")
        self.assertEqual((state["job"]["id"], state["job"]["running"]), (first, True))
        self.assertEqual(self.ask_json(f"/api/state?job={first}&event={state['job']['next_event']}")["job"]["events"][:1], [])
        self.ask_json("/api/cancel", {})
        deadline = time.monotonic() + 50
        while self.ask_json("/api/state")["job"]["running"]:
            self.assertLess(time.monotonic(), deadline, "not cancelled")
            time.sleep(0.1)
        self.assertIs(self.data_of(self.ask_json("/api/state")["results"][-1])["cancelled"], True)  # it reported what it had
        self.assertIn("processor", self.data_of(self.run_job("machine", {})))  # nothing is measured: no events

    def test_a_matrix_goes_in_and_a_program_comes_out(self):
        self.assertEqual(self.ask_json("/api/upload?name=grid.mtx", None, method="GET", expect=404)["error"], "there is nothing at this address")
        status, _, content = self.ask("/api/upload?name=grid.mtx", grid(12))
        self.assertEqual((status, json.loads(content)), (200, {"name": "grid.mtx"}))
        result = self.run_job("generate", {"matrix": "grid.mtx", "rtol": "1e-9"})
        self.assertEqual(result["view"], "generate")
        data = self.data_of(result)
        self.assertEqual(data["matrix"]["rows"], 144)
        for name in data["files"]:
            status, head, content = self.ask(f"/api/file?result={result['id']}&name={name}")
            self.assertEqual(status, 200)
            self.assertIn(f'attachment; filename="{name}"', head)
            with open(os.path.join(data["directory"], name), "rb") as file:
                self.assertEqual(content, file.read())
        self.refused(f"/api/file?result={result['id']}&name=other", status=404)

    def test_a_file_that_is_no_matrix(self):
        self.ask("/api/upload?name=a.mtx", "no matrix\n")
        for action in ("explain", "generate"):
            result = self.run_job(action, {"matrix": "a.mtx"})
            self.assertIn("a.mtx", result["html"])
            self.assertIn('class="error"', result["html"])
            self.assertIn("1", self.data_of(result)["error"])
        for name in ("../a", ".a", "a/b", "", "-a", "a b"):
            self.assertEqual(self.ask(f"/api/upload?name={name.replace(' ', '%20')}", "x")[0], 400, name)

    def test_results_are_escaped(self):
        result = self.run_job("explain", {"matrix": "<script>alert(1)</script>"})
        self.assertNotIn("<script>alert", result["html"])
        self.assertIn("&lt;script&gt;", result["html"])

    def test_a_report_of_the_session(self):
        self.assertIn("kernels", self.data_of(self.run_job("machine", {})))
        status, head, content = self.ask("/api/report")
        self.assertEqual(status, 200)
        self.assertIn("sextant-report.html", head)
        self.assertIn(b"sextant machine", content)
        self.assertNotIn(self.token.encode(), content)

    def test_kernels_and_an_idle_server(self):
        answer = self.ask_json("/api/kernels")
        self.assertIn({"name": "spmv.csr.rows.cpu", "kind": "sxt.spmv/1"}, answer["kernels"])
        self.assertEqual((answer["kinds"][0], answer["operations"]["sxt.cholesky/1"]), ("sxt.spmv/1", ["factor", "solve"]))
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            before = sum(map(int, file.read().split()[13:15]))
        time.sleep(2)
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            self.assertLessEqual(sum(map(int, file.read().split()[13:15])) - before, 1)


class Ways(Served):
    def test_read_only(self):
        self.end(self.process)
        self.start("--read-only")
        for path, body in (("/api/jobs", {"action": "machine", "fields": {}}), ("/api/cancel", {})):
            self.refused(path, body, status=409, says="read-only")
        self.assertEqual(self.ask("/api/upload?name=a.mtx", "x")[0], 409)
        self.goes_on()

    def test_a_unix_socket(self):
        path = self.path("s")
        process = subprocess.Popen([BINARY, "workbench", "--no-open", *self.options, "--socket", path], env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline().strip(), path)
        token = process.stdout.readline().strip().split("=")[1]
        self.assertEqual(os.stat(path).st_mode & 0o077, 0)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            connection.sendall(f"GET /api/state HTTP/1.1\r\nHost: localhost\r\nX-Sextant-Token: {token}\r\nConnection: close\r\n\r\n".encode())
            self.assertTrue(connection.recv(4096).startswith(b"HTTP/1.1 200"))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertFalse(os.path.exists(path))

    def test_ports_and_folders(self):
        self.assert_fails("workbench", "--no-open", "--port", str(self.port), expect=3, says=str(self.port))
        self.assert_fails("workbench", "--port", "1", "--socket", "x", expect=USAGE, says="--port")
        folder = self.path("kept")
        self.end(self.process)
        self.start("--folder", folder)
        self.ask("/api/upload?name=a.mtx", grid(3))
        self.assertEqual((sorted(os.listdir(folder)), os.listdir(f"{folder}/uploads")), (["uploads", "workbench.lock"], ["a.mtx"]))

    def test_ctrl_c_ends_a_running_job_too(self):
        self.environment["SEXTANT_PROFILE"] = self.path("profile.toml")
        self.ask_json("/api/jobs", {"action": "calibrate", "fields": {"seconds": 600}}, expect=202)
        time.sleep(0.5)
        start = time.monotonic()
        self.end(self.process)
        self.assertLess(time.monotonic() - start, 40)


if __name__ == "__main__":
    unittest.main()
