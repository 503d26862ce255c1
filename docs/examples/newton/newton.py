# SPDX-License-Identifier: BSD-3-Clause
"""A nonlinear problem by Newton's method: -u'' in two dimensions + u^3 = f on a square, the force f applied in equal parts. The
matrix of each step has one pattern, so it is analysed once, and each step only factors new values and solves."""

import numpy
import scipy.sparse

import sextant

SIDE, LOADS = 60, 4
n = SIDE * SIDE
line = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(SIDE, SIDE))
laplace = scipy.sparse.csr_matrix(scipy.sparse.kronsum(line, line))
laplace.sort_indices()
diagonal = numpy.flatnonzero(laplace.indices == numpy.repeat(numpy.arange(n), numpy.diff(laplace.indptr)))

A = sextant.Matrix(laplace)
factor = sextant.Cholesky(sextant.Analysis(A, expected_factors=5 * LOADS))  # so many steps: a better order may pay


def newton(u, force):
    """The u for one force, from that of the one before, and the number of steps."""
    for step in range(20):
        residual = force - laplace @ u - u**3
        if abs(residual).max() <= 1e-14:
            return u, step
        values = laplace.data.copy()
        values[diagonal] += 3 * u**2
        A.update_values(values)
        u = u + factor.factor().solve(residual)  # no analysis
    raise SystemExit(f"Newton's method does not end for the force {force}")


u, total = numpy.zeros(n), 0
for load in range(1, LOADS + 1):
    u, steps = newton(u, 0.01 * load / LOADS)
    total += steps
print(f"{LOADS} loads, {total} steps, u = {u[n // 2 + SIDE // 2]:.6f} in the middle")
assert abs(0.01 - laplace @ u - u**3).max() <= 1e-14
