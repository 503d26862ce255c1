# SPDX-License-Identifier: BSD-3-Clause
"""A x = b in one call: by the library's choice, and as SciPy's cg is called."""

from __future__ import annotations

from typing import Any, Callable

import numpy

from . import _arrays
from ._cholesky import Analysis, Cholesky
from ._compare import Choice, compare, given, settled
from ._errors import NotConvergedError, SextantError
from ._library import error, lib
from ._matrix import Matrix, Operator, as_matrix
from ._pcg import PCG
from ._reports import Report, SolveReport

_REFINEMENTS = 5  # of a direct solve, at most
# Ends of conjugate gradients after which a factorisation may do: A may be positive definite, and no limit of time was met.
_MAY_FACTOR = ("iteration-limit", "stagnated", "diverged", "breakdown", "not-a-number", "m-indefinite")
# Failures of a direct solve after which conjugate gradients may do.
_MAY_ITERATE = ("SXT_E_MEMORY", "SXT_E_NOT_POSITIVE_DEFINITE", "SXT_E_NOT_FINITE", "SXT_E_NO_KERNEL", "SXT_E_NOT_SUPPORTED")
# Options of conjugate gradients that an analysis has, too.
_SHARED = ("check_symmetry", "symmetry_tolerance", "expected_solves")


def solve(A: Any, b: Any, *, method: str = "auto", rtol: float | None = None, x0: Any = None, out: Any = None, full_output: bool = False,
          **options: Any) -> Any:  # fmt: skip
    """Solves A x = b for a symmetric (Hermitian) positive definite A.

    Parameters
    ----------
    A : Matrix, or what Matrix takes
    b : array of shape (n,) or (n, k)
    method : str, optional
        "pcg", "cholesky", or "auto" (default): by predicted seconds, as ``sextant solve --method auto``. x0, norm="max", and options that
        only conjugate gradients have mean these. Where one method cannot do it, the other one is tried.
    rtol : float, optional
        Of the residual: ``|b - A x| <= rtol |b|``; by default 1e-8 in double and 1e-5 in single precision. A direct solve is refined
        until it holds.
    x0, out : array, optional
        A guess, which "cholesky" does not use; where x goes: memory apart from b, except with "cholesky", which takes b itself.
    full_output : bool, optional
        Also return what was done.
    **options
        Of `PCG`, such as atol, or of `Analysis` with method="cholesky".

    Returns
    -------
    x : array
    report : SolveReport
        With full_output: the method, why it was taken, and how it ended.

    Raises
    ------
    NotConvergedError
        The tolerance was not met: it has the best x and the report of the method that x comes from.
    MatrixError
        A is not symmetric or not positive definite; the sentence names the entry or row.
    """
    if method not in ("auto", "pcg", "cholesky"):
        raise error("SXT_E_UNKNOWN_NAME", f"solve: method must be 'auto', 'pcg' or 'cholesky', not {method!r}")
    matrix = as_matrix(A)
    rtol = _tolerance("rtol", rtol) if rtol is not None else (1e-8 if matrix.dtype in ("f8", "c16") else 1e-5)
    if options.get("atol") is not None:
        _tolerance("atol", options["atol"])
    if method == "cholesky":
        choice = Choice("cholesky", "it was asked for")
        x, details = _direct(Analysis(matrix, **options), b, rtol, out)
    else:
        x, details, choice = _iterative(matrix, b, method, rtol, x0, out, options)
    report = SolveReport(choice.method, choice.why, choice.pcg_seconds, choice.cholesky_seconds, choice.cholesky_bytes, details)
    return (x, report) if full_output else x


def _iterative(matrix, b, method, rtol, x0, out, options):
    """By conjugate gradients; with "auto" by a factorisation where it is predicted to take less, or where they end short. Returns x,
    the report, and the choice."""
    _apart(matrix, b, out)
    shared = {name: options[name] for name in _SHARED if name in options}
    with PCG(matrix, rtol=rtol, **options) as solver:
        choice = Choice("pcg", "it was asked for") if method == "pcg" else settled(options, x0)
        if choice is None:
            x, report, choice = _cheapest(solver, b, rtol, out, options, shared)
            if choice.method == "cholesky":
                return x, report, choice
        x, reports = solver.solve(b, x0, out=out)
    columns = reports if isinstance(reports, list) else [reports]
    worst = next((each for each in columns if not each.converged), None)
    if worst is None:
        return x, reports, choice
    direct = method == "auto" and not choice.direct_failed and not given(options.get("null_space")) and options.get("norm") in (None, "2")
    if direct and worst.reason in _MAY_FACTOR:
        choice.method, choice.why = "cholesky", f"conjugate gradients ended short: {worst.reason_sentence}"
        wanted = _least(rtol, options.get("atol"), [each.rhs_norm for each in columns])
        return (*_direct(Analysis(matrix, **shared), b, wanted, out), choice)
    raise _not_converged(f"{worst.reason_sentence}; |b - A x| / |b| = {worst.true_relative_residual:.3g} "
                         f"after {worst.iterations} iterations", x, reports)  # fmt: skip


def _tolerance(name, given):
    """A number that a residual can be compared with, whatever the method: the C interface takes a negative one for its default."""
    try:
        value = float(given)
    except (TypeError, ValueError):
        value = -1.0
    if not 0 <= value < float("inf"):
        raise error("SXT_E_ARGUMENT", f"solve: {name} must be a finite number that is not negative, not {given!r}")
    return value


