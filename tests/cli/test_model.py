# SPDX-License-Identifier: BSD-3-Clause
"""sextant model: the model that it builds, what it says of it, and a profile that takes it in and gives it back unharmed."""
import fcntl
import json
import os
import subprocess
import unittest

from support import BAD_INPUT, BINARY, NOT_SOLVED, USAGE, CommandTest, grid

KERNEL = "spmv.csr.rows.cpu"
HERE = ("--device", "cpu", "--threads", "1")


class Build(CommandTest):
    def build(self, *more):
        return self.run_json("model", KERNEL, *HERE, "--generate", "stencil-2d,banded,power-law", *more)[0]

    def test_a_model_from_suggested_points(self):
        report = self.build("--wanted", "0.5", "--events", self.path("events"), "-o", self.path("m.toml"))
        self.assertGreaterEqual(report["measured_points"], 8)
        self.assertLessEqual(report["measured_points"], report["set_points"])
        model = report["model"]
        # Another reason to stop is that more points would not help, on a machine whose runs scatter.
        self.assertEqual("is below 50 %" in report["stopped"], model["median_relative_error"] <= 0.5, report["stopped"])
        self.assertEqual(model["samples"], report["measured_points"])
        self.assertEqual(len(model["coefficients"]), len(report["samples"][0]["terms"]))
        self.assertEqual(len(report["curve"]), report["measured_points"] - 3)
        with open(self.path("events"), encoding="ascii") as file:
            self.assertEqual(file.read().count('"run"'), 2 * report["measured_points"])
        with open(self.path("m.toml"), encoding="ascii") as file:
            self.assertEqual(file.read(), report["toml"])

    def test_c_and_python_say_what_the_fit_says(self):
        report = self.build("--points", "all", "--seconds", "20")
        self.assertEqual(report["measured_points"], report["set_points"])
        self.assertEqual(report["next"], [])
        samples = [(list(s["terms"].values()), s["working_set_bytes"], s["fitted_s"]) for s in report["samples"]]
        scope = {}
        exec(report["python"], scope)
        for terms, working_set, fitted in samples:
            self.assertAlmostEqual(scope["seconds"](terms, working_set) / fitted, 1, places=6)
        calls = "".join(f'  {{double t[] = {{{", ".join(map(repr, terms))}}}; printf("%.17g\\n", seconds(t, {working_set!r}));}}\n'
                        for terms, working_set, _ in samples)
        source = self.file("m.c", f"{report['c']}\n#include <stdio.h>\nint main(void) {{\n{calls}  return 0;\n}}\n")
        subprocess.run([os.environ["SEXTANT_CC"], "-Wall", "-Werror", source, "-o", self.path("m"), "-lm"], check=True, timeout=60)
        answers = subprocess.run([self.path("m")], check=True, capture_output=True, text=True, timeout=60).stdout.split()
        for answer, (_, _, fitted) in zip(answers, samples, strict=True):
            self.assertAlmostEqual(float(answer) / fitted, 1, places=6)


def kernel_of(kind):
    """One kernel of the kind that is loaded, not the reference."""
    return {"sxt.spmv_dots/1": "spmv_dots.csr.cpu", "sxt.preconditioner/1": "preconditioner.chebyshev.cpu", "sxt.pcg/1": "pcg.team.classical.cpu",
            "sxt.vector/1": "vector.loops.cpu", "sxt.reduction/1": "reduction.tree.cpu", "sxt.multidot/1": "multidot.tree.cpu",
            "sxt.vector_group/1": "vector_group.loops.cpu", "sxt.cholesky/1": "cholesky.columns.cpu", "sxt.hermitian/1": "hermitian.interleaved.cpu",
            "sxt.hermitian_step/1": "hermitian_step.systems.cpu", "sxt.hermitian_toeplitz/1": "hermitian_toeplitz.recursion.cpu"}[kind]


