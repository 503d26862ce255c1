#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/measurements/workbench.md, as Markdown.

    workbench.py points SEXTANT [KERNEL ...]             how many suggested points are enough
    workbench.py program SEXTANT PREFIX [MATRIX ...]     a generated program beside the run that made it

SEXTANT is the command. PREFIX is where Sextant is installed: programs are built against it with CMake. A matrix is a
Matrix Market file, or NAME:ROWS of a generated one. Options of the command go into $SEXTANT_OPTIONS.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

KERNELS = ("spmv.csr.rows.cpu", "spmv.csr.balanced.cpu", "spmv.sell.slices.cpu", "spmv.coo.serial.cpu", "spmv_dots.csr.cpu",
           "preconditioner.chebyshev.cpu", "vector.loops.cpu", "reduction.tree.cpu", "multidot.tree.cpu",
           "hermitian.interleaved.cpu")  # fmt: skip
MATRICES = ("stencil-2d:40000", "stencil-3d:60000", "banded:20000", "power-law:50000")
ROUNDS = 7
OPTIONS = os.environ.get("SEXTANT_OPTIONS", "").split()


def command(binary, *arguments):
    return json.loads(subprocess.run([binary, *arguments, *OPTIONS, "--json"], check=True, capture_output=True, text=True).stdout)


def percent(share):
    return f"{100 * share:.1f} %"


def points(binary, *kernels):
    print("| kernel | points | noise | set's error, cross-validated | enough of them | set's error, points it has seen | enough of them |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for kernel in kernels or KERNELS:
        report = command(binary, "model", kernel, "--points", "all", "--seconds", "600")
        enough = report["enough"]
        noise = statistics.median(sample["noise"] for sample in report["samples"])
        cells = [kernel, str(report["set_points"]), percent(noise)]
        for error, step in (("set_error_cross_validated", "within_cross_validated"), ("set_error", "within_set_error")):
            few = enough[step]
            cells += [percent(enough[error]), f"{few['points']} ({100 * few['share']:.0f} %)" if few else "never"]
        print("| " + " | ".join(cells) + " |", flush=True)


def solver(binary, matrix, folder):
    name, _, rows = matrix.partition(":")
    source = ["--generate", name, "--n", rows] if rows else [matrix]
    return command(binary, "generate-solver", *source, "-o", folder, "--force")


def program(binary, prefix, *matrices):
    print("| matrix | iterations, run and program | a solve, run | program | program / run: median (least to most) |")
    print("|---|--:|--:|--:|--:|")
    for matrix in matrices or MATRICES:
        with tempfile.TemporaryDirectory() as place:
            folder, runs, programs, counts = f"{place}/program", [], [], set()
            solver(binary, matrix, folder)
            for step in (["cmake", "-S", folder, "-B", f"{folder}/build", f"-DCMAKE_PREFIX_PATH={prefix}"], ["cmake", "--build", f"{folder}/build"]):
                subprocess.run(step, check=True, capture_output=True)
            for _ in range(ROUNDS):
                # The run and the program take turns, so that what else the machine does meets both.
                report = solver(binary, matrix, f"{place}/again")
                out = subprocess.run([f"{folder}/build/solve", folder], check=True, capture_output=True, text=True).stdout
                answer = dict(line.split() for line in out.splitlines())
                runs.append(report["measured_solve_seconds"])
                programs.append(float(answer["solve_seconds"]))
                counts.add((report["iterations"], int(answer["iterations"])))
            ratios = [b / a for a, b in zip(runs, programs)]
            told = "; ".join(f"{a} and {b}" for a, b in sorted(counts))
            print(f"| {matrix} | {told} | {statistics.median(runs) * 1e3:.2f} ms | {statistics.median(programs) * 1e3:.2f} ms | "
                  f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}) |", flush=True)  # fmt: skip


if __name__ == "__main__":
    actions = {"points": points, "program": program}
    if len(sys.argv) < 3 or sys.argv[1] not in actions or (sys.argv[1] == "program" and len(sys.argv) < 4):
        sys.exit(__doc__)
    actions[sys.argv[1]](*sys.argv[2:])
