# SPDX-License-Identifier: BSD-3-Clause
"""sextant plugins and sextant plugin check: loaded and refused plugins, and crashes."""
import json
import os
import re
import time
import unittest

from support import BAD_INPUT, DONE, REFUSED, USAGE, CommandTest, grid

MISBEHAVING = os.environ["SEXTANT_TEST_PLUGINS"]
MOCKS = os.environ["SEXTANT_TEST_MOCKS"]


def wrong(report):
    """Refusals except those because of a missing device: CUDA plugins on a machine without a GPU."""
    return [refusal for refusal in report["refused"] if refusal["stage"] != "device"]


class Lists(CommandTest):
    def test_json(self):
        report, messages = self.run_json("plugins", "--strict")
        self.assertEqual((messages, wrong(report)), ("", []))
        self.assertGreater(len(report["plugins"]), 0)
        for plugin in report["plugins"]:
            self.assert_keys(plugin, ("name", "version", "path", "kernels"))
            self.assertTrue(os.path.isfile(plugin["path"]), plugin["path"])
            for kernel in plugin["kernels"]:
                self.assert_keys(kernel, ("name", "kind", "device"))
        kinds = {kernel["kind"] for plugin in report["plugins"] for kernel in plugin["kernels"]}
        self.assertLessEqual({"sxt.spmv/1", "sxt.vector/1", "sxt.reduction/1", "sxt.pcg/1"}, kinds)

    def test_text(self):
        result = self.run_command("plugins")
        self.assertEqual(result.stderr, "")
        self.assertIn("sxt.spmv/1", result.stdout)
        self.assertRegex(result.stdout, r"\d+ plugins with \d+ kernels; 0 refused")

    def test_refused_file_in_a_folder(self):
        bad = self.file("bad.so", "not a shared object\n")
        report, _ = self.run_json("plugins", "--plugin-path", self.folder)
        self.assertEqual(len(wrong(report)), 1)
        refusal = wrong(report)[0]
        self.assert_keys(refusal, ("path", "stage", "reason"))
        self.assertEqual(os.path.realpath(refusal["path"]), os.path.realpath(bad))
        self.assertIn("ELF", refusal["reason"])
        self.run_command("plugins", "--plugin-path", self.folder, "--strict", expect=REFUSED)

    def test_refused_file_named_alone(self):
        bad = self.file("bad.so", "not a shared object\n")
        report, messages = self.run_json("plugins", "--plugin-path", bad)
        self.assertEqual(len(wrong(report)), 1)
        self.assertIn("bad.so", messages)
        # It is an error in commands that use plugins, not in those that list them.
        self.assert_fails("solve", self.file("a.mtx", grid(3)), "--plugin-path", bad, expect=REFUSED, says="bad.so")

    def test_environment_is_under_the_trust_rules(self):
        os.mkdir(self.path("open"))
        with open(self.path("open/bad.so"), "w", encoding="ascii") as file:
            file.write("not a shared object\n")
        os.chmod(self.path("open"), 0o777)
        self.environment["SEXTANT_PLUGIN_PATH"] = self.path("open")
        report, _ = self.run_json("plugins")
        self.assertEqual([refusal["stage"] for refusal in wrong(report)], ["trust"])