class Kinds(CommandTest):
    """Each kind of kernel has points of its own, and a model that C and Python say, too."""

    def model(self, kind, *more):
        report, _ = self.run_json("model", kernel_of(kind), *HERE, "--seconds", "10", *more)
        self.assertEqual(report["kernel"], kernel_of(kind))
        self.assertGreaterEqual(report["measured_points"], 3)
        self.assertGreater(report["set_points"], 5)
        self.assertTrue(all(sample["measured_s"] > 0 and sample["fitted_s"] > 0 for sample in report["samples"]))
        scope = {}
        exec(report["python"], scope)
        for sample in report["samples"]:
            seconds = scope["seconds"](list(sample["terms"].values()), sample["working_set_bytes"])
            self.assertAlmostEqual(seconds / sample["fitted_s"], 1, places=6)
        return report

    def test_products_with_inner_products(self):
        self.model("sxt.spmv_dots/1", "--op", "2", "--generate", "stencil-2d,banded")

    def test_preconditioners(self):
        self.model("sxt.preconditioner/1", "--generate", "stencil-2d,power-law")

    def test_engines_of_conjugate_gradients(self):
        self.model("sxt.pcg/1", "--generate", "stencil-2d,banded")

    def test_vectors(self):
        self.assertTrue(all(sample["matrix"].startswith("axpy, n = ") for sample in self.model("sxt.vector/1")["samples"]))
        self.assertEqual(self.model("sxt.vector/1", "--op", "gather", "--type", "c64")["vector_type"], "c64")

    def test_reductions(self):
        self.model("sxt.reduction/1", "--op", "nrm2", "--type", "f32")
        self.model("sxt.multidot/1", "--op", "3")
        self.model("sxt.vector_group/1", "--op", "chronopoulos-gear")

    def test_schedulers_of_cholesky(self):
        factor = self.model("sxt.cholesky/1", "--generate", "stencil-2d,banded")
        solve = self.model("sxt.cholesky/1", "--generate", "stencil-2d,banded", "--op", "solve")
        self.assertNotEqual(factor["model_class"], solve["model_class"])

    def test_hermitian_sets(self):
        self.model("sxt.hermitian/1", "--op", "factor-solve")
        self.model("sxt.hermitian/1", "--op", "solve", "--type", "c128")
        self.model("sxt.hermitian_step/1")
        self.model("sxt.hermitian_toeplitz/1")

    def test_one_that_is_predicted_by_its_parts(self):
        self.assert_fails("model", "pcg.host-loop.classical.cpu", *HERE, "--generate", "banded", expect=NOT_SOLVED, says="parts")

    def test_what_chooses_nothing(self):
        for arguments, says in ((("vector.loops.cpu", "--generate", "banded"), "--generate"), (("vector.loops.cpu", "--op", "axpyy"), "'axpy'"),
                                ((KERNEL, "--op", "axpy"), "one operation"), ((KERNEL, "--type", "c64"), "--matrices"),
                                (("preconditioner.jacobi.cpu", "--type", "c128"), "f64")):  # fmt: skip
            self.assert_fails("model", *arguments, *HERE, expect=USAGE, says=says)


class Matrices(CommandTest):
    def test_files_of_a_folder(self):
        os.mkdir(self.path("set"))
        for side in (4, 10, 30, 50, 80):
            self.file(f"set/g{side}.mtx", grid(side))
        self.file("set/notes.txt", "no matrix\n")
        report, _ = self.run_json("model", KERNEL, *HERE, "--matrices", self.path("set"), "--points", "all")
        self.assertEqual({sample["matrix"] for sample in report["samples"]}, {f"g{side}.mtx" for side in (4, 10, 30, 50, 80)})
        enough = report["enough"]
        self.assertEqual(enough["set_error"], report["curve"][-1]["median_relative_error"])
        self.assertEqual(enough["set_error_cross_validated"], report["model"]["median_relative_error"])
        self.assertLessEqual(enough["within_set_error"]["median_relative_error"], 1.1 * enough["set_error"])
        self.assertEqual(enough["within_set_error"]["share"], enough["within_set_error"]["points"] / 5)
        self.assert_fails("model", KERNEL, *HERE, "--matrices", self.path("none"), expect=BAD_INPUT, says="none")
        os.mkdir(self.path("empty"))
        self.assert_fails("model", KERNEL, *HERE, "--matrices", self.path("empty"), expect=BAD_INPUT, says="no file .mtx")


