# SPDX-License-Identifier: BSD-3-Clause
"""Sets of values on one pattern, against NumPy's dense solves."""

import numpy
import pytest
import scipy.sparse
from conftest import DTYPES, line, plate

import sextant


def family(dtype, sets=5, side=6):
    """Values of plates whose diagonals differ, and the dense matrices."""
    a = plate(side, dtype)
    a.sort_indices()
    rows = numpy.repeat(numpy.arange(a.shape[0]), numpy.diff(a.indptr))
    on_diagonal = rows == a.indices
    values = numpy.array([a.data + on_diagonal * k for k in range(sets)], dtype)
    dense = [scipy.sparse.csr_array((each, a.indices, a.indptr), shape=a.shape).toarray() for each in values]
    return a, values, numpy.array(dense)


@pytest.mark.parametrize("dtype", DTYPES)
def test_solves_and_outcomes(cpu, random, dtype):
    a, values, dense = family(dtype)
    sets = sextant.CholeskySets(sextant.Matrix(a, context=cpu), 5)
    assert sets.factor(values) is sets and len(sets) == 5
    eps = 1000 * numpy.finfo(dtype).eps
    for shape in ((5, 36), (5, 36, 1), (5, 36, 4)):
        b = random.standard_normal(shape).astype(dtype)
        x = sets.solve(b)
        columns = b.reshape(5, 36, -1)
        numpy.testing.assert_allclose(x.reshape(5, 36, -1), numpy.linalg.solve(dense, columns), atol=eps)
        assert x.shape == shape and x.dtype == dtype
    told = sets.outcomes
    assert (told.status == 0).all() and (told.failed_row == -1).all() and (told.positive == 36).all()
    numpy.testing.assert_allclose(told.log_determinant, numpy.linalg.slogdet(dense)[1], rtol=eps)
    assert (told.least_pivot > 0).all() and (told.largest_pivot >= told.least_pivot).all() and (told.sign == 1).all()
    info = sets.info
    assert info.count == info.factored == 5 and info.nnz == values.shape[1] and 0 < info.factor_bytes <= info.host_bytes
    assert "in one call of cholesky." in str(sets.explain()) and repr(sets).startswith("<sextant.CholeskySets, 5 of 36")


def test_layouts(cpu, random):
    a, values, dense = family(numpy.float64)
    sets = sextant.CholeskySets(sextant.Matrix(a, context=cpu), 5)
    sets.factor(numpy.asfortranarray(values))  # copied
    b = random.standard_normal((5, 36, 3))
    wanted = numpy.linalg.solve(dense, b)
    contiguous = numpy.ascontiguousarray(b.transpose(0, 2, 1)).transpose(0, 2, 1)  # columns as the library likes them
    for given in (b, contiguous, numpy.asfortranarray(b), b.tolist()):
        numpy.testing.assert_allclose(sets.solve(given), wanted, atol=1e-12)
    out = numpy.empty((5, 3, 36)).transpose(0, 2, 1)
    assert sets.solve(b, out=out) is out
    numpy.testing.assert_allclose(out, wanted, atol=1e-12)
    assert sets.solve(contiguous, out=contiguous) is contiguous
    numpy.testing.assert_allclose(contiguous, wanted, atol=1e-12)
    inside = numpy.empty((3, 5, 36)).transpose(1, 2, 0)  # sets between columns
    inside[...] = b
    numpy.testing.assert_allclose(sets.solve(inside, out=inside), wanted, atol=1e-12)
    numpy.testing.assert_allclose(sets.solve(b[2:4, :, 0], first=2), wanted[2:4, :, 0], atol=1e-12)


def test_one_set_that_fails(cpu):
    a, values, dense = family(numpy.float64)
    sets = sextant.CholeskySets(sextant.Matrix(a, context=cpu), 5)
    values[3, 0] = -1
    with pytest.raises(sextant.MatrixError) as failed:
        sets.factor(values)
    assert failed.value.code == "SXT_E_NOT_POSITIVE_DEFINITE" and "set 3 " in str(failed.value)
    told, x = sets.outcomes, sets.solve(numpy.ones((5, 36)))
    assert (told.status != 0).nonzero()[0].tolist() == [3] and told.failed_row[3] == 0 and told.failed_pivot[3] == -1
    assert numpy.isnan(x[3]).all() and numpy.isnan(told.log_determinant[3])
    numpy.testing.assert_allclose(x[4], numpy.linalg.solve(dense[4], numpy.ones(36)), atol=1e-12)
    values[3, 0] = 9
    sets.factor(values[3:4], first=3)
    assert sets.info.factored == 5


def test_refusals(cpu):
    matrix = sextant.Matrix(line(10), context=cpu)
    nnz = line(10).nnz
    analysis = sextant.Analysis(matrix)
    sets = sextant.CholeskySets(analysis, 2)
    assert sets.analysis is analysis
    with pytest.raises(TypeError, match="option of the analysis"):
        sextant.CholeskySets(analysis, 2, order="amd")
    for code, call in {
        "SXT_E_ARGUMENT": lambda: sextant.CholeskySets(analysis, 0),
        "SXT_E_STATE": lambda: sets.solve(numpy.ones((2, 10))),
        "SXT_E_TYPE": lambda: sets.factor(numpy.ones((2, nnz), numpy.float32)),
        "SXT_E_DIMENSION": lambda: sets.factor(numpy.ones(nnz)),
        "SXT_E_INDEX": lambda: sets.factor(numpy.ones((3, nnz))),
    }.items():
        with pytest.raises(sextant.SextantError) as refused:
            call()
        assert refused.value.code == code
    sets.factor(numpy.array([line(10).data] * 2))
    read_only = numpy.ones((2, 10))
    read_only.flags.writeable = False
    for code, call in {
        "SXT_E_DIMENSION": lambda: sets.solve(numpy.ones((2, 11))),
        "SXT_E_INDEX": lambda: sets.solve(numpy.ones((2, 10)), first=1),
        "SXT_E_ARGUMENT": lambda: sets.solve(numpy.ones((2, 10)), out=read_only),
    }.items():
        with pytest.raises(sextant.SextantError) as refused:
            call()
        assert refused.value.code == code
    with pytest.raises(sextant.SextantError, match="out has shape"):
        sets.solve(numpy.ones((2, 10)), out=numpy.ones((2, 10, 2)))
    with pytest.raises(sextant.SextantError, match="columns|column"):
        sets.solve(numpy.ones((2, 10, 3)), out=numpy.ones((2, 10, 3)))
    sets.close()
    with pytest.raises(sextant.StateError):
        sets.factor(numpy.array([line(10).data] * 2))
