# SPDX-License-Identifier: BSD-3-Clause
"""Heat in a plate of two materials by finite volumes, implicit in time: (V / dt + K) u_new = V / dt u_old, with the conductance K of
the faces between cells. The plate is insulated, so that the heat in it stays the same, which the program checks. One matrix and one set-up;
its values change with the time step; each solve begins from the last temperature."""

import numpy
import scipy.sparse

import sextant

SIDE, STEPS, LATER = 60, 20, 5
n, volume = SIDE * SIDE, 1.0 / SIDE**2
conductivity = numpy.where(numpy.arange(n) % SIDE < SIDE // 2, 1.0, 0.02)  # metal on the left

cells = numpy.arange(n).reshape(SIDE, SIDE)
left = numpy.concatenate([cells[:, :-1].ravel(), cells[:-1, :].ravel()])
right = numpy.concatenate([cells[:, 1:].ravel(), cells[1:, :].ravel()])
# Two half cells in series: the harmonic mean. Area over distance of a face is 1 in two dimensions.
face = 2 / (1 / conductivity[left] + 1 / conductivity[right])
K = scipy.sparse.coo_matrix((-face, (left, right)), shape=(n, n))
K = (K + K.T).tolil()
K.setdiag(-numpy.asarray(K.sum(axis=1)).ravel())
K = K.tocsr()
K.sort_indices()
diagonal = numpy.flatnonzero(K.indices == numpy.repeat(numpy.arange(n), numpy.diff(K.indptr)))


def implicit(dt):
    """Values of V / dt + K on K's pattern."""
    values = K.data.copy()
    values[diagonal] += volume / dt
    return values


dt = 1e-3
A = sextant.Matrix(scipy.sparse.csr_matrix((implicit(dt), K.indices, K.indptr), shape=(n, n)))
solver = sextant.PCG(A, rtol=1e-11, expected_solves=STEPS)
u = numpy.zeros(n)
u[cells[20:40, 5:15]] = 1.0  # a hot spot in the metal
heat, iterations = volume * u.sum(), 0
for step in range(1, STEPS + 1):
    if step % LATER == 0:  # things move slower now
        dt *= 2
        A.update_values(implicit(dt))
    u, report = solver.solve(volume / dt * u, u)
    iterations += report.iterations
print(f"{STEPS} steps, {iterations} iterations, temperatures between {u.min():.4f} and {u.max():.4f}")
assert abs(volume * u.sum() - heat) < 1e-9 * heat, "heat was lost"
assert 0 <= u.min() and u.max() < 1, "a new extreme"
