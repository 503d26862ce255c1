# SPDX-License-Identifier: BSD-3-Clause
"""What matrices are made from, and their products, against SciPy."""

import gzip

import numpy
import pytest
import scipy.sparse
from conftest import DATA, DTYPES, line, scattered

import sextant


def rectangular(random, dtype=numpy.float64):
    return scattered(random, 30, 20, dtype)


def values(random, shape, dtype):
    x = random.standard_normal(shape)
    return (x + 1j * random.standard_normal(shape) if numpy.dtype(dtype).kind == "c" else x).astype(dtype)


def close(got, wanted):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    numpy.testing.assert_allclose(got, wanted, rtol=0, atol=100 * numpy.finfo(wanted.dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
def test_products_of_every_format(cpu, random, form, dtype):
    a = rectangular(random, dtype)
    matrix = sextant.Matrix(a.asformat(form), context=cpu)
    assert matrix.shape == (30, 20) and matrix.dtype == dtype
    for given in (values(random, 20, dtype), values(random, (20, 3), dtype), values(random, (20, 1), dtype)):
        close(matrix @ given, a @ given)
    for given in (values(random, 30, dtype), values(random, (30, 40), dtype)):
        close(matrix.T @ given, a.T @ given)
        close(matrix.H @ given, a.conj().T @ given)
        close(given.T @ matrix, given.T @ a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_transposes_of_transposes(cpu, random, dtype):
    a = rectangular(random, dtype)
    matrix, x = sextant.Matrix(a, context=cpu), values(random, 20, dtype)
    assert matrix.T.T is matrix and matrix.H.H is matrix
    assert matrix.T.shape == (20, 30)
    close(matrix.T.H @ x, a.conj() @ x)
    close(matrix.H.T @ x, a.conj() @ x)


@pytest.mark.parametrize("index", [numpy.int32, numpy.int64])
def test_index_types_and_any_order(cpu, random, index):
    a = rectangular(random)
    a.indices, a.indptr = a.indices.astype(index), a.indptr.astype(index)
    for i in range(30):  # each row backwards
        row = slice(a.indptr[i], a.indptr[i + 1])
        a.indices[row], a.data[row] = a.indices[row][::-1].copy(), a.data[row][::-1].copy()
    x = values(random, 20, numpy.float64)
    matrix = sextant.Matrix((a.data, a.indices, a.indptr), shape=(30, 20), context=cpu)
    close(matrix @ x, a @ x)
    data, indices, indptr = matrix.csr()
    sorted_ = a.copy()
    sorted_.sort_indices()
    assert (data == sorted_.data).all() and (indices == sorted_.indices).all() and (indptr == sorted_.indptr).all()
    assert (matrix.to_scipy() != a).nnz == 0
    loose = a.tocoo()
    close(sextant.Matrix((loose.data, (loose.row, loose.col)), shape=(30, 20), context=cpu) @ x, a @ x)


def test_lists_and_other_bases(cpu):
    matrix = sextant.Matrix(([2, 1, 3], [1, 2, 2], [1, 3, 4]), index_base=1, context=cpu)
    assert matrix.shape == (2, 2) and matrix.nnz == 3
    assert (matrix @ [1, 10]).tolist() == [12, 30] and ([1, 10] @ matrix).tolist() == [2, 31]


def test_one_triangle(cpu):
    a = line(5)
    matrix = sextant.Matrix(scipy.sparse.tril(a), symmetry="symmetric", triangle="lower", context=cpu)
    assert matrix.nnz == a.nnz and matrix.symmetry == "symmetric"
    close(matrix @ numpy.arange(5.0), a @ numpy.arange(5.0))


def test_duplicates(cpu):
    entries = ([1.0, 2.0, 5.0], ([0, 0, 1], [0, 0, 1]))
    assert (sextant.Matrix(entries, context=cpu) @ [1, 1]).tolist() == [3, 5]
    with pytest.raises(sextant.ArgumentError) as error:
        sextant.Matrix(entries, duplicates="refuse", context=cpu)
    assert error.value.code == "SXT_E_DUPLICATE"


def test_files(cpu, tmp_path):
    path = DATA / "bcsstk16.mtx.gz"
    matrix = sextant.Matrix(path, context=cpu)
    assert matrix.shape == (4884, 4884) and matrix.dtype == numpy.float64
    assert sextant.Matrix(str(path), dtype=numpy.float32, context=cpu).dtype == numpy.float32
    broken = tmp_path / "broken.mtx"
    broken.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 3\n")
    with pytest.raises(sextant.ArgumentError, match=r"broken\.mtx.*3") as error:
        sextant.Matrix(broken, context=cpu)
    assert error.value.code == "SXT_E_FILE_FORMAT"
    with pytest.raises(OSError, match="missing") as error:
        sextant.Matrix(tmp_path / "missing.mtx", context=cpu)
    assert error.value.code == "SXT_E_FILE_READ"
    assert gzip.open(path).readline().startswith(b"%%MatrixMarket")


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_new_values_in_the_callers_order(cpu, random, form):
    a = scattered(random, 12, 12).asformat(form)
    matrix, x = sextant.Matrix(a, context=cpu), values(random, 12, numpy.float64)
    a.data = random.standard_normal(a.data.shape)
    matrix.update_values(a.data)
    close(matrix @ x, a @ x)
    with pytest.raises(sextant.ArgumentError) as error:
        matrix.update_values(numpy.ones(3))
    assert error.value.code == "SXT_E_DIMENSION"
    close(matrix @ x, a @ x)


def test_out_alpha_beta(cpu, random):
    a = rectangular(random)
    matrix, x, y = sextant.Matrix(a, context=cpu), values(random, 20, numpy.float64), values(random, 30, numpy.float64)
    wanted = 2 * (a @ x) - 3 * y
    assert matrix.multiply(x, out=y, alpha=2, beta=-3) is y
    close(y, wanted)


def test_operands_are_used_where_they_lie(cpu):
    """Columns of a larger array in order F, and a slice of a vector."""
    a = line(6)
    matrix, wide = sextant.Matrix(a, context=cpu), numpy.asfortranarray(numpy.arange(40.0).reshape(8, 5))
    target = numpy.zeros((8, 5), order="F")
    matrix.multiply(wide[1:7, 1:4], out=target[1:7, 1:4])
    close(target[1:7, 1:4], a @ wide[1:7, 1:4])
    assert target.sum() == target[1:7, 1:4].sum()


def test_nothing(cpu):
    empty = sextant.Matrix(scipy.sparse.csr_array((0, 0)), context=cpu)
    assert (empty @ numpy.empty(0)).shape == (0,)
    assert (sextant.Matrix(line(3), context=cpu) @ numpy.empty((3, 0))).shape == (3, 0)


def test_what_is_known(cpu):
    matrix = sextant.Matrix(line(100), context=cpu)
    assert matrix.nnz == 298 and matrix.nbytes > 0
    assert "row_nnz_max" in matrix.feature_names()
    assert matrix.feature("row_nnz_max") == 3
    why = matrix.explain()
    assert why.data["plan"][0]["kernel"] in str(why)
    assert [row["kernel"] for row in why.rows if row["chosen"]]
    assert all({"kernel", "predicted_run_s", "reason"} <= row.keys() for row in why.rows)


def test_nan_in_products_stays(cpu):
    y = sextant.Matrix(line(3), context=cpu) @ numpy.array([numpy.nan, 1, 1])
    assert numpy.isnan(y[:2]).all() and y[2] == 1
