# SPDX-License-Identifier: BSD-3-Clause
"""Sparse Cholesky factorisations."""

from __future__ import annotations

import os
from typing import Any, Sequence

import numpy

from . import _arrays, _options
from ._explain import Explanation, explanation
from ._interrupt import interruptible
from ._library import error, ffi, get_text, lib, path_bytes
from ._matrix import as_matrix
from ._objects import Closing, Gate, made
from ._reports import AnalysisInfo, CholeskyInfo, CholeskyReport, from_struct


def _pointer(array):
    return ffi.cast("int64_t *", _arrays.address(array))


class Analysis(Closing):
    """What depends on the pattern of a symmetric matrix alone: the order of elimination and the structure of L.

    Parameters
    ----------
    A : Matrix, or what Matrix takes
        Real symmetric or complex Hermitian.
    order, scheduler : str, optional
        By name: "amd", "dissection", "grid", "metis", ...; left out: by predicted seconds.
    permutation : sequence of int, optional
        Your own order: ``permutation[k]`` is the row eliminated k-th.
    factorization : str, optional
        "llh" (default; A is positive definite) or "ldlh" (also quasi-definite).
    pivot_policy : str, optional
        "fail" (default), "perturb" or "replace", with pivot_tolerance and pivot_value.
    schur_rows : sequence of int, optional
        Rows that are left unfactored.
    expected_factors, expected_solves, expected_rhs : optional
        How many factorisations and solves will be made, and right-hand sides of a solve, for the choice; 1 by default.
    amalgamation, block : int, optional
        Widths of supernodes and of block columns; left out: chosen by the models.
    check_symmetry, symmetry_tolerance : optional
        As of `PCG`; compared at each factorisation.
    memory_limit : int, optional
        Bytes that a factor may take in a GPU's memory; left out: what is there.

    Notes
    -----
    Any number of threads may use it.
    """

    def __init__(self, A: Any, *, permutation: Sequence[int] | None = None, schur_rows: Sequence[int] = (), **options: Any):
        self._make(A, None, permutation, schur_rows, options)

    @classmethod
    def load(cls, A: Any, path: str | os.PathLike, **options: Any) -> Analysis:
        """From a file of `save`, for a matrix of the same pattern: no search for an order. Other patterns are ArgumentError."""
        loaded = cls.__new__(cls)
        loaded._make(A, path, None, options.pop("schur_rows", ()), options)
        return loaded

    def _make(self, A, path, permutation, schur_rows, options):
        self._matrix = as_matrix(A)
        self.context = self._matrix.context
        own = {}
        if permutation is not None:
            permutation = _arrays.numbers("permutation", permutation, numpy.int64)
            if permutation.size != self._matrix.shape[0]:
                raise error("SXT_E_DIMENSION", f"permutation has {permutation.size} rows, and A has {self._matrix.shape[0]}")
            own.update(permutation=_pointer(permutation))
        schur_rows = _arrays.numbers("schur_rows", schur_rows, numpy.int64)
        self._n_schur = schur_rows.size
        if self._n_schur:
            own.update(schur_rows=_pointer(schur_rows), n_schur=self._n_schur)
        settings, keep = _options.make("sxt_analysis_options", "Analysis", options, **own)
        function, file = (lib.sxt_analysis_create, ()) if path is None else (lib.sxt_analysis_load, (path_bytes(path),))
        with self._matrix._gate:
            self._handle = made("sxt_analysis", lib.sxt_analysis_destroy, self.context._call, function, self._matrix._use(), *file, settings)
        del keep
        self._gate = Gate("analysis", self._matrix._gate)

    def save(self, path: str | os.PathLike) -> None:
        """Writes order and widths to a file, for `load`."""
        with self._gate:
            self.context._call(lib.sxt_analysis_save, self._use(), path_bytes(path))

    @property
    def info(self) -> AnalysisInfo:
        """Sizes, predicted seconds and bytes."""
        filled = _options.answer("sxt_analysis_info")
        self.context._call(lib.sxt_analysis_get_info, self._use(), filled)
        return from_struct(AnalysisInfo, filled)

    @property
    def method(self) -> str:
        """The order's name."""
        return get_text(self.context._call, lib.sxt_analysis_get_method, self._use())

    def order(self) -> numpy.ndarray:
        """The rows in the order of elimination."""
        rows = numpy.empty(self._matrix.shape[0], numpy.int64)
        self.context._call(lib.sxt_analysis_get_order, self._use(), rows.size, _pointer(rows))
        return rows

    def explain(self) -> Explanation:
        """Orders and schedulers that were considered, with predicted seconds and bytes."""
        return explanation(self.context._call, lib.sxt_analysis_explain, self._use())

    def __repr__(self):
        return f"<sextant.Analysis {'closed' if self.closed else f'{self.method}, {self.info.nnz_l} entries of L'}>"


