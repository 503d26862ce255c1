#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How often the models choose each kernel: the tables of docs/measurements/choices.md, as Markdown.

    choices.py [--device DEVICE] [--threads N] [--profile FILE] [--seconds S] [--command SEXTANT] [MATRIX | FOLDER ...]

Products, conjugate gradients and sets of Hermitian systems are explained, not run, on generated matrices and on the
Matrix Market files that are named (folders: all below them), in all value types, for several expected numbers of runs.
With --command, the decision trees of vector operations are read, too. It needs the Python package `sextant` and NumPy.
"""
import argparse
import collections
import itertools
import json
import pathlib
import subprocess
import sys
import time

import numpy
import sextant

ROWS = (30, 1000, 30_000, 300_000)
PRODUCTS = (1, 30, 1000, 1e6)  # expected ones
COLUMNS = (1, 8)
REAL, COMPLEX = ("float32", "float64"), ("complex64", "complex128")
SOLVED_ROWS = 100_000  # a solver's set-up builds what it chooses
TREES = ("axpy", "axpby", "copy", "scale", "waxpby", "multiply", "gather-i32", "scatter-i32", "chronopoulos-gear", "sum", "dot",
         "nrm2", "asum", "amax", "iamax", "min", "max", "multidot-2", "multidot-4")  # fmt: skip
HERMITIAN_SETS = tuple(itertools.product((4, 16, 33, 64, 128, 300, 1000), (1, 100, 10_000), ("definite", "indefinite", "try")))


def entries(rows, row, col, values=None):
    """Unordered coordinates with ones, or `values`, beyond the diagonal and a dominant diagonal."""
    keep = (row >= 0) & (row < rows) & (col >= 0) & (col < rows) & (row != col)
    row, col = row[keep].astype(numpy.int32), col[keep].astype(numpy.int32)
    values = -numpy.ones(row.size) if values is None else values[keep]
    degree = numpy.bincount(row, numpy.abs(values), rows)
    diagonal = numpy.arange(rows, dtype=numpy.int32)
    return numpy.concatenate([values, degree + 1]), (numpy.concatenate([row, diagonal]), numpy.concatenate([col, diagonal]))


def both(rows, row, col):
    """The same with every entry mirrored."""
    return entries(rows, numpy.concatenate([row, col]), numpy.concatenate([col, row]))


def stencil(rows, dimensions):
    side = max(2, round(rows ** (1 / dimensions)))
    place, strides = numpy.arange(side**dimensions), [side**d for d in range(dimensions)]
    pairs = [(place, place + stride) for stride in strides]
    inner = [(place // stride) % side + 1 < side for stride in strides]
    return both(side**dimensions, *(numpy.concatenate([a[k] for a, k in zip(part, inner)]) for part in zip(*pairs)))


def families(rows, random):
    """Name, entries, whether symmetric."""
    each = numpy.arange(rows)
    for dimensions in (1, 2, 3):
        yield f"grid-{dimensions}d", stencil(rows, dimensions), True
    for half in (4, 40):
        row = numpy.repeat(each, half)
        yield f"band-{2 * half + 1}", both(rows, row, row + numpy.tile(numpy.arange(1, half + 1), rows)), True
    for edge in (2, 3, 6):
        first, block = numpy.repeat(each // edge, 5 * edge), numpy.tile(numpy.repeat([-30, -1, 1, 7, 30], edge), rows)
        yield f"blocks-{edge}", entries(rows, numpy.repeat(each, 5 * edge), (first + block) * edge + numpy.tile(numpy.arange(edge), 5 * rows)), False
    for degree in (2, 10, 60):
        if degree < rows:
            yield f"scattered-{degree}", both(rows, numpy.repeat(each, degree), random.integers(0, rows, rows * degree)), True
    heavy = numpy.minimum(rows, (random.pareto(1.2, rows) * 3).astype(numpy.int64) + 1)
    yield "power-law", both(rows, numpy.repeat(each, heavy), (rows * random.random(heavy.sum()) ** 3).astype(numpy.int64)), True
    hubs = numpy.arange(max(1, rows // 10_000))
    yield "hubs", both(rows, numpy.repeat(hubs, rows // 2), random.integers(0, rows, hubs.size * (rows // 2))), True
    few = max(1, rows // 20)
    yield "mostly-empty", (numpy.ones(few), (random.integers(0, rows, few), random.integers(0, rows, few))), False
    yield "diagonal", entries(rows, each[:0], each[:0]), True


def chosen(plan):
    """The kernels of a plan and of its parts."""
    for each in plan if isinstance(plan, list) else [plan] if plan else []:
        yield each["kernel"]
        yield from chosen(each["parts"])


class Tally:
    """Decisions by kind, and how often each kernel was one."""

    def __init__(self):
        self.decisions, self.chosen, self.failed = collections.Counter(), collections.Counter(), collections.Counter()
        self.kinds = {kernel.name: kernel.kind for kernel in sextant.kernels()}

    def add(self, explain, *arguments, **options):
        try:
            plan = explain(*arguments, **options).data["plan"]
        except sextant.SextantError as problem:
            self.failed[problem.code] += 1
            return
        for name in chosen(plan):
            self.count(name)

    def count(self, name):
        self.decisions[self.kinds.get(name, "?")] += 1
        self.chosen[name] += 1


def products(tally, matrix):
    for expected, columns in itertools.product(PRODUCTS, COLUMNS):
        tally.add(matrix.explain, products=expected, columns=columns)


def solver(tally, matrix):
    def explain(solves):
        with sextant.PCG(matrix, expected_solves=solves) as made:
            return made.explain()

    for solves in (1, 100):
        tally.add(explain, solves)


def generated(tally, context, until):
    random = numpy.random.default_rng(26)
    count = 0
    for rows in ROWS:
        for _name, (values, places), symmetric in families(rows, random):
            for dtype in REAL + COMPLEX:
                if time.monotonic() > until:
                    return count
                known = "general" if not symmetric else "symmetric" if dtype in REAL else "hermitian"
                size = int(max(place.max(initial=0) for place in places)) + 1  # of grids the nearest power
                with sextant.Matrix((values.astype(dtype), places), shape=(size, size), context=context, symmetry=known) as matrix:
                    products(tally, matrix)
                    if symmetric and rows <= SOLVED_ROWS:
                        solver(tally, matrix)
                count += 1
    return count


def real(tally, context, paths, until):
    count = 0
    for path in paths:
        for dtype in REAL + COMPLEX:
            if time.monotonic() > until:
                return count
            try:
                with sextant.Matrix(path, dtype=dtype, context=context) as matrix:
                    products(tally, matrix)
                    if matrix.symmetry in ("symmetric", "hermitian") and matrix.shape[0] <= SOLVED_ROWS:
                        solver(tally, matrix)
                    count += 1
            except sextant.SextantError as problem:
                tally.failed[problem.code] += 1
    return count


def hermitian(tally, context):
    for (n, batch, definiteness), dtype, vary in itertools.product(HERMITIAN_SETS, REAL + COMPLEX, (False, True)):
        if n * n * batch > 2e8:
            continue
        orders = numpy.maximum(1, numpy.arange(batch) * 7 % (n + 1)).astype(numpy.int32) if vary else None
        for shortcuts in ((), ("always", "mixed", "toeplitz", "butterfly")):

            def explain(shortcuts=shortcuts, orders=orders):
                kept = {"shortcuts": shortcuts} if shortcuts else {}
                with sextant.Hermitian(n, batch, dtype, orders=orders, context=context, definiteness=definiteness, **kept) as made:
                    return made.explain()

            tally.add(explain)


def trees(tally, command, options):
    for operation, value_type in itertools.product(TREES, ("f32", "f64", "c64", "c128")):
        words = [command, "explain", "--op", operation, "--tree", "--type", value_type, "--json", *options]
        run = subprocess.run(words, capture_output=True, text=True)
        if run.returncode:
            tally.failed["trees"] += 1
            continue
        for leaf in json.loads(run.stdout)["leaves"]:
            tally.count(leaf["kernel"])


def report(tally, device):
    print("| kind | kernel | chosen | of decisions | share |\n|---|---|--:|--:|--:|")
    never = collections.defaultdict(list)
    for kernel in sorted(sextant.kernels(), key=lambda each: (each.kind, -tally.chosen[each.name], each.name)):
        if kernel.device != device:
            continue
        if tally.chosen[kernel.name]:
            times, all_ = tally.chosen[kernel.name], tally.decisions[kernel.kind]
            print(f"| `{kernel.kind}` | `{kernel.name}` | {times} | {all_} | {100 * times / all_:.1f} % |")
        elif tally.decisions[kernel.kind]:
            never[kernel.kind].append(kernel.name)
        else:
            never["kinds without a decision here"].append(kernel.name)
    print("\n| kind | never chosen |\n|---|---|")
    for kind, names in sorted(never.items()):
        print(f"| {kind} | {', '.join(f'`{name}`' for name in names)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--profile", default=None)
    parser.add_argument("--seconds", type=float, default=600, help="no further matrix is begun after so many")
    parser.add_argument("--command", default=None, help="of Sextant, for decision trees")
    parser.add_argument("matrices", nargs="*", type=pathlib.Path)
    asked = parser.parse_args()
    files = sorted(path for each in asked.matrices for path in (each.rglob("*.mtx*") if each.is_dir() else [each]))
    numpy.random.default_rng(26).shuffle(files)  # so that those for which there is time are of all folders
    with sextant.Context(asked.device, threads=asked.threads, profile=asked.profile) as context:
        tally, began = Tally(), time.monotonic()
        hermitian(tally, context)
        made = generated(tally, context, began + asked.seconds / 2)
        read = real(tally, context, files, began + asked.seconds)
        if asked.command:
            options = [*(["--device", asked.device]), *(["--profile", asked.profile] if asked.profile else [])]
            trees(tally, asked.command, options)
        print(f"{made} generated and {read} real matrices (each type counts), {sum(tally.decisions.values())} decisions, "
              f"{time.monotonic() - began:.0f} s; refused: {dict(tally.failed) or 'none'}\n")  # fmt: skip
        report(tally, asked.device.split(":")[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
