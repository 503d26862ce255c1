#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tools/quickstart on many kinds of machines: replacements for apt, cmake, pip and sudo note their calls."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 and os.path.isdir(sys.argv[1]) else pathlib.Path.cwd()

DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\nID=debian\n'
UBUNTU = 'PRETTY_NAME="Ubuntu 24.04.1 LTS"\nVERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n'
OTHER = 'PRETTY_NAME="Fedora Linux 40"\nVERSION_ID=40\nID=fedora\n'

NOTE = 'echo "$(basename "$0") $*" >> "$CALLS"\n'
FAKES = {
    "id": 'echo "${FAKE_UID:-0}"\n',
    "dpkg-query": 'for p in $FAKE_MISSING; do [[ $p == "${*: -1}" ]] && exit 1; done; printf installed\n',
    "apt-get": NOTE + "exit ${FAKE_APT:-0}\n",
    "sudo": NOTE + '"$@"\n',
    "ldconfig": "exit 0\n",
    "df": "echo Avail; echo ${FAKE_FREE:-100}G\n",
    "ninja": "exit 0\n",
    # A configuration leaves its cache, a build of the CUDA check or of Sextant its program.
    "cmake": NOTE
    + """
case $* in
  *-B*) while [[ $1 != -B ]]; do shift; done; mkdir -p "$2"; touch "$2/CMakeCache.txt" ;;
  "--build "*check*) echo 'echo small CUDA program' > "$2/check"; chmod +x "$2/check" ;;
  "--build "*) mkdir -p "$2/bin"; cp "$SEXTANT" "$2/bin/sextant" ;;
esac
""",
    "sextant": NOTE + 'echo "output of $1"; exit "${FAKE_SEXTANT:-0}"\n',
    "python3": NOTE
    + """
case $* in
  "-m pip --version") exit "${FAKE_PIP:-0}" ;;
  "-m pip install"*) while [[ $1 != --target ]]; do shift; done
    mkdir -p "$2/nvidia/cu13/bin" "$2/nvidia/cu13/lib"
    touch "$2/nvidia/cu13/bin/nvcc" "$2/nvidia/cu13/lib/libcudart.so.13"; chmod +x "$2/nvidia/cu13/bin/nvcc" ;;
esac
""",
}
# Other programs that the scripts use are those of the real machine, but not its nvcc, ccache and the like.
REAL = "awk basename bash cat chmod cmp cp cut dirname du env find grep head ln mkdir nproc realpath rm sed tail"
REAL += " touch tr"


