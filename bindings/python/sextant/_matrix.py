# SPDX-License-Identifier: BSD-3-Clause
"""Sparse matrices and their products."""

from __future__ import annotations

import os
from typing import Any

import numpy

from . import _arrays, _options, _sources
from ._context import Context, default_context
from ._explain import Explanation, explanation
from ._library import NULL, error, ffi, lib, name_bytes, path_bytes, text
from ._objects import Closing, Gate, made

# What an operator becomes when it is transposed, and when it is transposed and conjugated. C: conjugated alone.
_TRANSPOSED = {"N": "T", "T": "N", "H": "C", "C": "H"}
_ADJOINT = {"N": "H", "H": "N", "T": "C", "C": "T"}
_FROM = {"coo": lib.sxt_matrix_from_coo, "csr": lib.sxt_matrix_from_csr, "csc": lib.sxt_matrix_from_csc}
_OPS = {"N": lib.SXT_NO_TRANSPOSE, "T": lib.SXT_TRANSPOSE, "H": lib.SXT_CONJUGATE_TRANSPOSE}


class Operator:
    """A matrix, or its transpose: what SciPy's ``aslinearoperator`` and NumPy's ``@`` need of it."""

    __array_ufunc__ = None  # NumPy leaves x @ A to this class
    ndim = 2
    _matrix: Matrix
    _op = "N"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, cols = self._matrix._shape
        return (rows, cols) if self._op in "NC" else (cols, rows)

    @property
    def dtype(self) -> numpy.dtype:
        """Of the values: float32, float64, complex64 or complex128."""
        return self._matrix._dtype

    def _other(self, op: str) -> Operator:
        if self.dtype.kind == "f":
            op = {"H": "T", "C": "N"}.get(op, op)
        return self._matrix if op == "N" else Transpose(self._matrix, op)

    @property
    def T(self) -> Operator:  # NumPy's name
        """The transpose; it shares everything with the matrix."""
        return self._other(_TRANSPOSED[self._op])

    @property
    def H(self) -> Operator:
        """The conjugate transpose; it shares everything with the matrix."""
        return self._other(_ADJOINT[self._op])

    def multiply(self, x: Any, *, out: Any = None, alpha: complex | None = None, beta: complex | None = None) -> Any:
        """alpha op(A) x + beta out.

        Parameters
        ----------
        x : array of shape (n,) or (n, k)
            Of the matrix's dtype: NumPy, or a tensor that speaks DLPack, on the host or, in a context of a GPU, on the device.
            Contiguous columns are used where they lie; others are copied, on the host alone.
        out : array, optional
            Where the result goes, apart from x; its columns are contiguous. Else a new array of the kind that x is.
        alpha, beta : numbers, optional
            1 and 0 where they are left out. beta needs out.

        Returns
        -------
        array
            `out`, or the new array; several columns are in order 'F'.
        """
        if beta is not None and out is None:
            raise error("SXT_E_ARGUMENT", "multiply: beta needs out, whose values it multiplies")
        if self._op == "C":
            return self._conjugated(x, out, alpha, beta)
        matrix = self._matrix
        rows, cols = self.shape
        source = _arrays.read("x", x, cols, matrix._dtype, matrix.context)
        target, answer = _arrays.result(x, out, rows, source, matrix._dtype, matrix.context)
        scalars = [self._scalar(name, value) for name, value in (("alpha", alpha), ("beta", beta))]
        with matrix._gate:
            call, handle = matrix.context._call, matrix._use()
            if source.one:
                call(lib.sxt_spmv_array, _OPS[self._op], scalars[0], handle, source.pointer, scalars[1], target.pointer)
            else:
                call(lib.sxt_spmv_block, _OPS[self._op], scalars[0], handle, source.count, source.pointer, source.ld, scalars[1],
                     target.pointer, target.ld)  # fmt: skip
        return answer

    def _scalar(self, name, value):
        if value is None:
            return NULL
        real, given, kept = self.dtype.kind == "f", None, None
        try:
            given = numpy.asarray(value)
            kept = numpy.asarray(given.real if real else given, self.dtype)
        except (TypeError, ValueError):
            pass
        if kept is None or kept.ndim or given.dtype.kind not in "biufcO":
            raise error("SXT_E_ARGUMENT", f"multiply: {name} must be a number, not {value!r}")
        if real and given.imag:
            raise error("SXT_E_TYPE", f"multiply: {name} = {value} is complex, and the matrix is real")
        return ffi.from_buffer(kept.reshape(1))

    def _conjugated(self, x, out, alpha, beta):
        """conj(A) x = conj(A conj(x)), on the host."""
        if alpha is not None or beta is not None or out is not None:
            raise error("SXT_E_NOT_SUPPORTED", "multiply: the conjugate of a matrix takes neither out nor alpha nor beta")
        return numpy.conj(self._matrix.multiply(numpy.conj(_arrays.on_host("x", x, self.dtype, "the conjugate of a matrix"))))

    def __matmul__(self, x: Any) -> Any:
        if isinstance(x, Operator) or hasattr(x, "tocsr"):
            return NotImplemented
        return self.multiply(x)

    def __rmatmul__(self, x: Any) -> Any:
        """x @ A: rows of x times A."""
        return self.T.multiply(_arrays.on_host("x", x, self.dtype, "x @ A").T).T

    def dot(self, x: Any) -> Any:
        """A @ x."""
        return self.multiply(x)

    # The names by which SciPy asks.
    def matvec(self, x: Any) -> Any:
        """A @ x for x of shape (n,) or (n, 1), whose shape the result has."""
        return self.multiply(x)

    def rmatvec(self, x: Any) -> Any:
        """A.H @ x, as `matvec`."""
        return self.H.multiply(x)

    def matmat(self, x: Any) -> Any:
        """A @ x for columns."""
        return self.multiply(x)

    def rmatmat(self, x: Any) -> Any:
        """A.H @ x for columns."""
        return self.H.multiply(x)

    def aslinearoperator(self):
        """This as a ``scipy.sparse.linalg.LinearOperator``; needs SciPy."""
        from scipy.sparse.linalg import aslinearoperator

        return aslinearoperator(self)


