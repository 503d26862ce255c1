# SPDX-License-Identifier: BSD-3-Clause
"""What a matrix may be made from, as arrays of entries. Sizes are checked here, since the C interface reads as far as the last
pointer says."""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy

from . import _arrays
from ._library import error


@dataclass
class Entries:
    """first: pointers of CSR or CSC, rows of COO; second: indices, columns of COO; order: of the caller's values, where they
    were sorted on the way."""

    form: str
    shape: tuple
    first: numpy.ndarray
    second: numpy.ndarray
    values: numpy.ndarray
    order: numpy.ndarray | None = None

    @property
    def count(self):
        return self.values.size


def entries(A, shape, base) -> Entries:
    """The entries of whatever is given."""
    if hasattr(A, "tocsr") and hasattr(A, "format"):
        if shape is not None and tuple(shape) != tuple(A.shape):
            raise error("SXT_E_DIMENSION", f"Matrix: shape {tuple(shape)} is given, and A has shape {tuple(A.shape)}")
        return _from_scipy(A)
    if isinstance(A, (tuple, list)) and len(A) == 3:
        return _compressed("csr", _shape(shape, len(A[2]) - 1), A[2], A[1], A[0], base)
    if isinstance(A, (tuple, list)) and len(A) == 2 and isinstance(A[1], (tuple, list)) and len(A[1]) == 2:
        return _coordinates(A, shape, base)
    raise TypeError("Matrix takes a sparse matrix of SciPy, (data, indices, indptr), (data, (row, col)) or the path of a Matrix Market "
                    f"file, not {type(A).__name__}")  # fmt: skip


def _shape(shape, n):
    if shape is None:
        return (n, n)
    try:
        rows, cols = (operator.index(each) for each in shape)
    except (TypeError, ValueError):
        raise error("SXT_E_ARGUMENT", f"Matrix: shape must be (rows, columns), not {shape!r}") from None
    if rows < 0 or cols < 0:
        raise error("SXT_E_DIMENSION", f"Matrix: shape {shape!r} is negative")
    return rows, cols


def _from_scipy(A):
    _arrays.check_values("A", A.dtype)
    if len(A.shape) != 2:
        raise error("SXT_E_DIMENSION", f"A has shape {tuple(A.shape)}, and a matrix has two dimensions")
    if A.format in ("csr", "csc"):
        return _compressed(A.format, A.shape, A.indptr, A.indices, A.data, 0)
    if A.format == "coo":
        return _coordinates((A.data, (A.row, A.col)), A.shape, 0)
    if A.format == "bsr":
        _check_blocks(A)
        places = type(A)((numpy.arange(A.data.size).reshape(A.data.shape), A.indices, A.indptr), shape=A.shape).tocsr().data
        sorted_ = A.tocsr()
        return Entries("csr", A.shape, sorted_.indptr, sorted_.indices, numpy.ascontiguousarray(A.data).reshape(-1)[places], places)
    converted = A.tocsr()
    return _compressed("csr", A.shape, converted.indptr, converted.indices, converted.data, 0)


def _check_blocks(A):
    """SciPy converts blocks without a look at where they lie."""
    rows, columns = A.shape[0] // A.blocksize[0], A.shape[1] // A.blocksize[1]
    pointers, blocks = numpy.asarray(A.indptr), len(A.indices)
    whole = len(pointers) == rows + 1 and pointers[0] == 0 and pointers[-1] == blocks and bool((numpy.diff(pointers) >= 0).all())
    if not whole or len(A.data) != blocks:
        raise error("SXT_E_ARGUMENT", f"A.indptr does not ascend from 0 to the {blocks} blocks of A in {rows} rows of blocks")
    if blocks and not (0 <= numpy.min(A.indices) and numpy.max(A.indices) < columns):
        raise error("SXT_E_INDEX", f"A.indices names a column of blocks outside of 0 to {columns - 1}")


def _values(values):
    return _flat("data", _arrays.typed("data", values))


def _indices(name, indices):
    indices = numpy.asarray(indices)
    if indices.dtype not in _arrays.INDEX_TYPES:
        raise error("SXT_E_TYPE", f"{name} has dtype {indices.dtype}; int32 and int64 are taken: convert it with astype")
    return _flat(name, indices)


def _flat(name, array):
    if array.ndim != 1:
        raise error("SXT_E_DIMENSION", f"{name} has {array.ndim} dimensions; one is needed")
    return numpy.require(array, requirements=["C", "A"])


def _same_length(first, second, names):
    if first.size != second.size:
        raise error("SXT_E_DIMENSION", f"{names[0]} has {first.size} entries and {names[1]} {second.size}")


def _compressed(form, shape, pointers, indices, values, base):
    pointers, indices, values = _indices("indptr", pointers), _indices("indices", indices), _values(values)
    lines = shape[0] if form == "csr" else shape[1]
    if pointers.size != lines + 1:
        raise error("SXT_E_DIMENSION", f"indptr has {pointers.size} entries; a shape of {tuple(shape)} needs {lines + 1}")
    _same_length(values, indices, ("data", "indices"))
    count = int(pointers[-1]) - base
    if not 0 <= count <= indices.size:
        raise error("SXT_E_INDEX", f"indptr ends with {int(pointers[-1])}, and indices has {indices.size} entries")
    return Entries(form, tuple(shape), pointers, indices, values)


def _coordinates(A, shape, base):
    values, row, col = _values(A[0]), _indices("row", A[1][0]), _indices("col", A[1][1])
    _same_length(values, row, ("data", "row"))
    _same_length(row, col, ("row", "col"))
    if row.dtype != col.dtype:
        row, col = row.astype(numpy.int64), col.astype(numpy.int64)
    if shape is None:
        n = int(max(row.max(), col.max())) + 1 - base if row.size else 0
        shape = (n, n)
    return Entries("coo", _shape(shape, 0), row, col, values)
