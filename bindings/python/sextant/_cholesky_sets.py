# SPDX-License-Identifier: BSD-3-Clause
"""Sparse Cholesky factorisations of many matrices of one pattern."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy

from . import _arrays, _dlpack, _options
from ._cholesky import Analysis
from ._explain import Explanation, explanation
from ._interrupt import interruptible
from ._library import error, ffi, lib
from ._objects import Closing, Gate, made
from ._reports import CholeskySetsInfo, CholeskySetsOutcomes, from_struct

_MEMBERS = {"int32_t": numpy.int32, "int64_t": numpy.int64, "double": numpy.float64}


class _Block:
    """Columns of several sets: an address, values from column to column and from set to set, columns of a set."""

    def __init__(self, name: str, array, count: int, n: int, context):
        self.name, self.array = name, array
        self.device = isinstance(array, _dlpack.DeviceArray)
        if array.ndim not in (2, 3) or tuple(array.shape[:2]) != (count, n):
            raise error("SXT_E_DIMENSION", f"{name} has shape {tuple(array.shape)}; ({count}, {n}) or ({count}, {n}, k) is needed")
        if self.device and context.kind != "cuda":
            raise error("SXT_E_ARGUMENT", f"{name} lies in the memory of CUDA device {array.ordinal}, and this context computes on the "
                        "CPU: copy it to the host, or make the matrix in Context('cuda')")  # fmt: skip
        self.one, self.columns = array.ndim == 2, 1 if array.ndim == 2 else array.shape[2]
        self.pointer = ffi.cast("void *", array.address) if self.device else _arrays.address(array)
        strides = _arrays._strides(array)
        self.fits = strides is not None and (n < 2 or strides[1] == 1)
        if self.fits:
            self.ld = strides[2] if self.columns > 1 else max(n, 1)
            self.stride = strides[0] if count > 1 else max(n, 1) + max(0, self.columns - 1) * self.ld
            self.fits = self.ld >= max(n, 1) and self.stride >= 0


class CholeskySets(Closing):
    """Factors of many matrices of one pattern: sets of values that are factored and solved in one call.

    Parameters
    ----------
    A : Matrix, what Matrix takes, or Analysis
        Its pattern; its own values are not read.
    count : int
        Sets, 1 or more.
    **options
        Of `Analysis`, where A is a matrix.

    Notes
    -----
    Threads may solve at a time; `factor` must have the object alone (else StateError). Errors: where sets fail, MatrixError names the
    first of them; the others have their factors, and `outcomes` says which.
    """

    def __init__(self, A: Any, count: int, **options: Any):
        given = isinstance(A, Analysis)
        if given and options:
            raise TypeError(f"CholeskySets: {next(iter(options))!r} is an option of the analysis that is given")
        #: The analysis that it stands on.
        self.analysis: Analysis = A if given else Analysis(A, **options)
        self._matrix, self.context = self.analysis._matrix, self.analysis.context
        self._n, self._dtype = self._matrix.shape[0], self._matrix.dtype
        #: Sets.
        self.count: int = int(count)
        self._handle = made("sxt_cholesky_sets", lib.sxt_cholesky_sets_destroy, self.context._call, lib.sxt_cholesky_sets_create,
                            self.analysis._use(), self.count)  # fmt: skip
        self._gate = Gate("sets", self._matrix._gate)

    def _range(self, first, sets):
        """The sets that an array of so many is for."""
        if first < 0 or first + sets > self.count:
            raise error("SXT_E_INDEX", f"sets {first} to {first + sets - 1} are asked for; there are {self.count}, counted from 0")

    def factor(self, values: Any, *, first: int = 0) -> CholeskySets:
        """Factors sets.

        Parameters
        ----------
        values : array of shape (sets, nnz)
            A row for each set, in the order in which `Matrix.update_values` takes them; on a GPU also in its memory (DLPack).
        first : int, optional
            The first set that they are for; the others keep their factors.

        Returns
        -------
        CholeskySets
            The object itself.
        """
        array = _arrays.as_array("values", values, self._dtype, self.context._stream)
        if array.ndim != 2:
            raise error("SXT_E_DIMENSION", f"values has shape {tuple(array.shape)}; (sets, nnz) is needed")
        sets, nnz = array.shape
        strides = _arrays._strides(array)
        if strides is None or (nnz > 1 and strides[1] != 1) or (sets > 1 and strides[0] < nnz):
            if isinstance(array, _dlpack.DeviceArray):
                raise error("SXT_E_ARGUMENT", "values: rows in device memory must be contiguous")
            array = numpy.array(array, order="C", copy=True)
            strides = (nnz, 1)
        self._range(first, sets)
        device = isinstance(array, _dlpack.DeviceArray)
        pointer = ffi.cast("void *", array.address) if device else _arrays.address(array)
        cancel = ffi.new("int32_t *")
        settings, _ = _options.make("sxt_cholesky_sets_options", "CholeskySets.factor", {}, cancel=cancel)
        handle, stride = self._use(), strides[0] if sets > 1 else nnz

        def run():
            self.context._call(lib.sxt_cholesky_sets_factor, handle, first, sets, nnz, pointer, stride, settings)

        with self._gate.alone():
            interruptible(run, cancel)
        return self

    def solve(self, b: Any, *, out: Any = None, first: int = 0) -> Any:
        """Solves A x = b with the factor of each set.

        Parameters
        ----------
        b : array of shape (sets, n) or (sets, n, k)
            Right-hand sides of each set. Used where they lie where the n values of a column are contiguous, else copied.
        out : array, optional
            Where x goes; it may be b itself.
        first : int, optional
            The first set that they are for.

        Returns
        -------
        x : array
            NaN where a set has no factor.
        """
        array = _arrays.as_array("b", b, self._dtype, self.context._stream)
        sets = array.shape[0] if array.ndim else 0
        self._range(first, sets)
        source = _Block("b", array, sets, self._n, self.context)
        if not source.fits:
            if source.device:
                raise error("SXT_E_ARGUMENT", "b: columns in device memory must be contiguous")
            source = _Block("b", self._like(source, array), sets, self._n, self.context)
        if out is not None:
            target = _Block("out", _arrays.as_array("out", out, self._dtype, self.context._stream), sets, self._n, self.context)
            self._check_target(target, source)
            answer = out
        elif source.device:
            raise error("SXT_E_ARGUMENT", "b lies in device memory: give the array for the solutions as out")
        else:
            answer = self._like(source)
            target = _Block("out", answer, sets, self._n, self.context)
        cancel = ffi.new("int32_t *")
        settings, _ = _options.make("sxt_cholesky_sets_options", "CholeskySets.solve", {}, cancel=cancel)
        handle = self._use()

        def run():
            self.context._call(lib.sxt_cholesky_sets_solve, handle, first, sets, self._n, source.columns, source.pointer, source.ld,
                               source.stride, target.pointer, target.ld, target.stride, settings)  # fmt: skip

        with self._gate:
            interruptible(run, cancel)
        return answer

    def _like(self, block, values=None):
        """A new array of a block's shape with contiguous columns."""
        sets = block.array.shape[0]
        made = numpy.empty((sets, self._n) if block.one else (sets, block.columns, self._n), self._dtype)
        made = made if block.one else made.transpose(0, 2, 1)
        if values is not None:
            made[...] = values
        return made

    def _check_target(self, target, source):
        writable = target.array.writeable if target.device else target.array.flags.writeable
        if tuple(target.array.shape) != tuple(source.array.shape):
            raise error("SXT_E_DIMENSION", f"out has shape {tuple(target.array.shape)}, and b has shape {tuple(source.array.shape)}")
        if not writable:
            raise error("SXT_E_ARGUMENT", "out is read-only")
        if not target.fits:
            raise error("SXT_E_ARGUMENT", "out is written in place: the values of each column must be contiguous and aligned")

    @property
    def outcomes(self) -> CholeskySetsOutcomes:
        """How each set stands: status, the row that failed, log-determinant, inertia, pivots."""
        arrays = {}
        to = ffi.new("sxt_cholesky_sets_outcomes *")
        lib.sxt_cholesky_sets_outcomes_init(to, ffi.sizeof("sxt_cholesky_sets_outcomes"))
        for member in fields(CholeskySetsOutcomes):
            pointed = dict(ffi.typeof("sxt_cholesky_sets_outcomes").fields)[member.name].type
            arrays[member.name] = numpy.empty(self.count, _MEMBERS[pointed.item.cname])
            setattr(to, member.name, ffi.cast(pointed, _arrays.address(arrays[member.name])))
        with self._gate:
            self.context._call(lib.sxt_cholesky_sets_get_outcomes, self._use(), 0, self.count, to)
        return CholeskySetsOutcomes(**arrays)

    @property
    def info(self) -> CholeskySetsInfo:
        """Bytes and seconds, and how many sets have a factor."""
        filled = _options.answer("sxt_cholesky_sets_info")
        self.context._call(lib.sxt_cholesky_sets_get_info, self._use(), filled)
        return from_struct(CholeskySetsInfo, filled)

    def explain(self) -> Explanation:
        """Schedulers that were considered for so many sets, and how the chosen one works on them."""
        return explanation(self.context._call, lib.sxt_cholesky_sets_explain, self._use())

    def __len__(self):
        return self.count

    def __repr__(self):
        return f"<sextant.CholeskySets, {self.count} of {self._n} unknowns, {self._dtype}{', closed' if self.closed else ''}>"
