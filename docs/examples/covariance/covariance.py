# SPDX-License-Identifier: BSD-3-Clause
"""How well a temperature field is known. It is a Gaussian field on a grid: each point is tied to its neighbours, and some points are
measured. Its precision matrix Q, the inverse of the covariance, is sparse. One factor of Q gives the most likely field, log det Q,
which the likelihood of a model needs, and by selected inversion the variances: the diagonal of Q^-1, which is dense, and so is never
made. The likelihood then chooses the strength of the ties. NumPy confirms the numbers."""

import numpy
import scipy.sparse

import sextant

SIDE, EVERY = 16, 5  # each fifth point in both directions is measured
PRIOR, SENSOR = 0.01, 25  # 1 / variance: of a point, of a measurement
n = SIDE * SIDE

x, y = (axis.ravel() for axis in numpy.meshgrid(numpy.arange(1, SIDE + 1), numpy.arange(1, SIDE + 1)))
measured = (x % EVERY == 0) & (y % EVERY == 0)
readings = numpy.where(measured, 2.5 * numpy.sin(x / 3) - 0.25 * (y - 10), 0)  # apart from the mean
differences = scipy.sparse.diags([1.0, -1.0], [0, 1], shape=(SIDE - 1, SIDE))
line = differences.T @ differences
ties = scipy.sparse.csr_matrix(scipy.sparse.kronsum(line, line))


def precision(tie):
    return scipy.sparse.csr_matrix(tie * ties + scipy.sparse.diags(PRIOR + SENSOR * measured))


Q = sextant.Matrix(precision(4.0))
factor = sextant.Cholesky(sextant.Analysis(Q, expected_factors=20))


def fit(tie):
    """Most likely field, and the logarithm of the likelihood of this strength of the ties, constants left out."""
    Q.update_values(precision(tie).data)
    field = factor.factor().solve(SENSOR * readings)
    before = numpy.linalg.slogdet((precision(tie) - scipy.sparse.diags(SENSOR * measured)).toarray())[1]  # without measurements
    return field, 0.5 * (before - factor.logdet - SENSOR * readings @ (readings - field))


strengths = [4.0**k for k in range(-4, 4)]
best = max(strengths, key=lambda tie: fit(tie)[1])
field, _ = fit(best)
points = numpy.arange(n)
variances = factor.inverse(points, points)  # entries (i, i) of the inverse
print(f"ties of {best:g}: log det Q = {factor.logdet:.4f}, known to within {variances.min() ** 0.5:.2f} to {variances.max() ** 0.5:.2f} degrees")

dense = precision(best).toarray()
assert numpy.isclose(factor.logdet, numpy.linalg.slogdet(dense)[1], rtol=1e-10)
assert numpy.allclose(variances, numpy.linalg.inv(dense).diagonal(), rtol=1e-9)
assert numpy.allclose(dense @ field, SENSOR * readings, atol=1e-9)