class Check(CommandTest):
    """Each check names the processor: elsewhere a GPU is the usual device, on which these kernels do not run."""

    def own_plugin(self, kind):
        report, _ = self.run_json("plugins")
        for plugin in report["plugins"]:
            if any(kernel["kind"] == kind and kernel["device"] == "cpu" and not kernel["reference"]
                   for kernel in plugin["kernels"]):
                return plugin["path"]
        self.fail(f"no plugin of kind {kind}")
        return None

    def check(self, name, *arguments, expect=REFUSED):
        return self.run_json("plugin", "check", os.path.join(MISBEHAVING, name), "--device", "cpu", *arguments, expect=expect)

    def test_good_plugin(self):
        result, messages = self.run_json("plugin", "check", self.own_plugin("sxt.vector/1"), "--device", "cpu", expect=DONE)
        self.assertEqual(messages, "")
        self.assertTrue(result["passed"])
        self.assertIsNone(result["stage"])
        self.assertGreater(len(result["checks"]), 0)
        for check in result["checks"]:
            self.assert_keys(check, ("kernel", "check", "passed", "sentence"))
            self.assertTrue(check["passed"], check)
        verdicts = [check for check in result["checks"] if check["check"] == "verdict"]
        self.assertEqual({check["kernel"] for check in verdicts}, {check["kernel"] for check in result["checks"]})
        proving = sum("of the bound" in check["sentence"] and "proves nothing" not in check["sentence"] for check in result["checks"])
        self.assertEqual(sum(int(re.match(r"passed: (\d+) case", check["sentence"]).group(1)) for check in verdicts), proving)
        for check in verdicts:
            self.assertRegex(check["sentence"], r"case\(s\) of \d+ sizes.* prove it; .* times as long as predicted$")
        times = [check["sentence"] for check in result["checks"] if check["check"] == "predicted and measured times"]
        self.assertTrue(times)
        for sentence in times:
            self.assertRegex(sentence, r"runs took [\d.e+-]+ to [\d.e+-]+ times as long as predicted, the median of \d+ is .*; farthest off: ")

    def test_what_was_not_proven_has_not_failed(self):
        """A kind without cases: nothing is known of the kernel, so that it is neither accepted nor refused, and not remembered."""
        report, _ = self.run_json("plugins")
        path = next(plugin["path"] for plugin in report["plugins"] if plugin["kernels"][0]["name"] == "device.cpu")
        before = set(self.files())
        result, messages = self.check(path)
        self.assertEqual((result["passed"], result["stage"]), (False, "not proven"))
        self.assertIn("is not proven", messages)
        verdict = result["checks"][-1]
        self.assertEqual((verdict["check"], verdict["passed"], verdict["declined"]), ("verdict", True, True))
        self.assertIn("not proven, and not failed", verdict["sentence"])
        text = self.run_command("plugin", "check", path, "--device", "cpu", expect=REFUSED).stdout
        self.assertIn("not proven " + path, text)
        self.assertNotIn("FAILED", text)
        for name in set(self.files()) - before:
            with open(name, encoding="utf-8") as file:
                self.assertNotIn("did not end", file.read())

    def test_good_plugin_is_remembered_unless_told_otherwise(self):
        plugin = self.own_plugin("sxt.vector/1")
        before = set(self.files())
        self.run_command("plugin", "check", plugin, "--device", "cpu", "--no-stamp")
        self.assertEqual(set(self.files()), before)
        result = self.run_command("plugin", "check", plugin, "--device", "cpu")
        self.assertIn("accepted", result.stdout)
        self.assertEqual(len(set(self.files()) - before), 1)
        result = self.run_command("plugin", "check", "--no-stamp", "--device", "cpu", "--", plugin)
        self.assertIn("accepted", result.stdout)
        self.assert_fails("plugin", "check", plugin, "--time-limit", "nan", expect=USAGE, says="--time-limit")

    def files(self):
        return [os.path.join(folder, name) for folder, _, names in os.walk(self.folder) for name in names]

    def test_not_a_plugin(self):
        bad = self.file("bad.so", "not a shared object\n")
        result = self.run_command("plugin", "check", bad, expect=REFUSED)
        self.assertIn("refused", result.stdout)
        self.assertIn("ELF", result.stdout)
        self.assertIn("refused at stage", result.stderr)

    def test_missing_file(self):
        self.assert_fails("plugin", "check", self.path("none.so"), expect=BAD_INPUT, says="none.so")

    def test_crash_is_named(self):
        result, messages = self.check("crash.so")
        self.assertEqual((result["passed"], result["stage"]), (False, "crash"))
        self.assertIn("SIGABRT", result["reason"])
        self.assertIn("SIGABRT", messages)

    def test_hang_is_stopped(self):
        start = time.monotonic()
        result, _ = self.check("hang.so", "--time-limit", "1")
        self.assertEqual(result["stage"], "time limit")
        self.assertLess(time.monotonic() - start, 20)

    def test_exit_is_no_success(self):
        result, _ = self.check("exit.so")
        self.assertEqual((result["passed"], result["stage"]), (False, "exit"))
        self.assertIn("exit code 0", result["reason"])

    def test_printing_does_not_reach_the_data(self):
        result, messages = self.check("chatter.so")
        self.assertEqual((result["passed"], result["stage"]), (False, "entry"))
        self.assertIn("printed by the plugin", messages)
        self.assertNotIn("printed by the plugin", json.dumps(result))

    def test_what_a_run_must_not_do(self):
        for defect, says in (("allocates", "run allocated memory 1 time(s) by malloc, new or a mapping"),
                             ("maps", "run allocated memory 1 time(s) by malloc, new or a mapping"),
                             ("prints", "run printed 10 byte(s) to standard output or standard error"),
                             ("writes", "run printed 10 byte(s) to standard output or standard error"),
                             ("prints_early", "it printed"),
                             ("localises", "run left another locale behind"),
                             ("rounds", "run left another rounding mode behind")):
            path = os.path.join(MOCKS, f"spmv-{defect.replace('_', '-')}.so")
            report = json.loads(self.run_command("plugin", "check", path, "--device", "cpu", "--json", "--no-stamp",
                                                 "--time-limit", "100", expect=REFUSED).stdout)
            failed = [check for check in report["checks"] if not check["passed"]]
            self.assertTrue(failed, defect)
            self.assertEqual(failed[0]["kernel"], f"com.example.spmv_{defect}")
            self.assertIn(says, failed[0]["sentence"], defect)
            self.assertIn(", in sxt.storage.csr/1", failed[0]["check"])

    def test_declined_cases_are_counted_and_listed_on_demand(self):
        plain, every = (self.run_command("plugin", "check", os.path.join(MOCKS, "spmv-serial.so"), "--device", "cpu", "--no-stamp",
                                         *options).stdout for options in ((), ("--verbose",)))
        self.assertIn("accepted", plain)
        declined = int(re.search(r"(?m)^(\d+) cases were declined; --verbose lists them$", plain).group(1))
        self.assertEqual(len(re.findall(r"  declined  ", every)), declined)
        self.assertNotRegex(plain, r"  declined  ")
        self.assertNotIn("--verbose lists them", every)


