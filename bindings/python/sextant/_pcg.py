# SPDX-License-Identifier: BSD-3-Clause
"""Conjugate gradients."""

from __future__ import annotations

import functools
import operator
from typing import Any, Callable

import numpy

from . import _arrays, _interrupt, _options
from ._callbacks import Callback, callback
from ._explain import Explanation, explanation
from ._library import error, ffi, lib, text
from ._matrix import as_matrix
from ._objects import Closing, Gate, made
from ._reports import Report, from_struct

_HISTORY = 10000  # iterations that history=True keeps


@callback("sextant_progress_function *", error=1)
def _progress(user, iteration, relative_residual):
    found = Callback.of(user)
    return 1 if found is None or Callback.ending or found.function(iteration, relative_residual) else 0


class PCG(Closing):
    """A set-up of preconditioned conjugate gradients: preconditioner, storage, kernels, recurrence and engine, chosen once for
    any number of solves.

    Parameters
    ----------
    A : Matrix, or what Matrix takes
        Real symmetric or complex Hermitian, positive definite (semidefinite with a null space).
    preconditioner, recurrence, engine, format : str, optional
        Parts by name; what is left out, the models choose.
    rtol, atol : float, optional
        Stop when ``|b - A x| <= max(rtol |b|, atol)``; by default 1e-8 in double and 1e-5 in single precision, and 0.
    norm : str, optional
        Of that test: "2" (default) or "max".
    max_iterations, time_limit : optional
        Limits of one solve; time_limit in seconds.
    expected_solves : float, optional
        How many solves will be made: a set-up that costs more may then pay.
    null_space : array of shape (n,) or (n, k), or True, optional
        Vectors that A turns into 0; True: the vector of equal values.
    check_symmetry : bool, optional
        Whether A is compared with its transpose; True by default.
    symmetry_tolerance : float, optional
        How far a_ij and conj(a_ji) may lie apart, over sqrt(a_ii a_jj); 0, the default: as far as rounding explains.
    divergence_limit : float, optional
        A solve ends as diverged when its residual norm is this many times that of the start; 1e8 by default.
    stagnation_window : int, optional
        A solve ends as stagnated after so many iterations without a new least residual norm; 10000 by default.
    expected_iterations : float, optional
        Of a solve, for the choice; estimated where it is left out.
    probe : int, optional
        Iterations on A itself for that estimate: 0 (default): some, where they cost little; negative: none; positive: at most so many.
    reorder : int, optional
        Whether rows are renumbered: 0 (default): where it is predicted to pay; negative: never; positive: always.

    Notes
    -----
    Threads may share a set-up. It stays usable after the matrix is closed. Errors: MatrixError names the entry or row where A is
    not square, not symmetric, or not positive on its diagonal.
    """

    def __init__(self, A: Any, *, null_space: Any = None, **options: Any):
        self._matrix = as_matrix(A)
        self.context, self._n, self._dtype = self._matrix.context, self._matrix.shape[0], self._matrix.dtype
        vectors = self._null_space(null_space)
        given = {} if vectors is None else {"null_space": _arrays.address(vectors), "null_space_size": vectors.shape[1]}
        settings, keep = _options.make("sxt_pcg_options", "PCG", options, **given)
        with self._matrix._gate:
            self._handle = made("sxt_pcg", lib.sxt_pcg_destroy, self.context._call, lib.sxt_pcg_create, self._matrix._use(), settings)
        del keep
        self._gate = Gate("solver", self._matrix._gate)

    def _null_space(self, given):
        if given is None or given is False:
            return None
        if given is True:
            return numpy.ones((self._n, 1), self._dtype, order="F")
        columns = _arrays.read("null_space", given, self._n, self._dtype, self.context)
        if columns.device:
            raise error("SXT_E_NOT_SUPPORTED", "null_space lies in device memory; host memory is taken")
        return numpy.asfortranarray(columns.array.reshape(self._n, columns.count))

    @property
    def shape(self) -> tuple[int, int]:
        """Of A."""
        return (self._n, self._n)

    def solve(self, b: Any, x0: Any = None, *, out: Any = None, progress: Callable[[int, float], object] | None = None,
              history: bool | int = False, interruptible: bool | None = None, **options: Any) -> tuple[Any, Any]:  # fmt: skip
        """Solves A x = b.

        Parameters
        ----------
        b : array of shape (n,) or (n, k)
            Columns are independent systems.
        x0 : array, optional
            A guess, of b's shape; it is not changed unless it is `out`.
        out : array, optional
            Where x goes; its columns are contiguous.
        progress : callable, optional
            ``progress(iteration, relative_residual)`` on this thread; True ends the solve. What it raises is raised once the
            solve has ended.
        history : bool or int, optional
            Keep the residual norms of the first iterations (so many, or 10000) in ``report.history``.
        interruptible : bool, optional
            Whether Ctrl-C ends the solve; by default where b is one right-hand side. Several are then solved one after the other
            instead of together.
        rtol, atol, max_iterations, time_limit : optional
            Other limits than those of the set-up.

        Returns
        -------
        x : array
            The solution, or the best iterate.
        report : Report, or a list of one for each column
            ``report.converged`` says whether the true residual met the tolerance, ``report.reason`` why the solve ended.

        Notes
        -----
        Python's global lock is free during the call. Ctrl-C raises KeyboardInterrupt once the solve has ended. ArgumentError names
        the entry of b that is not finite.
        """
        source = _arrays.read("b", b, self._n, self._dtype, self.context)
        target, answer = _arrays.result(b, out, self._n, source, self._dtype, self.context)
        alone = source.count == 1 if interruptible is None else interruptible
        cancel = ffi.new("int32_t *") if progress is None and alone else None
        call = _Solve(self, source.count, progress, history, options, cancel=cancel, use_initial_guess=x0 is not None)
        if x0 is not None:
            _start(x0, target, self)
        with self._gate:
            if cancel is None:
                call.run(source, target)
            else:
                _interrupt.interruptible(lambda: call.run(source, target), cancel)
        reports = call.reports()
        return answer, reports[0] if source.one else reports

    def explain(self) -> Explanation:
        """The plan: the kernel chosen for each part, the alternatives, their predicted costs, and why others were refused."""
        with self._gate:
            return explanation(self.context._call, lib.sxt_pcg_explain, self._use())

    def __repr__(self):
        return f"<sextant.PCG of {self._n} unknowns, {self._dtype}{', closed' if self.closed else ''}>"


