# SPDX-License-Identifier: BSD-3-Clause
"""Sparse Cholesky factorisations, against NumPy's dense ones."""

import numpy
import pytest
import scipy.sparse
from conftest import DTYPES, line, plate

import sextant


def hermitian(random, n, dtype):
    """Hermitian and diagonally dominant."""
    upper = numpy.triu(random.standard_normal((n, n)), 1) * (random.random((n, n)) < 0.2)
    if numpy.dtype(dtype).kind == "c":
        upper = upper * (1 + 2j)
    dense = upper + upper.conj().T
    return (dense + numpy.diag(1 + abs(dense).sum(axis=1))).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_solves_and_facts(cpu, random, dtype):
    dense = hermitian(random, 40, dtype)
    factor = sextant.Cholesky(sextant.Matrix(scipy.sparse.csr_array(dense), context=cpu))
    eps = 1000 * numpy.finfo(dtype).eps
    b = random.standard_normal((40, 3)).astype(dtype)
    for given in (b[:, 0], b):
        numpy.testing.assert_allclose(factor.solve(given), numpy.linalg.solve(dense, given), atol=eps)
    x, report = factor.solve(b, full_output=True, refine_steps=2)
    assert x.shape == b.shape and report.residual < eps
    assert abs(factor.logdet - numpy.linalg.slogdet(dense)[1]) < eps * 40
    assert factor.slogdet()[0] == 1 and factor.inertia == (40, 0, 0)
    assert 0 < factor.rcond() <= 1
    assert abs(numpy.log(factor.diagonal()).sum() - factor.logdet) < eps * 40
    places = numpy.arange(40)
    numpy.testing.assert_allclose(factor.inverse(places, places), numpy.diag(numpy.linalg.inv(dense)), atol=eps)


@pytest.mark.parametrize("dtype, narrow", [(numpy.float64, "float32"), (numpy.complex128, "complex64")])
def test_single_precision_is_refined(cpu, random, dtype, narrow):
    dense = hermitian(random, 40, dtype)
    factor = sextant.Cholesky(sextant.Matrix(scipy.sparse.csr_array(dense), context=cpu), factor_precision="single")
    assert factor.analysis.info.factor_type == factor.info.factor_type == narrow and not factor.info.repeated
    b = random.standard_normal(40).astype(dtype)
    x, report = factor.solve(b, full_output=True)
    assert report.refined >= 1 and not report.repeated and report.residual < 1e-14
    numpy.testing.assert_allclose(x, numpy.linalg.solve(dense, b), atol=1e-13)
    with pytest.raises(sextant.ArgumentError, match="factor_precision must be one of"):
        sextant.Analysis(scipy.sparse.csr_array(dense), factor_precision="half")


def test_factored_again(cpu):
    matrix, a = sextant.Matrix(line(30), context=cpu), line(30)
    factor = sextant.Cholesky(matrix)
    first = factor.logdet
    matrix.update_values(2 * a.data)
    assert factor.factor() is factor
    assert abs(factor.logdet - first - 30 * numpy.log(2)) < 1e-10
    factor.factor(sextant.Matrix(a, context=cpu))  # another matrix of the pattern
    assert abs(factor.logdet - first) < 1e-10
    with pytest.raises(sextant.ArgumentError) as error:
        factor.factor(sextant.Matrix(line(31), context=cpu))
    assert error.value.code == "SXT_E_DIMENSION"
    assert abs(factor.logdet - first) < 1e-10  # what was refused changed nothing


def test_in_place(cpu):
    b = numpy.ones(30)
    factor = sextant.Cholesky(sextant.Matrix(line(30), context=cpu))
    wanted = factor.solve(b)
    assert factor.solve(b, out=b) is b
    assert (b == wanted).all()


