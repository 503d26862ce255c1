#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs on a GPU under `sextant retune` and without it.

Usage: on_gpu.py equal|paired BIN

BIN is the folder of the build's programs. `equal` compares what every kernel of the corpus wrote, in original and changed blocks,
with the static and the shared CUDA runtime; its exit code is 1 where results differ, no launch was changed, or fewer than 300
kernels were proven. `paired` prints wall times of whole processes in measured mode over plain ones, from interleaved runs that
begin without anything kept from before.
"""
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

LEAST_PROVEN = 300
BLOCK, ELEMENTS = "32", "98227"
# Program, block, rounds, pairs: nothing to gain at 256, much at 32.
PAIRS = (("256", "14000", 15), ("256", "3000", 10), ("1024", "10000", 5), ("32", "3000", 5))


def environment(folder, **more):
    return {**os.environ, "XDG_DATA_HOME": folder, **more}


def equal(bin_folder):
    failures = 0
    for name, program in (("static runtime", "retune_compare"), ("shared runtime", "retune_compare_shared")):
        with tempfile.TemporaryDirectory() as folder:
            run = [os.path.join(bin_folder, program), BLOCK, ELEMENTS]
            report = os.path.join(folder, "report.json")
            hook = [os.path.join(bin_folder, "sextant"), "retune", "--policy", "published", "--report", report, "--"]
            plain = subprocess.run(run, env=environment(folder), capture_output=True, text=True)
            tuned = subprocess.run(hook + run, env=environment(folder), capture_output=True, text=True)
            if plain.returncode or tuned.returncode:
                print(f"{name}: ended with {plain.returncode} and {tuned.returncode}\n{plain.stdout[-500:]}{tuned.stderr[-500:]}")
                failures += 1
                continue
            with open(report, encoding="utf-8") as file:
                kernels = json.load(file)["processes"][0]["kernels"]
        proven = sum(kernel["status"] == "proven" for kernel in kernels)
        changed = sum(kernel["changed"] for kernel in kernels)
        differ = sum(a != b for a, b in zip(plain.stdout.splitlines(), tuned.stdout.splitlines()))
        differ += abs(len(plain.stdout.splitlines()) - len(tuned.stdout.splitlines()))
        print(f"{name}: {len(kernels)} kernels, {proven} proven, {changed} launches changed, {differ} results differ")
        failures += differ > 0 or proven < LEAST_PROVEN or changed == 0
    return 1 if failures else 0


def seconds(command, **more):
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        done = subprocess.run(command, env=environment(folder, **more), capture_output=True, text=True)
        took = time.perf_counter() - begin
    if done.returncode:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr[-500:]}")
    return took


def paired(bin_folder):
    measure, command = (os.path.join(bin_folder, name) for name in ("retune_measure", "sextant"))
    library = os.path.join(bin_folder, "..", "lib", "sextant", "libsextant-retune.so")
    print("| block | rounds | pairs | plain, s | preloaded over plain | command over plain | range of the command's |\n|--:|--:|--:|--:|--:|--:|---|")
    for block, rounds, count in PAIRS:
        program = [measure, "program", block, rounds]
        ways = {
            "plain": lambda: seconds(program),
            "preloaded": lambda: seconds(program, LD_PRELOAD=library, SEXTANT_RETUNE_POLICY="measured"),
            "command": lambda: seconds([command, "retune", "--policy", "measured", "--report", os.devnull, "--", *program]),
        }
        times = {way: [] for way in ways}
        for _ in range(count):
            order = list(ways)
            random.shuffle(order)
            for way in order:
                times[way].append(ways[way]())
        ratios = {way: [a / b for a, b in zip(times[way], times["plain"])] for way in ways}
        print(f"| {block} | {rounds} | {count} | {statistics.median(times['plain']):.3f} | {statistics.median(ratios['preloaded']):.3f} "
              f"| {statistics.median(ratios['command']):.3f} | {min(ratios['command']):.3f} to {max(ratios['command']):.3f} |", flush=True)  # fmt: skip
    return 0


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("equal", "paired"):
        sys.exit(__doc__)
    if not shutil.which("nvidia-smi"):
        sys.exit("there is no nvidia-smi: these runs need a GPU")
    sys.exit(equal(sys.argv[2]) if sys.argv[1] == "equal" else paired(sys.argv[2]))


if __name__ == "__main__":
    main()
