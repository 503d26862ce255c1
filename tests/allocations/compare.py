# SPDX-License-Identifier: BSD-3-Clause
# compare.py COUNTER FOLDER PROGRAM [DEVICE]: the program allocates nothing between its first time step and its last. The
# counter must count: a program that allocates in each step has to be detected (--differs).
import os
import subprocess
import sys

STEPS = 40
THREADS = 2  # each allocates a little when it first works, which may be late on a busy machine


def count(counter, folder, program, device):
    result = os.path.join(folder, f"{os.path.basename(program)}-{device or 'auto'}.count")
    environment = dict(os.environ, LD_PRELOAD=counter, COUNT_FILE=result, OMP_WAIT_POLICY="passive")
    environment["OMP_NUM_THREADS"] = str(THREADS)
    subprocess.run([program, str(STEPS)] + ([device] if device else []), env=environment, check=True, timeout=60)
    with open(result, encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def main():
    arguments = [each for each in sys.argv[1:] if each != "--differs"]
    differs = "--differs" in sys.argv
    counter, folder, program = arguments[:3]
    solves, requests = count(counter, folder, program, arguments[3] if len(arguments) > 3 else "")
    print(f"{solves} solves, {requests} allocations after the second")
    if solves < STEPS:
        sys.exit("the counter does not see the solves")
    if differs and requests < STEPS - 2:
        sys.exit("the counter misses what every step allocates")
    if requests >= STEPS // 4 * THREADS and not differs:
        sys.exit("allocations were made in later steps")


if __name__ == "__main__":
    main()