def test_not_positive_definite(cpu):
    a = line(10).tolil()
    a[4, 4] = -1
    matrix = sextant.Matrix(a, context=cpu)
    with pytest.raises(sextant.MatrixError, match="row 4") as error:
        sextant.Cholesky(matrix, order="natural")
    assert error.value.code == "SXT_E_NOT_POSITIVE_DEFINITE" and isinstance(error.value, numpy.linalg.LinAlgError)
    factor = sextant.Cholesky(matrix, factorization="ldlh")
    assert factor.inertia == (9, 1, 0) and factor.slogdet()[0] == -1
    analysis = sextant.Analysis(matrix, order="natural")
    empty = sextant.Cholesky(analysis)
    with pytest.raises(sextant.MatrixError):
        empty.factor()
    assert empty.info.failed_row == 4 and not empty.info.factored
    with pytest.raises(sextant.StateError, match="no factor"):
        empty.logdet
    with pytest.raises(sextant.StateError):
        empty.solve(numpy.ones(10))


def test_pivots_that_are_changed(cpu):
    a = scipy.sparse.csr_array((numpy.array([1.0, 0.0, 2.0]), numpy.arange(3), numpy.arange(4)), shape=(3, 3))
    factor = sextant.Cholesky(sextant.Matrix(a, context=cpu), pivot_policy="replace", pivot_value=5.0)
    assert factor.changed_pivots().tolist() == [1] and factor.info.changed_pivots == 1
    assert factor.diagonal().tolist() == pytest.approx([1, 5, 2])


def test_schur_complement(cpu):
    dense = plate(4).toarray()
    last = [15, 3]
    rest = [i for i in range(16) if i not in last]
    factor = sextant.Cholesky(sextant.Matrix(plate(4), context=cpu), schur_rows=last)
    wanted = dense[numpy.ix_(last, last)] - dense[numpy.ix_(last, rest)] @ numpy.linalg.solve(
        dense[numpy.ix_(rest, rest)], dense[numpy.ix_(rest, last)])  # fmt: skip
    numpy.testing.assert_allclose(factor.schur(), wanted, atol=1e-12)


def test_steps_of_a_solve(cpu):
    factor = sextant.Cholesky(sextant.Matrix(plate(5), context=cpu))
    b = numpy.arange(25.0)
    y = factor.solve(factor.solve(b, step="forward"), step="backward")
    numpy.testing.assert_allclose(y, factor.solve(b))


def test_analysis(cpu, tmp_path):
    matrix = sextant.Matrix(plate(10), context=cpu)
    analysis = sextant.Analysis(matrix, order="amd", expected_factors=10)
    assert analysis.method == "amd" and sorted(analysis.order()) == list(range(100))
    assert analysis.info.n == 100 and analysis.info.nnz_l >= 280 and analysis.info.predicted_factor_seconds > 0
    assert "amd" in str(analysis.explain())
    analysis.save(tmp_path / "plate")
    loaded = sextant.Analysis.load(matrix, tmp_path / "plate")
    assert (loaded.order() == analysis.order()).all()
    assert abs(sextant.Cholesky(loaded).factor().logdet - sextant.Cholesky(matrix).logdet) < 1e-10
    with pytest.raises(sextant.ArgumentError) as error:
        sextant.Analysis.load(sextant.Matrix(plate(9), context=cpu), tmp_path / "plate")
    assert error.value.code == "SXT_E_PLAN"
    own = sextant.Analysis(matrix, permutation=range(99, -1, -1))
    assert own.order().tolist() == list(range(99, -1, -1))


def test_arguments_are_named(cpu):
    matrix = sextant.Matrix(plate(4), context=cpu)
    with pytest.raises(ValueError, match="permutation has 3 rows, and A has 16"):
        sextant.Analysis(matrix, permutation=[0, 1, 2])
    with pytest.raises(TypeError, match="schur_rows must be a sequence of integers"):
        sextant.Analysis(matrix, schur_rows=[0.5])
    with pytest.raises(TypeError, match="schur_rows must be a sequence of integers"):
        sextant.Analysis(matrix, schur_rows=[True, False])
    with pytest.raises(TypeError, match="option of the analysis"):
        sextant.Cholesky(sextant.Analysis(matrix), order="amd")
    factor = sextant.Cholesky(matrix)
    with pytest.raises(IndexError):
        factor.inverse([0], [99])
    with pytest.raises(OverflowError, match=r"rows\[1\] = 9223372036854775813 does not fit int64"):
        factor.inverse(numpy.array([0, 2**63 + 5], numpy.uint64), [0, 0])
    with pytest.raises(ValueError, match="rows has 2 entries and cols 1"):
        factor.inverse([0, 1], [0])