class Accept(Build):
    """On a profile and a model that were measured once."""

    kept = {}

    def setUp(self):
        super().setUp()
        self.profile, self.model = self.path("p.toml"), self.path("m.toml")
        if self.kept:
            for name, text in self.kept.items():
                self.file(name, text)
            return
        self.run_command("calibrate", *HERE, "--kind", "sxt.reduction/1", "--seconds", "3", "-o", self.profile)
        report = self.build("--points", "all", "--seconds", "30", "-o", self.model, "--profile", self.profile)
        self.file("report.json", json.dumps(report))
        os.remove(f"{self.profile}.lock")
        self.kept.update({name: self.text(name) for name in ("p.toml", "m.toml", "report.json")})

    def text(self, name):
        with open(self.path(name), encoding="ascii") as file:
            return file.read()

    def accept(self, entries=None):
        return self.run_command("model", "--accept", entries or self.model, "--profile", self.profile, "--device", "cpu").stdout

    def undo(self):
        return self.run_command("model", "--undo", "--profile", self.profile, "--device", "cpu").stdout

    def refused(self, *arguments, says):
        self.assert_fails("model", *arguments, "--profile", self.profile, "--device", "cpu", expect=BAD_INPUT, says=says)

    def test_accepted_it_predicts_and_undone_it_does_not(self):
        self.assertNotIn("in the place of", self.accept())
        once = self.text("p.toml")
        self.assertEqual(once.count(f'kernel = "{KERNEL}"'), 1)
        self.assertIn("in the place of", self.accept())
        self.assertEqual(self.text("p.toml").count(f'kernel = "{KERNEL}"'), 1)
        # The model in use is now the accepted one: what it says of its points is what was fitted.
        scope = {}
        exec(json.loads(self.kept["report.json"])["python"], scope)
        report = self.build("--seconds", "5", "--profile", self.profile)
        self.assertGreaterEqual(len(report["samples"]), 3)
        for sample in report["samples"]:
            fitted = scope["seconds"](list(sample["terms"].values()), sample["working_set_bytes"])
            self.assertAlmostEqual(sample["before_s"] / fitted, 1, places=4)
        self.undo()
        self.assertEqual(self.text("p.toml"), once)
        self.refused("--undo", says="nothing to undo")

    def test_a_profile_that_was_broken_since_can_be_undone(self):
        self.accept()
        self.file("p.toml", "broken = [\n")
        self.undo()
        self.assertEqual(self.text("p.toml"), self.kept["p.toml"])
        self.assertEqual(self.text("p.toml.damaged"), "broken = [\n")

    def test_the_profile_that_the_environment_names(self):
        self.environment["SEXTANT_PROFILE"] = self.profile
        self.run_command("model", "--accept", self.model, "--device", "cpu")
        self.file("p.toml", "broken = [\n")
        self.run_command("model", "--undo", "--device", "cpu")
        self.assertEqual(self.text("p.toml"), self.kept["p.toml"])

    def test_another_profile_is_compared(self):
        self.accept()
        scope = {}
        exec(json.loads(self.kept["report.json"])["python"], scope)
        report = self.build("--seconds", "5", "--compare", self.profile)
        self.assertEqual(report["compared"]["profile"], self.profile)
        for sample in report["samples"]:
            fitted = scope["seconds"](list(sample["terms"].values()), sample["working_set_bytes"])
            self.assertAlmostEqual(sample["compared_s"] / fitted, 1, places=4)
            self.assertNotAlmostEqual(sample["before_s"] / fitted, 1, places=4)  # the numbers of no profile
        errors = sorted(abs(sample["compared_s"] / sample["measured_s"] - 1) for sample in report["samples"])
        self.assertLessEqual(errors[0], report["compared"]["median_relative_error"])
        self.assertLessEqual(report["compared"]["median_relative_error"], errors[-1])
        self.assertIn(f"by the models of {self.profile}:", self.run_command("model", KERNEL, *HERE, "--generate", "banded", "--seconds", "1", "--compare", self.profile).stdout)
        self.assertIsNone(self.build("--seconds", "1")["compared"])
        self.assert_fails("model", KERNEL, *HERE, "--compare", self.path("none"), expect=BAD_INPUT, says="none")

    def test_a_profile_with_parentheses_in_its_name(self):
        os.rename(self.profile, self.path("p (a copy).toml"))
        report, _ = self.run_json("machine", *HERE, "--profile", self.path("p (a copy).toml"))
        self.assertEqual(report["profile"]["path"], self.path("p (a copy).toml"))

    def test_what_was_measured_since_is_not_undone(self):
        self.accept()
        changed = self.text("p.toml") + "\n# a later calibration\n"
        self.file("p.toml", changed)
        self.refused("--undo", says=["was changed since", "p.toml.before"])
        self.assertEqual(self.text("p.toml"), changed)
        os.remove(self.profile)  # nothing is lost where there is nothing
        self.undo()
        self.assertEqual(self.text("p.toml"), self.kept["p.toml"])

    def test_a_measured_set_up_stays(self):
        lines = [line for line in self.text("m.toml").splitlines() if not line.startswith("setup_")]
        at = lines.index("[[models]]")
        lines[at + 1:at + 1] = ["setup_factor = 2.5", "setup_samples = 9"]
        self.accept(self.file("with_setup.toml", "\n".join(lines) + "\n"))
        self.assertIn("in the place of", self.accept())
        text = self.text("p.toml")
        entry = text[text.index(f'kernel = "{KERNEL}"') - 200:]
        self.assertEqual((entry.count("setup_factor = 2.5"), entry.count("setup_samples = 9")), (1, 1))

    def test_it_waits_for_a_calibration(self):
        with open(f"{self.profile}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with subprocess.Popen([BINARY, "model", "--accept", self.model, "--profile", self.profile, "--device", "cpu"],
                                  env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # fmt: skip
                with self.assertRaises(subprocess.TimeoutExpired):
                    process.wait(timeout=2)
                self.assertEqual(self.text("p.toml"), self.kept["p.toml"])
                fcntl.flock(lock, fcntl.LOCK_UN)
                self.assertEqual(process.wait(timeout=60), 0, process.stderr.read())
        self.assertIn(f'kernel = "{KERNEL}"', self.text("p.toml"))

    def test_what_the_library_does_not_read_changes_nothing(self):
        for text, says in (('[[models]]\nkernel = "x"\n', "bad.toml"), ("[[models]]\nkernel = \n", "bad.toml"), ("x = 1\n", "[[models]]")):
            self.refused("--accept", self.file("bad.toml", text), says=says)
        self.assertEqual(self.text("p.toml"), self.kept["p.toml"])
        self.assertFalse(os.path.exists(f"{self.profile}.before"))

    def test_a_profile_without_a_machine(self):
        for text in ("", "# nothing yet\n", self.text("p.toml").replace("[machine]", "[other]")):
            self.file("p.toml", text)
            self.refused("--accept", self.model, says=["p.toml", "[machine]", "calibrate"])
            self.assertEqual(self.text("p.toml"), text)
            self.assertFalse(os.path.exists(f"{self.profile}.before"))

    def test_what_is_no_regular_file(self):
        os.mkfifo(self.path("fifo"))
        for path in ("/dev/zero", self.path("fifo"), self.folder):
            self.refused("--accept", path, says=[path, "regular file"])


class Refusals(CommandTest):
    def test_refusals(self):
        self.assert_fails("model", expect=USAGE, says="KERNEL")
        self.assert_fails("model", "spmv.csr.row.cpu", "--device", "cpu", expect=USAGE, says=f"'{KERNEL}'")
        self.assert_fails("model", "storage.csr.cpu", "--device", "cpu", expect=USAGE, says=["sxt.storage.csr/1", "calibrate --kind"])
        entry = self.file("m.toml", "[[models]]\nkernel = \"x\"\n")
        self.assert_fails("model", "--accept", entry, "--device", "cpu", expect=BAD_INPUT, says="calibrate")
        self.assert_fails("model", "--accept", self.path("none"), "--profile", self.path("none"), "--device", "cpu", expect=BAD_INPUT, says="none")
        for arguments in (("--undo", "--accept", entry), (KERNEL, "--accept", entry), ("--accept", entry, "--wanted", "0.1"),
                          (KERNEL, "--undo"), ("--undo", "--seconds", "5")):  # fmt: skip
            self.assert_fails("model", *arguments, expect=USAGE, says="--")

    def test_a_default_profile_that_cannot_be_read_is_named(self):
        profile = self.run_json("calibrate", *HERE, "--kind", "sxt.reduction/1", "--seconds", "3")[0]["profile"]
        with open(profile, "w", encoding="ascii") as file:
            file.write("broken = [\n")
        self.assert_fails("model", "--undo", *HERE, expect=BAD_INPUT, says=[profile, "--profile"])


if __name__ == "__main__":
    unittest.main()
