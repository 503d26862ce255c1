# SPDX-License-Identifier: BSD-3-Clause
"""Programs under the retuner's hook, over the fake driver of these tests."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

HOOK, PROGRAM, LINKED = (os.environ["SEXTANT_" + name] for name in ("RETUNE_LIBRARY", "TEST_PROGRAM", "TEST_LINKED"))
INTERPOSER, DRIVER, CORPUS = (os.environ["SEXTANT_TEST_" + name] for name in ("INTERPOSER", "DRIVER", "CORPUS"))
SANITIZED = os.environ.get("SEXTANT_SANITIZED", "")

# axpy is harmless; shape writes its block size; both end with a bound check.
PTX = """.version 8.4
.target sm_80
.address_size 64
.visible .entry axpy(.param .u32 axpy_param_0, .param .u64 axpy_param_1)
{ .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ntid.x;
mov.u32 %r3, %tid.x;
mad.lo.s32 %r4, %r1, %r2, %r3;
ld.param.u32 %r5, [axpy_param_0];
ld.param.u64 %rd1, [axpy_param_1];
setp.ge.s32 %p1, %r4, %r5;
@%p1 bra $END;
mul.wide.s32 %rd3, %r4, 4;
add.s64 %rd2, %rd1, %rd3;
st.global.u32 [%rd2], %r5;
$END:
ret;
}
.visible .entry shape(.param .u32 shape_param_0, .param .u64 shape_param_1)
{ .reg .b32 %r<3>; .reg .b64 %rd<2>;
mov.u32 %r2, %ntid.x;
ld.param.u64 %rd1, [shape_param_1];
st.global.u32 [%rd1], %r2;
ret;
}
"""
SHAPE_LINE = 24


class HookTest(unittest.TestCase):
    def setUp(self):
        if SANITIZED:
            self.skipTest("a sanitizer's runtime must come before every preloaded library")
        self.folder = tempfile.mkdtemp(prefix="sextant-retune-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.reports = self.path("reports")
        os.mkdir(self.reports)
        self.ptx = self.file("k.ptx", PTX)

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)
        return self.path(name)

    def environment(self, hooked=True, preload=None, driver=DRIVER, **settings):
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": self.folder, "LD_LIBRARY_PATH": driver}
        if hooked:
            environment["LD_PRELOAD"] = preload or HOOK
            environment["SEXTANT_RETUNE_REPORT"] = self.reports
        environment.update({name if name.startswith("SEXTANT") else "SEXTANT_RETUNE_" + name: value for name, value in settings.items()})
        return environment

    def run_program(self, *steps, program=PROGRAM, expect=0, **how):
        """The lines it printed; its stderr is self.stderr."""
        done = subprocess.run([program, *map(str, steps)], env=self.environment(**how), capture_output=True, text=True, timeout=120)
        self.stderr = done.stderr
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stdout.splitlines()

    def report(self):
        """The report of the only process that wrote one, by kernels' names."""
        files = os.listdir(self.reports)
        self.assertEqual(len(files), 1, files)
        with open(os.path.join(self.reports, files[0]), encoding="utf-8") as file:
            report = json.load(file)
        os.remove(os.path.join(self.reports, files[0]))
        return report, {kernel["name"]: kernel for kernel in report["kernels"]}
