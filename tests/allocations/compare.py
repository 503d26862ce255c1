# SPDX-License-Identifier: BSD-3-Clause
# compare.py COUNTER FOLDER PROGRAM [DEVICE]: the program makes as many allocations in 40 time steps as in 10, so none
# after its first ones. The counter must count: a program that allocates in each step has to differ (--differs).
import os
import subprocess
import sys


def count(counter, folder, program, steps, device):
    result = os.path.join(folder, f"{os.path.basename(program)}-{steps}-{device or 'auto'}.count")
    environment = dict(os.environ, LD_PRELOAD=counter, COUNT_FILE=result, OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="2")
    subprocess.run([program, str(steps)] + ([device] if device else []), env=environment, check=True, timeout=60)
    with open(result, encoding="ascii") as file:
        return int(file.read())


def main():
    arguments = [each for each in sys.argv[1:] if each != "--differs"]
    differs = "--differs" in sys.argv
    counter, folder, program = arguments[:3]
    device = arguments[3] if len(arguments) > 3 else ""
    few, many = count(counter, folder, program, 10, device), count(counter, folder, program, 40, device)
    print(f"{few} allocations in 10 steps, {many} in 40")
    if few < 10:
        sys.exit("the counter does not count")
    if (few != many) != differs:
        sys.exit("allocations were made in later steps" if not differs else "the counter misses what every step allocates")


if __name__ == "__main__":
    main()