class Transpose(Operator):
    """The transpose or conjugate transpose of a matrix: ``A.T``, ``A.H``."""

    def __init__(self, matrix: Matrix, op: str):
        self._matrix, self._op = matrix, op

    def __repr__(self):
        return f"<sextant transpose {self.shape[0]} x {self.shape[1]} of {self._matrix!r}>"


class Matrix(Operator, Closing):
    """A sparse matrix, copied into the library.

    Parameters
    ----------
    A : sparse matrix or array of SciPy, tuple, or path
        Any format of SciPy (CSR, CSC and COO as they are, with indices in any order; others by ``tocsr``), or
        ``(data, indices, indptr)`` of CSR, or ``(data, (row, col))``, or the path of a Matrix Market file, plain or gzip. Values
        are float32, float64, complex64 or complex128, indices int32 or int64.
    context : Context, optional
        By default `default_context()`.
    shape : (int, int), optional
        For tuples; a square matrix where it is left out.
    dtype : optional
        For files: another type than the file's.
    symmetry : str, optional
        What is known: "general" (default), "symmetric", "hermitian" or "skew".
    triangle : str, optional
        The part that A holds where it is not general: "full" (default), "lower" or "upper".
    duplicates : str, optional
        "sum" (default) or "refuse".
    index_base : int, optional
        What indices in arrays count from: 0 (default) or 1.
    keep_order : bool, optional
        Whether `update_values` takes values in the order of A's arrays: True (default for arrays), or False: row by row.
    check_finite : bool, optional
        Whether NaN and infinity are refused, by `update_values` too; True by default.
    symmetry_tolerance : float, optional
        How far the diagonal of a Hermitian or skew matrix may lie from real numbers or from 0; 0, the default: by rounding.
    most_rows_per_byte : float, optional
        Of files: a file whose header promises more rows or columns for each of its bytes is refused; 0, the default: 1000; negative: none.

    Notes
    -----
    Any number of threads may use a matrix; `update_values` must have it alone.
    """

    def __init__(self, A: Any, *, context: Context | None = None, shape: tuple[int, int] | None = None, dtype: Any = None, **options: Any):
        self.context = context if context is not None else default_context()
        if not isinstance(self.context, Context):
            raise TypeError(f"Matrix: context must be a sextant.Context, not {type(self.context).__name__}")
        self._order = None
        with self.context._gate:
            if isinstance(A, (str, os.PathLike)):
                self._handle = self._from_file(A, dtype, shape, options)
            else:
                self._handle = self._from_arrays(A, dtype, shape, options)
        self._gate = Gate("matrix", self.context._gate)
        info = self._info()
        self._shape = (info.rows, info.cols)
        self._dtype = _arrays.DTYPES[info.value_type]

    def _made(self, function, *arguments):
        return made("sxt_matrix", lib.sxt_matrix_destroy, self.context._call, function, self.context._use(), *arguments)

    def _from_file(self, path, dtype, shape, options):
        if shape is not None:
            raise error("SXT_E_ARGUMENT", "Matrix: a file has its own shape")
        value_type = 0
        if dtype is not None:
            _arrays.check_values("Matrix: dtype", numpy.dtype(dtype))
            value_type = _arrays.TYPES[numpy.dtype(dtype)]
        settings, keep = _options.make("sxt_matrix_options", "Matrix", options, value_type=value_type)
        handle = self._made(lib.sxt_matrix_from_file, path_bytes(path), settings)
        del keep
        return handle

    def _from_arrays(self, A, dtype, shape, options):
        if dtype is not None:
            raise error("SXT_E_ARGUMENT", "Matrix: dtype is for files; convert arrays with astype")
        entries = _sources.entries(A, shape, options.get("index_base") or 0)
        self._order = entries.order
        types = {"value_type": _arrays.TYPES[entries.values.dtype], "index_type": _arrays.INDEX_TYPES[entries.second.dtype],
                 "offset_type": 0 if entries.form == "coo" else _arrays.INDEX_TYPES[entries.first.dtype]}  # fmt: skip
        settings, keep = _options.make("sxt_matrix_options", "Matrix", options, **types)
        first, second, values = map(_arrays.address, (entries.first, entries.second, entries.values))
        count = (entries.count,) if entries.form == "coo" else ()
        handle = self._made(_FROM[entries.form], *entries.shape, *count, first, second, values, settings)
        del keep
        return handle

    @property
    def _matrix(self):
        return self

    def _info(self):
        info = _options.answer("sxt_matrix_info")
        self.context._call(lib.sxt_matrix_get_info, self._use(), info)
        return info

    @property
    def nnz(self) -> int:
        """Entries: of both triangles, duplicates summed."""
        return self._info().nnz

    @property
    def nbytes(self) -> int:
        """Bytes of all storages that are held."""
        return self._info().bytes

    @property
    def symmetry(self) -> str:
        """As stated when it was made."""
        return _options.name_of("symmetry", self._info().symmetry)

    def update_values(self, values: Any) -> None:
        """New values on the same pattern.

        Parameters
        ----------
        values : array
            Of the matrix's dtype, in the order of the arrays that it was made from (of BSR: its ``data``; of formats that were
            converted: that of ``A.tocsr()``), or in canonical order with ``keep_order=False``. NaN and infinity are refused.

        Notes
        -----
        Solvers made from the matrix use them from their next solve on. On an error the old values stay. No other call on the
        matrix or on its solvers may be running: StateError.
        """
        values = numpy.ascontiguousarray(_arrays.on_host("values", values, self._dtype, "update_values")).reshape(-1)
        if self._order is not None and values.size == self._order.size:
            values = values[self._order]
        with self._gate.alone():
            self.context._call(lib.sxt_matrix_update_values, self._use(), _arrays.address(values), values.size)

    def csr(self) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """Copies of (data, indices, indptr) in canonical order: both triangles, columns ascending."""
        info, parts = self._info(), ffi.new("const void *[3]")
        with self._gate:
            self.context._call(lib.sxt_matrix_get_csr, self._use(), parts, parts + 1, parts + 2)
            index = {lib.SXT_I32: numpy.dtype(numpy.int32), lib.SXT_I64: numpy.dtype(numpy.int64)}
            wanted = ((parts[2], self._dtype, info.nnz), (parts[1], index[info.index_type], info.nnz),
                      (parts[0], index[info.offset_type], info.rows + 1))  # fmt: skip
            return tuple(_copy(*each) for each in wanted)

    def to_scipy(self):
        """A copy as a ``scipy.sparse.csr_array``; needs SciPy."""
        from scipy.sparse import csr_array

        return csr_array(self.csr(), shape=self.shape)

    def feature(self, name: str) -> float:
        """A named number about the matrix, such as "row_nnz_max", computed at the first request."""
        value = ffi.new("double *")
        with self._gate:
            self.context._call(lib.sxt_matrix_feature, self._use(), name_bytes("feature: name", name), value)
        return value[0]

    @staticmethod
    def feature_names() -> list[str]:
        """The names that `feature` takes."""
        names: list[str] = []
        while name := lib.sxt_feature_name(len(names)):
            names.append(text(name))
        return names

    def explain(self, *, products: float = 1000, columns: int = 1) -> Explanation:
        """Which kernel products would take where so many are expected, and why. Nothing is built."""
        query, kind = ffi.new("sxt_spmv_query *"), ffi.new("char[]", b"sxt.spmv/1")
        query.m.q.h.struct_size, query.m.q.h.kind = ffi.sizeof("sxt_spmv_query"), kind
        query.m.q.expected_runs = products
        query.m.q.flags = lib.SXT_QUERY_MATRIX | lib.SXT_QUERY_PREDICT_ONLY
        query.m.q.value_type = _arrays.TYPES[self._dtype]
        query.n_rhs = columns
        call = self.context._call
        with self._gate:
            selection = made("sxt_selection", lib.sxt_selection_destroy, call, lib.sxt_kernel_select, self.context._use(),
                             ffi.addressof(query.m.q), self._use())  # fmt: skip
            return explanation(call, lib.sxt_selection_explain, selection.item())

    def __repr__(self):
        state = "closed" if self.closed else f"{self.nnz} entries"
        return f"<sextant.Matrix {self._shape[0]} x {self._shape[1]}, {self._dtype}, {state}>"


def _copy(pointer, dtype, count):
    """An array of the library's as one of NumPy's own."""
    return numpy.frombuffer(ffi.buffer(pointer, count * dtype.itemsize), dtype).copy()


def as_matrix(A, context: Context | None = None) -> Matrix:
    """A itself where it is a Matrix, else one made from it."""
    if isinstance(A, Matrix):
        return A
    if isinstance(A, Operator):
        raise TypeError("a transpose cannot be solved with; make a Matrix of it")
    return Matrix(A, context=context)
