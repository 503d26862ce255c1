# SPDX-License-Identifier: BSD-3-Clause
"""What nvcc makes here: fat binaries of every compression, programs with kernels inside, a runtime that is linked statically,
and the corpus from its sources. Skipped where there is no CUDA compiler."""
import gzip
import os
import re
import subprocess
import unittest

from support import CORPUS, HookTest

NVCC = os.environ.get("SEXTANT_TEST_NVCC", "")
KERNEL = """__global__ void axpy(int n, const float *x, float *y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += 2 * x[i];
}
__global__ void sum(const float *x, float *y) {
  __shared__ float part[32];
  part[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[blockIdx.x] = part[31 - threadIdx.x];
}
"""
AXPY, SUM = "_Z4axpyiPKfPf", "_Z3sumPKfPf"
# Launches through whatever runtime the program is linked with; then the runtime's error.
PROGRAM = KERNEL + r"""
#include <cstdio>
int main() {
  axpy<<<960, 32>>>(30000, nullptr, nullptr);
  sum<<<960, 32>>>(nullptr, nullptr);
  std::printf("error %d\n", static_cast<int>(cudaGetLastError()));
}
"""


@unittest.skipUnless(NVCC, "no CUDA compiler was found")
class Compiled(HookTest):
    def nvcc(self, *options, source=KERNEL):
        subprocess.run([NVCC, "-w", "-arch=compute_80", *options, self.file("k.cu", source)], check=True, timeout=600)

    def launch(self, image, name, **settings):
        return self.run_program("table", "load", image, "get", name, "launch", 960, 32, **settings)

    def test_fat_binaries_of_every_compression(self):
        found = subprocess.run([NVCC, "--help"], capture_output=True, text=True, check=True).stdout
        modes = ("none", "speed", "balance", "size") if "--compress-mode" in found else (None,)
        for mode in modes:
            with self.subTest(mode=mode):
                self.nvcc("-fatbin", "-o", self.path("k.fatbin"), *(["--compress-mode=" + mode] if mode else []))
                self.assertEqual(self.launch(self.path("k.fatbin"), AXPY), [f"{AXPY} 320 96 0"])
                self.assertEqual(self.report()[1][AXPY]["status"], "proven")
                self.assertEqual(self.launch(self.path("k.fatbin"), SUM), [f"{SUM} 960 32 0"])
                kernel = self.report()[1][SUM]
                self.assertEqual(kernel["status"], "refused")
                self.assertIsNotNone(kernel["line"])

    def test_the_ptx_is_that_of_the_machine_code(self):
        """Two architectures in one fat binary, of which one uses shared memory: the driver's word says which counts."""
        source = KERNEL.replace("if (i < n)", "__shared__ int s;\n#if __CUDA_ARCH__ >= 900\n  s = i; __syncthreads(); if (s < n)\n"
                                "#else\n  if (i < n)\n#endif\n")  # fmt: skip
        subprocess.run([NVCC, "-w", "-gencode", "arch=compute_80,code=compute_80", "-gencode", "arch=compute_90,code=compute_90",
                        "-fatbin", "-o", self.path("k.fatbin"), self.file("k.cu", source)], check=True, timeout=600)  # fmt: skip
        for version, status in (("80", "proven"), ("90", "refused"), ("86", "refused")):
            self.launch(self.path("k.fatbin"), AXPY, SEXTANT_FAKE_PTX_VERSION=version)
            self.assertEqual(self.report()[1][AXPY]["status"], status, version)

    def test_a_static_runtime_gets_every_launch_function_from_us(self):
        """The vendor's runtime checks the driver behind these look-ups and does not start on a fake one: with the hook it ends
        with the same error as without."""
        self.nvcc("-o", self.path("program"), source=PROGRAM)
        plain = self.run_program(program=self.path("program"), hooked=False)
        self.assertEqual(self.run_program(program=self.path("program")), plain)
        self.assertEqual(os.listdir(self.reports), [])  # nothing was loaded

    def test_kernels_in_a_program(self):
        """Kernels that nvcc put into a program, started by its <<<>>>; the runtime is a stand-in that reaches the driver in the
        way the static one does."""
        runtime = os.path.join(os.path.dirname(os.path.abspath(__file__)), "driver", "runtime.cpp")
        self.nvcc("-cudart", "none", "-o", self.path("program"), runtime, source=PROGRAM)
        plain = self.run_program(program=self.path("program"), hooked=False)
        self.assertEqual(plain, ["error 0", f"{AXPY} 960 32 0", f"{SUM} 960 32 0"])
        self.assertEqual(self.run_program(program=self.path("program")), ["error 0", f"{AXPY} 320 96 0", f"{SUM} 960 32 0"])

    def test_the_corpus_is_what_its_sources_say(self):
        names = {}
        for name, options in (("device_calls", ("-arch=compute_90", "-rdc=true")), ("mutants", ("-arch=compute_90",))):
            subprocess.run([NVCC, "-w", "-std=c++17", *options, "-ptx", "-o", self.path("c.ptx"), os.path.join(CORPUS, name + ".cu")],
                           check=True, timeout=600)  # fmt: skip
            with open(self.path("c.ptx"), encoding="ascii") as file:
                names[name] = set(re.findall(r"\.entry (\w+)", file.read()))
            with gzip.open(os.path.join(CORPUS, name + ".ptx.gz"), "rt", encoding="ascii") as file:
                self.assertEqual(names[name], set(re.findall(r"\.entry (\w+)", file.read())))


if __name__ == "__main__":
    unittest.main()