def _apart(matrix, b, out):
    """Refuses an `out` in b's memory, which conjugate gradients read to the end: before it is known whether they are chosen."""
    if out is None:
        return
    n, dtype, context = matrix.shape[0], matrix.dtype, matrix.context
    source = _arrays.read("b", b, n, dtype, context)
    if _arrays.overlap(source, _arrays.write("out", out, n, source, dtype, context)):
        raise error("SXT_E_ARGUMENT", "solve: out overlaps b, which conjugate gradients read to the end: give an array of its own, or "
                    "method='cholesky', which may write over b")  # fmt: skip


def _cheapest(solver, b, rtol, out, options, shared):
    """x, the report and the choice where a factorisation is predicted to take less and does it; else no x and no report."""
    source, choice = _arrays.read("b", b, solver._n, solver._dtype, solver.context), None
    if source.device and options.get("atol"):
        return None, None, Choice("pcg", "atol of a b in device memory is judged by conjugate gradients alone")
    norms = numpy.linalg.norm(source.array.astype("D"), axis=0) if options.get("atol") else ()
    try:
        analysis, choice = compare(solver, options, shared, source.count)
        if analysis is None:
            return None, None, choice
        return (*_direct(analysis, b, _least(rtol, options.get("atol"), numpy.atleast_1d(norms)), out), choice)
    except SextantError as failed:
        if failed.code not in _MAY_ITERATE:
            raise
        choice = choice or Choice("pcg", "")
        choice.method, choice.why, choice.direct_failed = "pcg", f"conjugate gradients, as the direct solve failed: {failed}", True
        return None, None, choice


def _not_converged(sentence, x, report):
    return NotConvergedError(sentence, lib.SXT_NOT_CONVERGED, "SXT_NOT_CONVERGED", x, report)


def _least(rtol, atol, norms):
    """The relative residual that meets max(rtol |b|, atol) for every column, of these |b|."""
    largest = max(norms, default=0)
    return max(rtol, atol / largest) if atol and largest > 0 else rtol


def _direct(analysis, b, wanted, out):
    """By a factorisation, refined to a relative residual of `wanted`: x and the report."""
    with Cholesky(analysis) as factor:
        x, report = factor.factor().solve(b, out=out, full_output=True, refine_steps=_REFINEMENTS, refine_tolerance=wanted)
    if not report.residual <= wanted:
        raise _not_converged(f"a direct solve left |b - A x| / |b| = {report.residual:.3g}, above {wanted:.3g}", x, report)
    return x, report


def cg(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: str | None = None,
       callback: Callable[[float], object] | None = None) -> tuple[Any, int]:  # fmt: skip
    """Conjugate gradients, called as ``scipy.sparse.linalg.cg``.

    Parameters
    ----------
    A : Matrix, or what Matrix takes
        Real symmetric or complex Hermitian, positive definite. Not a LinearOperator: the library needs its entries.
    b : array of shape (n,) or (n, 1)
    x0 : array, optional
        A guess; it is not changed.
    rtol, atol : float, optional
        Stop when ``norm(b - A @ x) <= max(rtol * norm(b), atol)``.
    maxiter : int, optional
        10 n, at least 1000, where it is left out.
    M : str, optional
        A preconditioner by name: "none", "jacobi", "block-jacobi", ...; None lets the models choose. SciPy's M, an operator, is
        refused.
    callback : callable, optional
        ``callback(rk)`` with the relative residual norm after each iteration. SciPy passes the iterate, which the library does not
        show.

    Returns
    -------
    x : array
        Of b's shape.
    info : int
        0: converged. Positive: the iterations after which it stopped short. Negative: a breakdown, such as of an indefinite A.
    """
    if M is not None and not isinstance(M, str):
        raise TypeError("cg: M must be the name of a preconditioner, such as 'jacobi', or None: an operator cannot be used")
    if not isinstance(A, Operator) and not hasattr(A, "tocsr") and hasattr(A, "matvec"):
        raise TypeError("cg: A must be a matrix with entries, not a LinearOperator")
    matrix = as_matrix(A)
    b, x0 = _as_type("b", b, matrix), None if x0 is None else _as_type("x0", x0, matrix)
    progress = None if callback is None else lambda _, residual: bool(callback(residual) and False)
    with PCG(matrix, rtol=rtol, atol=atol, preconditioner=M) as solver:
        x, report = solver.solve(b, x0, max_iterations=maxiter, progress=progress)
    return x, _info(report[0] if isinstance(report, list) else report)


def _as_type(name, x, matrix: Matrix):
    """SciPy takes integers, and types that lose nothing in the matrix's."""
    if hasattr(x, "__dlpack_device__") and not isinstance(x, numpy.ndarray):
        return x
    x = numpy.asarray(x)
    if x.ndim == 2 and x.shape[1] != 1:
        raise error("SXT_E_DIMENSION", f"cg: {name} has shape {x.shape}; one column is needed")
    if x.dtype.kind in "biu" or (x.dtype in _arrays.TYPES and numpy.can_cast(x.dtype, matrix.dtype)):
        return x.astype(matrix.dtype, copy=False)
    return x


def _info(report: Report) -> int:
    if report.converged:
        return 0
    if report.reason in ("a-indefinite", "m-indefinite", "breakdown", "not-a-number"):
        return -1
    return max(report.iterations, 1)
