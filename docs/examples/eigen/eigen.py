# SPDX-License-Identifier: BSD-3-Clause
"""The lowest frequencies of a membrane: all eigenvalues of A below a bound, A the five-point Laplacian of a rectangle. SciPy's eigsh
finds those near a shift by a factor of A - shift I. The inertia of the factors counts the eigenvalues between two shifts
(Sylvester), so that none is missed. One pattern: analysed once, factored again for each shift."""

import numpy
import scipy.sparse
import scipy.sparse.linalg

import sextant

WIDTH, HEIGHT, BOUND, SLICES = 40, 25, 0.2, 4


def laplacian(n):
    return scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))


laplace = scipy.sparse.csr_matrix(scipy.sparse.kronsum(laplacian(WIDTH), laplacian(HEIGHT)))
laplace.sort_indices()
identity = scipy.sparse.identity(laplace.shape[0], format="csr")
diagonal = numpy.flatnonzero(laplace.indices == numpy.repeat(numpy.arange(laplace.shape[0]), numpy.diff(laplace.indptr)))

A = sextant.Matrix(laplace)
# Indefinite, and a shift may be an eigenvalue.
factor = sextant.Cholesky(sextant.Analysis(A, factorization="ldlh", pivot_policy="perturb", expected_factors=2 * SLICES + 1))


def shifted(shift):
    """The factor of A - shift I."""
    values = laplace.data.copy()
    values[diagonal] -= shift
    A.update_values(values)
    return factor.factor()


edges = numpy.linspace(0, BOUND, SLICES + 1)
below = [shifted(edge).inertia[1] for edge in edges]  # how many eigenvalues are smaller
found = []
for low, high, count in zip(edges, edges[1:], numpy.diff(below)):
    middle = (low + high) / 2
    inverse = shifted(middle).aslinearoperator()
    near = scipy.sparse.linalg.eigsh(laplace, k=count + 4, sigma=middle, OPinv=inverse, return_eigenvectors=False, v0=numpy.ones(laplace.shape[0]))
    inside = near[(near >= low) & (near < high)]
    assert len(inside) == count, f"{len(inside)} eigenvalues between {low} and {high}, {count} are there"
    found.extend(sorted(inside))

i, j = numpy.arange(1, WIDTH + 1), numpy.arange(1, HEIGHT + 1)
exact = numpy.add.outer(4 - 2 * numpy.cos(numpy.pi * i / (WIDTH + 1)), -2 * numpy.cos(numpy.pi * j / (HEIGHT + 1)))
exact = numpy.sort(exact[exact < BOUND])
print(f"{len(found)} eigenvalues below {BOUND}, the first {found[0]:.12f}, largest error {abs(found - exact).max():.0e}")
assert numpy.allclose(found, exact, rtol=0, atol=1e-10)
