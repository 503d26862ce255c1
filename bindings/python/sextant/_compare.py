# SPDX-License-Identifier: BSD-3-Clause
"""Conjugate gradients or a factorisation, by predicted seconds: the rule of ``sextant solve --method auto``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._cholesky import Analysis
from ._explain import Explanation
from ._pcg import PCG

# The least that an order and a structure take: assumed, as by the command, not measured on this machine.
_ANALYSIS_SECONDS, _ANALYSIS_SECONDS_AN_ENTRY = 5e-4, 2e-7
# Options that only conjugate gradients have, and which settle the method.
_OF_PCG = ("format", "preconditioner", "recurrence", "engine", "reorder", "null_space", "max_iterations", "time_limit")


@dataclass
class Choice:
    """A method, and why; seconds of all solves and bytes as they were predicted, None where they were not."""

    method: str
    why: str
    pcg_seconds: float | None = None
    cholesky_seconds: float | None = None
    cholesky_bytes: int | None = None
    direct_failed: bool = False


def given(value) -> bool:
    """Whether an option asks for something else than its default."""
    return not isinstance(value, (str, int, float, type(None))) or value not in (None, False, 0, "", "auto")


def settled(options: dict[str, Any], x0: Any) -> Choice | None:
    """Conjugate gradients where the caller asks for what only they have."""
    name = next((name for name in _OF_PCG if given(options.get(name))), None)
    if name is None and x0 is not None:
        name = "x0"
    if name is not None:
        return Choice("pcg", f"{name} is given, which only conjugate gradients use")
    if options.get("norm") not in (None, "2"):
        return Choice("pcg", "a direct solve is judged in the 2-norm alone")
    return None


def _engine_seconds(explanation: Explanation) -> float | None:
    """Predicted seconds of one solve by the engine that was chosen."""
    nodes = list(explanation.data.get("plan") or [])
    while nodes:
        node = nodes.pop(0)
        if node.get("kind") == "sxt.pcg/1":
            return node.get("predicted_run_s")
        nodes = (node.get("parts") or []) + nodes
    return None


def compare(solver: PCG, options: dict[str, Any], of_analysis: dict[str, Any], columns: int) -> tuple[Analysis | None, Choice]:
    """The choice, with the analysis of the direct solve that is to be made. An analysis is made only where the solves are
    predicted to take longer than that."""
    one, solves, columns = _engine_seconds(solver.explain()), max(1.0, options.get("expected_solves") or 1.0), max(columns, 1)
    if not one or not one > 0:
        return None, Choice("pcg", "no engine of conjugate gradients predicts its time")
    # Columns are taken as solved one after the other: no prediction is made for a block.
    pcg, least = solves * columns * one, _ANALYSIS_SECONDS + _ANALYSIS_SECONDS_AN_ENTRY * solver._matrix.nnz
    if pcg < least:
        return None, Choice("pcg", f"no direct solve: its analysis would take at least {least:.3g} s, conjugate gradients {pcg:.3g} s", pcg)
    analysis = Analysis(solver._matrix, expected_rhs=columns, **of_analysis)
    info = analysis.info
    # A solve is refined once at least, which takes a residual and another solve.
    direct, held = info.predicted_factor_seconds + 2 * solves * info.predicted_solve_seconds, info.host_bytes + info.device_bytes
    method = "cholesky" if direct < pcg else "pcg"
    why = f"a direct solve is predicted to take {direct:.3g} s and {held / 1e6:.3g} MB, conjugate gradients {pcg:.3g} s"
    return analysis if method == "cholesky" else None, Choice(method, why, pcg, direct, held)