def _start(x0, target, pcg):
    """The guess, to where x will be."""
    guess = _arrays.read("x0", x0, pcg._n, pcg._dtype, pcg.context)
    if (guess.one, guess.count) != (target.one, target.count):
        raise error("SXT_E_DIMENSION", f"x0 has shape {tuple(guess.array.shape)}, and b has shape {tuple(target.array.shape)}")
    if guess.device != target.device:
        raise error("SXT_E_NOT_SUPPORTED", "x0 and x must both lie on the host or both on the device")
    if not guess.device:
        target.array[...] = guess.array
    elif guess.pointer != target.pointer:
        raise error("SXT_E_NOT_SUPPORTED", "a guess in device memory must be given as out, too: x begins from its values")


class _Solve:
    """One solve: its options, and what the library writes during it."""

    def __init__(self, pcg, count, progress, history, options, **own):
        self._pcg, self._count = pcg, count
        self._callback = Callback(progress) if progress else None
        self._capacity = _HISTORY if history is True else operator.index(history)
        if self._capacity < 0:
            raise error("SXT_E_ARGUMENT", f"PCG.solve: history = {history} is negative")
        self._history = numpy.empty((count, self._capacity)) if self._capacity else None
        self._lengths = numpy.zeros(count, numpy.int64)
        if self._capacity:
            own.update(history=ffi.cast("double *", _arrays.address(self._history)), history_capacity=self._capacity,
                       history_length=ffi.cast("int64_t *", _arrays.address(self._lengths)))  # fmt: skip
        if self._callback:
            own.update(progress=_progress, progress_user=self._callback.user)
        self._options, self._keep = _options.make("sxt_solve_options", "PCG.solve", options, **own)
        self._filled = ffi.new("sxt_pcg_report[]", count)
        for each in self._filled:
            each.struct_size = ffi.sizeof("sxt_pcg_report")

    def run(self, source, target):
        pcg, call = self._pcg, self._pcg.context._call
        if self._callback:  # around the context's own
            call = functools.partial(self._callback.call, call)
        try:
            if source.one:
                call(lib.sxt_pcg_solve_array, pcg._use(), pcg._n, source.pointer, target.pointer, self._options, self._filled)
            else:
                call(lib.sxt_pcg_solve_block, pcg._use(), pcg._n, source.count, source.pointer, source.ld, target.pointer,
                     target.ld, self._options, self._filled)  # fmt: skip
        finally:
            if self._callback:
                self._callback.close()

    def reports(self):
        return [self._report(column) for column in range(self._count)]

    def _report(self, column):
        filled, history = self._filled[column], None
        if self._history is not None:
            history = self._history[column, : min(self._lengths[column], self._capacity)]
        return from_struct(Report, filled, reason=text(lib.sxt_reason_name(filled.reason)),
                           reason_sentence=text(lib.sxt_reason_sentence(filled.reason)), history=history)  # fmt: skip