class Cholesky(Closing):
    """A factor of a sparse symmetric (Hermitian) matrix: A = P^H L L^H P, or P^H L D L^H P.

    Parameters
    ----------
    A : Matrix, what Matrix takes, or Analysis
        A matrix is analysed and factored at once; of an analysis, call `factor`.
    **options
        Of `Analysis`, where A is a matrix.

    Notes
    -----
    Threads may solve with one factor at a time; `factor` must have it alone (else StateError). Errors: MatrixError names the row
    whose pivot failed; the object then holds no factor, and can be factored again.
    """

    def __init__(self, A: Any, **options: Any):
        given = isinstance(A, Analysis)
        if given and options:
            raise TypeError(f"Cholesky: {next(iter(options))!r} is an option of the analysis that is given")
        #: The analysis that it stands on.
        self.analysis: Analysis = A if given else Analysis(A, **options)
        self._matrix, self.context = self.analysis._matrix, self.analysis.context
        self._n, self._dtype = self._matrix.shape[0], self._matrix.dtype
        self._handle = made("sxt_cholesky", lib.sxt_cholesky_destroy, self.context._call, lib.sxt_cholesky_create, self.analysis._use())
        self._gate = Gate("factor", self._matrix._gate)
        if not given:
            self.factor()

    @property
    def shape(self) -> tuple[int, int]:
        """Of A."""
        return (self._n, self._n)

    def factor(self, A: Any = None) -> Cholesky:
        """Factors the present values of the analysis's matrix, or of another Matrix with its pattern, type and context. No analysis
        is repeated, nothing is allocated. Ctrl-C ends it, and the object then holds no factor. Returns the object itself."""
        other = None if A is None else as_matrix(A, self.context)
        handle, given = self._use(), ffi.NULL if other is None else other._use()
        cancel = ffi.new("int32_t *")
        settings, _ = _options.make("sxt_factor_options", "Cholesky.factor", {}, cancel=cancel)
        with (other or self._matrix)._gate, self._gate.alone():
            interruptible(lambda: self.context._call(lib.sxt_cholesky_factor, handle, given, settings), cancel)
        return self

    def solve(self, b: Any, *, out: Any = None, full_output: bool = False, **options: Any) -> Any:
        """Solves A x = b.

        Parameters
        ----------
        b : array of shape (n,) or (n, k)
        out : array, optional
            Where x goes; it may be b itself.
        full_output : bool, optional
            Also return what was done.
        step : str, optional
            "all" (default), or one part of a solve: "forward", "diagonal" or "backward".
        refine_steps, refine_tolerance : optional
            Steps of iterative refinement, at most, and the relative residual at which they end.

        Returns
        -------
        x : array
        report : CholeskyReport
            With full_output.
        """
        source = _arrays.read("b", b, self._n, self._dtype, self.context)
        target, answer = _arrays.result(b, out, self._n, source, self._dtype, self.context)
        cancel, filled = ffi.new("int32_t *"), _options.answer("sxt_cholesky_solve_report")
        settings, _ = _options.make("sxt_cholesky_solve_options", "Cholesky.solve", options, cancel=cancel)
        handle = self._use()

        def run():
            self.context._call(lib.sxt_cholesky_solve, handle, self._n, source.count, source.pointer, source.ld, target.pointer,
                               target.ld, settings, filled)  # fmt: skip

        with self._gate:
            interruptible(run, cancel)
        return (answer, from_struct(CholeskyReport, filled)) if full_output else answer

    @property
    def info(self) -> CholeskyInfo:
        """Log-determinant, inertia, pivots, and how the last factorisation ended."""
        filled = _options.answer("sxt_cholesky_info")
        self.context._call(lib.sxt_cholesky_get_info, self._use(), filled)
        return from_struct(CholeskyInfo, filled)

    def _factored(self) -> CholeskyInfo:
        info = self.info
        if not info.factored:
            raise error("SXT_E_STATE", "there is no factor: call factor first")
        return info

    @property
    def logdet(self) -> float:
        """log |det A|; of the factored part where there is a Schur complement. `slogdet` has the sign, too."""
        return self._factored().log_determinant

    def slogdet(self) -> tuple[int, float]:
        """The sign of det A, and log |det A|, as ``numpy.linalg.slogdet``."""
        info = self._factored()
        return info.sign, info.log_determinant

    @property
    def inertia(self) -> tuple[int, int, int]:
        """How many eigenvalues of A are positive, negative and zero."""
        info = self._factored()
        return info.positive, info.negative, info.zero

    def changed_pivots(self) -> numpy.ndarray:
        """Rows whose pivots the policy changed, 1024 at most, in the order of elimination."""
        rows, count = numpy.empty(1024, numpy.int64), ffi.new("int64_t *")
        with self._gate:
            self.context._call(lib.sxt_cholesky_changed_pivots, self._use(), rows.size, _pointer(rows), count)
        return rows[: min(count[0], rows.size)].copy()

    def diagonal(self) -> numpy.ndarray:
        """The pivots by rows of A: D, or squares of the diagonal of L."""
        pivots = numpy.empty(self._n)
        with self._gate:
            self.context._call(lib.sxt_cholesky_diagonal, self._use(), self._n, ffi.cast("double *", _arrays.address(pivots)))
        return pivots

    def rcond(self) -> float:
        """An estimate of 1 / (|A|_1 |A^-1|_1) from a few solves."""
        value = ffi.new("double *")
        with self._gate:
            self.context._call(lib.sxt_cholesky_rcond, self._use(), value)
        return value[0]

    def schur(self) -> numpy.ndarray:
        """The Schur complement of `schur_rows`, in their order: both triangles, order 'F'."""
        n = self.analysis._n_schur
        complement = numpy.empty((n, n), self._dtype, order="F")
        with self._gate:
            self.context._call(lib.sxt_cholesky_schur, self._use(), n, _arrays.address(complement), max(n, 1))
        return complement

    def inverse(self, rows: Sequence[int], cols: Sequence[int]) -> numpy.ndarray:
        """Entries (rows[k], cols[k]) of A^-1, which must be entries of A, of L or of the diagonal: IndexRangeError names the one
        that is not. By selected inversion, which takes memory for another factor meanwhile."""
        i, j = _arrays.numbers("rows", rows, numpy.int64), _arrays.numbers("cols", cols, numpy.int64)
        if i.size != j.size:
            raise error("SXT_E_DIMENSION", f"rows has {i.size} entries and cols {j.size}")
        values = numpy.empty(i.size, self._dtype)
        with self._gate:
            self.context._call(lib.sxt_cholesky_inverse, self._use(), i.size, _pointer(i), _pointer(j), _arrays.address(values))
        return values

    def aslinearoperator(self):
        """A^-1 as a ``scipy.sparse.linalg.LinearOperator``, such as for a preconditioner; needs SciPy."""
        from scipy.sparse.linalg import LinearOperator

        return LinearOperator(self.shape, dtype=self._dtype, matvec=self.solve, rmatvec=self.solve, matmat=self.solve, rmatmat=self.solve)

    def __repr__(self):
        return f"<sextant.Cholesky of {self._n} unknowns, {self._dtype}{', closed' if self.closed else ''}>"