class New(CommandTest):
    """What is written. tests/install builds and runs it, kind by kind."""

    def test_every_kind(self):
        listed, _ = self.run_json("plugin", "new", "--list")
        self.assertLessEqual({"spmv", "storage", "features", "own"}, {each["name"] for each in listed})
        for each in listed:
            for options in ([], ["--cuda"]) if "cuda" in each["devices"] else ([],):
                folder = self.path(each["name"] + "".join(options))
                made, _ = self.run_json("plugin", "new", each["name"], "mine-2", "-o", folder, *options)
                self.assertEqual(made["kernel"], "com.example.mine-2")
                self.assertEqual(made["kind"], each["kind"].replace("DOMAIN", "com.example").replace("NAME", "mine-2"))
                self.assertEqual(sorted(os.listdir(folder)), sorted(made["files"]))
                for name in made["files"]:
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        text = file.read()
                    self.assertNotRegex(text, r"@[A-Z_]+@", f"{each['name']}: {name}")
                    for header in re.findall(r'#include "([^"]+)"', text):  # beside it, or installed
                        self.assertTrue(header in made["files"] or header.startswith("sextant/"), f"{name} includes {header}")
                    if name == "README.md":
                        self.check_readme(text)

    def check_readme(self, text):
        """Its table has whole sentences, and its commands have options that exist."""
        for row in re.findall(r"(?m)^\| .*$", text):
            self.assertEqual(row.count("("), row.count(")"), row)
        commands = re.findall(r"(?m)^sextant ([a-z ]+?) ((?:build/|MATRIX|--).*)$", text)
        self.assertEqual(len(commands), 2, text)
        for subcommand, rest in commands:
            known = self.run_command(*subcommand.split(), "--help").stdout
            for option in re.findall(r"--[a-z-]+", rest):
                self.assertIn(option, known, f"sextant {subcommand}")

    def test_a_method_of_the_librarys_own_is_warned_of(self):
        made = self.run_command("plugin", "new", "preconditioner", "jacobi", "-o", self.path("jacobi"))
        self.assertIn("jacobi is also a method of the library's own (preconditioner.jacobi.cpu)", made.stderr)
        for kind, name in (("preconditioner", "damped"), ("vector", "jacobi")):
            self.assertEqual(self.run_command("plugin", "new", kind, name, "-o", self.path(kind + name)).stderr, "")

    def test_kinds_by_their_ids_and_kinds_of_ones_own(self):
        made, _ = self.run_json("plugin", "new", "sxt.ordering/2", "a", "-o", self.path("a"))
        self.assertEqual(made["kind"], "sxt.ordering/2")
        made, _ = self.run_json("plugin", "new", "own", "b", "--domain", "org.me", "-o", self.path("b"))
        self.assertEqual((made["kind"], made["kernel"]), ("org.me.b/1", "org.me.b"))
        with open(self.path("b/kind.hpp"), encoding="utf-8") as file:
            self.assertIn('"org.me.b/1"', file.read())

    def test_what_is_refused(self):
        self.assert_fails("plugin", "new", "spvm", "a", expect=USAGE, says=["no template of kind 'spvm'", "did you mean 'spmv'"])
        self.assert_fails("plugin", "new", "launch", "a", "--cuda", expect=USAGE, says=["no template for CUDA", "on the host", "spmv"])
        self.assert_fails("plugin", "new", "spmv", expect=USAGE, says="KIND and NAME are required")
        for name in ("Mine", "9", "a b", "a/b", "a" * 24, ""):
            self.assert_fails("plugin", "new", "spmv", name, "-o", self.path("x"), expect=USAGE, says="NAME")
        self.assert_fails("plugin", "new", "spmv", "a", "--domain", "com example", expect=USAGE, says="--domain")
        os.mkdir(self.path("there"))
        self.assert_fails("plugin", "new", "spmv", "a", "-o", self.path("there"), expect=BAD_INPUT, says="it is there already")
        self.assertEqual(os.listdir(self.path("there")), [])
        self.assert_fails("plugin", "new", "spmv", "a", "-o", self.path("no/such"), expect=BAD_INPUT, says="No such file")


if __name__ == "__main__":
    unittest.main()
