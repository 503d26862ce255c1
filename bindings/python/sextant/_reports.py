# SPDX-License-Identifier: BSD-3-Clause
"""What the library reports, as dataclasses. Seconds are wall-clock seconds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy

from ._library import ffi, text


@dataclass(frozen=True)
class Report:
    """How a solve by conjugate gradients ended, and what it took.

    Attributes
    ----------
    reason : str
        "converged", "iteration-limit", "stagnated", ...: docs/reference/errors.md has all of them.
    iterations : int
        Of a failure: the iteration it was found in.
    rhs_norm, residual_norm : float
        |b| and |b - A x| in the norm that was asked for, computed from the x returned.
    true_relative_residual : float
        residual_norm / |b|; residual_norm where b = 0.
    residual_bound, rounding_limit : float
        The exact |b - A x| is within residual_bound of residual_norm; rounding the exact solution may move it by rounding_limit.
    history : array or None
        Recursive residual norms from iteration 0, where they were asked for.

    recursive_residual : float
        The recurrence's own residual, in the 2-norm of the system that it works on.
    confirmations, replacements : int
        How often b - A x was computed, and how often it replaced the recurrence's residual.
    products, reductions, launches : int
        Products with A, waits for results, and launches by the host (0 where they are not counted).
    setup_seconds, solve_seconds, iteration_seconds, residual_seconds : float
        Measured; each with its prediction in ``predicted_...``.
    predicted_iterations : float
        What the choice expected, from ``probe_iterations`` on A itself that took ``probe_seconds``.
    null_space_norm : float
        Of the part of b in the null space, which was left out.
    """

    reason: str
    reason_sentence: str
    iterations: int
    rhs_norm: float
    residual_norm: float
    true_relative_residual: float
    recursive_residual: float
    confirmations: int
    replacements: int
    products: int
    reductions: int
    setup_seconds: float
    solve_seconds: float
    predicted_setup_seconds: float
    predicted_solve_seconds: float
    predicted_iterations: float
    probe_iterations: int
    probe_seconds: float
    launches: int
    null_space_norm: float
    iteration_seconds: float
    residual_seconds: float
    predicted_iteration_seconds: float
    predicted_residual_seconds: float
    residual_bound: float
    rounding_limit: float
    history: numpy.ndarray | None = None

    @property
    def converged(self) -> bool:
        """Whether the true residual met the tolerance."""
        return self.reason == "converged"


@dataclass(frozen=True)
class SolveReport:
    """What `solve` did.

    Attributes
    ----------
    method : str
        The one that x comes from: "pcg" or "cholesky".
    why : str
        Why that one, in words.
    pcg_seconds, cholesky_seconds : float or None
        Predicted for all solves that were expected, the factorisation included; None where it was not predicted.
    cholesky_bytes : int or None
        That the factorisation takes, of the host and the device.
    details : Report, list of Report, or CholeskyReport
        How the method ended.
    """

    method: str
    why: str
    pcg_seconds: float | None
    cholesky_seconds: float | None
    cholesky_bytes: int | None
    details: Any


@dataclass(frozen=True)
class AnalysisInfo:
    """What an analysis found and predicts.

    nnz_l counts entries of L with its diagonal; factor_bytes are those of a factor, host_bytes and device_bytes of all that one
    Cholesky object takes; flops are of one factorisation in real arithmetic."""

    n: int
    nnz_a: int
    nnz_l: int
    stored_values: int
    supernodes: int
    largest_front: int
    flops: float
    factor_bytes: int
    host_bytes: int
    device_bytes: int
    analysis_seconds: float
    predicted_factor_seconds: float
    predicted_solve_seconds: float
    amalgamation: int
    block: int


@dataclass(frozen=True)
class CholeskyInfo:
    """What a factor says of itself, and how the last factorisation ended.

    log_determinant is of |det A|, sign of det A; positive, negative and zero count eigenvalues; failed_row is -1 where none failed."""

    factored: bool
    log_determinant: float
    sign: int
    positive: int
    negative: int
    zero: int
    least_pivot: float
    largest_pivot: float
    changed_pivots: int
    failed_row: int
    failed_pivot: float
    factor_seconds: float
    predicted_factor_seconds: float


@dataclass(frozen=True)
class CholeskyReport:
    """What a direct solve did.

    refined counts steps of refinement; residual is |b - A x| / |b| of the worst right-hand side, exact within residual_bound, NaN
    without refinement."""

    refined: int
    residual: float
    residual_bound: float
    solve_seconds: float
    predicted_seconds: float


@dataclass(frozen=True)
class HermitianReport:
    """What was chosen for sets of Hermitian systems. A kernel is "" where none was chosen.

    Seconds are predicted for a whole set; workspace_bytes are what calls allocated beside it so far, kernel_bytes what the chosen
    kernels keep; piece is the number of systems worked on at once in the last call; flops are real operations."""

    factor_kernel: str
    solve_kernel: str
    factor_solve_kernel: str
    pivoting_kernel: str
    predicted_factor_s: float
    predicted_solve_s: float
    predicted_factor_solve_s: float
    workspace_bytes: int
    piece: int
    flops: float
    kernel_bytes: int
    toeplitz_kernel: str
    mixed_kernel: str
    butterfly_kernel: str


@dataclass(frozen=True)
class Plugin:
    """A loaded plugin: its name and version, who made it, under which license, its file, and how many kernels it has."""

    name: str
    version: str
    vendor: str
    license: str
    path: str
    kernels: int


@dataclass(frozen=True)
class Kernel:
    """A loaded kernel.

    deterministic: equal bits for equal input; capturable: it may run in a CUDA graph; reference: written to be read, not to be
    fast; quarantined: it failed a test in this process and is not chosen."""

    name: str
    kind: str
    device: str
    description: str
    plugin: str
    version: int
    deterministic: bool
    capturable: bool
    reference: bool
    quarantined: bool


@dataclass(frozen=True)
class Refusal:
    """A file or kernel that was refused, at which stage and why."""

    path: str
    stage: str
    reason: str


def from_struct(kind, struct, **known):
    """A report from its C struct; `known` in place of members of the same name."""
    values = dict(known)
    for field in fields(kind):
        if field.name in values or not hasattr(struct, field.name):
            continue
        value = getattr(struct, field.name)
        if isinstance(value, ffi.CData):
            value = text(value)
        values[field.name] = bool(value) if field.type == "bool" else value
    return kind(**values)