class Quickstart(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sextant-quickstart-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.project, self.bin = self.folder / "project", self.folder / "bin"
        shutil.copytree(SOURCE / "tools" / "lib", self.project / "tools" / "lib")
        shutil.copy2(SOURCE / "tools" / "quickstart", self.project / "tools")
        self.bin.mkdir()
        for name, body in FAKES.items():
            fake = self.bin / name
            fake.write_text("#!/bin/bash\n" + body)
            fake.chmod(0o755)
        for name in REAL.split():
            (self.bin / name).symlink_to(shutil.which(name))

    def quickstart(self, *options, system=DEBIAN, **settings):
        """Runs it; returns exit code, output (errors included), and the calls of the replacements."""
        release, calls = self.folder / "os-release", self.folder / "calls"
        release.write_text(system)
        calls.write_text("")
        environment = {
            "PATH": str(self.bin),
            "CALLS": str(calls),
            "SEXTANT": str(self.bin / "sextant"),
            "QUICKSTART_OS_RELEASE": str(release),
            "QUICKSTART_DRIVER": "none",
            "CUDA_HOME": "/nonexistent",
            **settings,
        }
        command = ["/bin/bash", str(self.project / "tools" / "quickstart"), *options]
        result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return result.returncode, result.stdout, calls.read_text().splitlines()

    def called(self, calls, word):
        return [call for call in calls if word in call]


class Packages(Quickstart):
    def test_missing_packages_are_named_before_apt_gets_just_them(self):
        for system in (DEBIAN, UBUNTU):
            code, output, calls = self.quickstart(system=system, FAKE_MISSING="cmake libgtest-dev")
            self.assertEqual(code, 0, output)
            self.assertIn("  cmake libgtest-dev\n", output)
            installs = self.called(calls, "install")
            self.assertEqual(len(installs), 1, calls)
            self.assertTrue(installs[0].endswith("--no-install-recommends cmake libgtest-dev"), installs)

    def test_nothing_missing_needs_neither_root_nor_apt(self):
        code, output, calls = self.quickstart(FAKE_UID="1000")
        self.assertEqual(code, 0, output)
        self.assertIn("Nothing to install", output)
        self.assertEqual(self.called(calls, "apt-get") + self.called(calls, "sudo"), [])

    def test_a_user_goes_through_sudo(self):
        code, output, calls = self.quickstart(FAKE_UID="1000", FAKE_MISSING="cmake")
        self.assertEqual(code, 0, output)
        self.assertEqual(len(self.called(calls, "sudo env DEBIAN_FRONTEND=noninteractive apt-get")), 2, calls)

    def test_a_user_without_sudo_is_told_the_command(self):
        (self.bin / "sudo").unlink()
        code, output, calls = self.quickstart(FAKE_UID="1000", FAKE_MISSING="cmake")
        self.assertEqual(code, 1)
        self.assertIn("as root: apt-get install cmake\n", output)
        self.assertEqual(self.called(calls, "apt-get") + self.called(calls, "cmake"), [])

    def test_another_distribution_is_told_the_packages(self):
        for system in (OTHER, "", DEBIAN.replace('"12"', '"11"'), UBUNTU.replace("24.04", "22.04")):
            code, output, calls = self.quickstart(system=system, FAKE_MISSING="cmake")
            self.assertEqual(code, 1, output)
            self.assertIn("Debian 12 and Ubuntu 24.04", output)
            self.assertIn("libtomlplusplus-dev", output)
            self.assertEqual(calls, [])
        code, output, _ = self.quickstart("--skip-packages", system=OTHER)
        self.assertEqual(code, 0, output)

    def test_dry_run_and_packages_only_stop_early(self):
        _, output, calls = self.quickstart("--dry-run", FAKE_MISSING="cmake")
        self.assertIn("  cmake\n", output)
        self.assertEqual(calls, [])
        _, _, calls = self.quickstart("--packages-only", FAKE_MISSING="cmake")
        self.assertEqual(self.called(calls, "cmake -S"), [])
        self.assertEqual(len(self.called(calls, "install")), 1)

    def test_fortran_and_developer_add_packages(self):
        _, output, _ = self.quickstart("--dry-run", FAKE_MISSING="gfortran shellcheck abigail-tools")
        self.assertIn("Nothing to install", output)
        _, output, _ = self.quickstart("--dry-run", "--fortran", FAKE_MISSING="gfortran shellcheck abigail-tools")
        self.assertIn("  gfortran\n", output)
        _, output, _ = self.quickstart("--dry-run", "--developer", FAKE_MISSING="gfortran shellcheck abigail-tools")
        self.assertIn("  gfortran shellcheck abigail-tools\n", output)

    def test_a_failing_apt_stops_everything(self):
        code, output, calls = self.quickstart(FAKE_MISSING="cmake", FAKE_APT="100")
        self.assertEqual(code, 1)
        self.assertIn("apt-get update failed", output)
        self.assertEqual(self.called(calls, "cmake -S"), [])


class Build(Quickstart):
    def test_ends_by_solving_and_the_ways_on(self):
        code, output, calls = self.quickstart()
        self.assertEqual(code, 0, output)
        self.assertEqual(calls[-1], f"sextant solve {self.project / 'tests/data/bcsstk16.mtx.gz'}")
        self.assertEqual(len(self.called(calls, "sextant ")), 1, calls)
        ways = output[output.index("output of solve") :]
        for way in ("explain", "calibrate", "docs/getting_started.md", "tools/test"):
            self.assertIn(way, ways)
        for document in re.findall(r"docs/\w+\.md", ways):
            self.assertTrue((SOURCE / document).exists(), document)

    def test_a_failing_solve_is_a_failure(self):
        code, output, _ = self.quickstart(FAKE_SEXTANT="4")
        self.assertEqual(code, 1)
        self.assertIn("please report", output)

    def test_generator_and_tests_are_chosen_once(self):
        _, _, calls = self.quickstart()
        first = self.called(calls, "cmake -S")[0]
        self.assertIn("-G Ninja", first)
        self.assertIn("-DSEXTANT_TESTS=OFF", first)
        self.assertIn("-DSEXTANT_UNITY=ON", first)
        _, _, calls = self.quickstart()
        again = self.called(calls, "cmake -S")[0]
        self.assertNotIn("-G", again)
        self.assertNotIn("SEXTANT_TESTS", again)

    def test_an_installation_has_the_kernels_of_all_instruction_sets(self):
        _, _, calls = self.quickstart()
        self.assertRegex(self.called(calls, "cmake -S")[0], r"-DSEXTANT_ISAS=(avx512|avx2|baseline)?( |$)")
        for options in (("--install", str(self.folder / "there")), ("--developer",)):
            _, _, calls = self.quickstart(*options)
            self.assertRegex(self.called(calls, "cmake -S")[0], r"-DSEXTANT_ISAS=( |$)")

    def test_a_compiler_that_came_later_is_looked_for_again(self):
        self.quickstart()
        (self.project / "build/CMakeCache.txt").write_text("CMAKE_Fortran_COMPILER:FILEPATH=NOTFOUND\n")
        _, _, calls = self.quickstart()
        self.assertIn("-UCMAKE_Fortran_COMPILER", self.called(calls, "cmake -S")[0])

    def test_folders_and_jobs(self):
        build, prefix = self.folder / "b", self.folder / "p"
        code, output, calls = self.quickstart("--build", str(build), "--prefix", str(prefix), "--jobs", "3")
        self.assertEqual(code, 0, output)
        self.assertIn(f"cmake --build {build} --parallel 3", calls)
        self.assertIn(f"cmake --install {build} --prefix {prefix}", calls)

    def test_wrong_options(self):
        for options in (["--nonsense"], ["--jobs", "0"], ["--jobs"], ["--build", "--cuda"]):
            code, output, calls = self.quickstart(*options)
            self.assertEqual(code, 2, output)
            self.assertIn("--help", output)
            self.assertEqual(calls, [])

    def test_help_names_every_option(self):
        code, output, _ = self.quickstart("--help")
        self.assertEqual(code, 0)
        script = (SOURCE / "tools/quickstart").read_text()
        options = script[script.index("parse_options() {") : script.index("unknown option")]
        for option in [word for word in options.replace(")", " ").split() if word.startswith("--")]:
            self.assertIn(option, output)


class Progress(unittest.TestCase):
    def shown(self, lines, code=0):
        script = f"set -o pipefail; . {SOURCE}/tools/lib/build.sh; (cat; exit {code}) | progress_lines"
        result = subprocess.run(["bash", "-c", script], input=lines, capture_output=True, text=True)
        return result.returncode, result.stdout

    def test_steps_become_a_line_and_messages_pass(self):
        code, output = self.shown("[1/4] Building a\na.cpp:1: warning: w\n[2/4] Building b\n[4/4] Linking c\n")
        self.assertEqual(code, 0)
        self.assertNotIn("Building", output)
        self.assertIn("a.cpp:1: warning: w\n", output)
        self.assertRegex(output.splitlines()[0], r"^ 25% built after 0:00, about 0:00 to go")
        self.assertRegex(output.splitlines()[-1], r"^100% built after 0:0")

    def test_lines_of_make(self):
        self.assertRegex(self.shown("[ 40%] Building a\n")[1], r"^ 40% built after 0:00, about 0:00 to go")

    def test_a_failed_build_stays_one(self):
        code, output = self.shown("[1/4] Building a\nFAILED: a\n", code=3)
        self.assertEqual(code, 3)
        self.assertIn("FAILED: a\n", output)


class Cuda(Quickstart):
    def nvcc(self):
        """An installed compiler; returns the settings that show it."""
        nvcc = self.folder / "cuda/bin/nvcc"
        nvcc.parent.mkdir(parents=True)
        nvcc.write_text("#!/bin/bash\n")
        nvcc.chmod(0o755)
        return {"CUDA_HOME": str(nvcc.parent.parent)}

    def test_plugins_are_left_out_where_nvcc_but_no_driver_is_there(self):
        code, output, calls = self.quickstart(**self.nvcc())
        self.assertEqual(code, 0, output)
        self.assertIn("--cuda builds them all the same", output)
        self.assertIn("-DSEXTANT_CUDA=OFF", self.called(calls, "cmake -S")[0])
        self.assertTrue((self.project / "build/cuda-left-out").exists())

    def test_plugins_are_built_where_both_are_there(self):
        code, output, calls = self.quickstart(**self.nvcc(), QUICKSTART_DRIVER="580")
        self.assertEqual(code, 0, output)
        self.assertIn("-DSEXTANT_CUDA=AUTO", self.called(calls, "cmake -S")[0])
        self.assertFalse((self.project / "build/cuda-left-out").exists())

    def test_a_driver_without_nvcc_is_told_of_the_option(self):
        code, output, calls = self.quickstart(QUICKSTART_DRIVER="580")
        self.assertEqual(code, 0, output)
        self.assertIn("--cuda fetches the toolkit", output)

    def test_the_option_alone_suffices_where_nvcc_is_there(self):
        code, output, calls = self.quickstart("--cuda", **self.nvcc())
        self.assertEqual(code, 0, output)
        self.assertIn("cannot run here", output)
        self.assertIn("-DSEXTANT_CUDA=ON", "\n".join(self.called(calls, f"cmake -S {self.project} ")))

    def test_a_later_run_keeps_what_was_configured(self):
        self.quickstart()
        _, _, calls = self.quickstart(**self.nvcc())
        self.assertNotIn("SEXTANT_CUDA", self.called(calls, "cmake -S")[0])

    def test_without_a_driver_it_is_refused_with_the_way_out(self):
        code, output, calls = self.quickstart("--cuda")
        self.assertEqual(code, 1)
        self.assertIn("--cuda=force", output)
        self.assertEqual(calls, [])

    def test_an_old_driver_is_refused(self):
        code, output, _ = self.quickstart("--cuda", QUICKSTART_DRIVER="535")
        self.assertEqual(code, 1)
        self.assertIn("535", output)
        self.assertIn("580", output)

    def test_wheels_are_fetched_once_and_arranged_as_a_toolkit(self):
        code, output, calls = self.quickstart("--cuda", QUICKSTART_DRIVER="580")
        self.assertEqual(code, 0, output)
        self.assertEqual(len(self.called(calls, "pip install")), 1, calls)
        self.assertIn("small CUDA program", output)
        toolkit = self.project / ".cuda/toolkit"
        self.assertTrue((toolkit / "lib64/libcudart.so").samefile(toolkit / "lib/libcudart.so.13"))
        configured = [call for call in self.called(calls, "cmake -S") if "-DSEXTANT_CUDA=ON" in call]
        self.assertEqual(len(configured), 1, calls)
        self.assertIn(f"-DCMAKE_CUDA_COMPILER={toolkit}/bin/nvcc -DCUDAToolkit_ROOT={toolkit}", configured[0])
        code, output, calls = self.quickstart("--cuda", QUICKSTART_DRIVER="580")
        self.assertEqual(code, 0, output)
        self.assertEqual(self.called(calls, "pip install"), [])

    def test_an_installed_nvcc_is_used(self):
        nvcc = self.folder / "cuda/bin/nvcc"
        nvcc.parent.mkdir(parents=True)
        nvcc.write_text("#!/bin/bash\n")
        nvcc.chmod(0o755)
        code, output, calls = self.quickstart("--cuda=force", CUDA_HOME=str(nvcc.parent.parent))
        self.assertEqual(code, 0, output)
        self.assertEqual(self.called(calls, "pip"), [])
        self.assertIn(f"-DCMAKE_CUDA_COMPILER={nvcc}", "\n".join(calls))

    def test_pip_is_installed_where_it_is_missing(self):
        code, output, calls = self.quickstart("--cuda=force", FAKE_PIP="1", FAKE_MISSING="python3-pip")
        self.assertEqual(code, 0, output)
        self.assertTrue(self.called(calls, "install")[0].endswith(" python3-pip"), calls)

    def test_a_full_disk_is_said_before_the_download(self):
        code, output, calls = self.quickstart("--cuda=force", FAKE_FREE="3")
        self.assertEqual(code, 1)
        self.assertIn("3 GB free", output)
        self.assertEqual(self.called(calls, "pip install"), [])


if __name__ == "__main__":
    unittest.main()
