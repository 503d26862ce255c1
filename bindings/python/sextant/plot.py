# SPDX-License-Identifier: BSD-3-Clause
"""Plots by matplotlib, which must be installed. Each function draws into `ax`, or into the current axes, and returns them."""

from __future__ import annotations

from typing import Any

from ._explain import Explanation
from ._library import error
from ._reports import Report


def _axes(ax):
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.gca()


def convergence(reports: Report | list[Report], ax: Any = None) -> Any:
    """Residual norms over iterations, of one solve or of each column of a block, made with ``history=True``."""
    reports = [reports] if isinstance(reports, Report) else list(reports)
    if any(report.history is None for report in reports):
        raise error("SXT_E_ARGUMENT", "convergence: a report has no history: solve with history=True")
    ax = _axes(ax)
    for number, report in enumerate(reports):
        label = report.reason if len(reports) == 1 else f"column {number}: {report.reason}"
        ax.semilogy(report.history, label=label)
    ax.set_xlabel("iteration")
    ax.set_ylabel("recursive residual, 2-norm")
    ax.legend()
    return ax


def candidates(explanation: Explanation, role: str | None = None, most: int = 12, ax: Any = None) -> Any:
    """Predicted seconds of a run of the cheapest candidates for one role of a choice (the first, where it is left out), with the
    model's own error bars; the chosen one is darker."""
    roles = list(dict.fromkeys(row["role"] for row in explanation.rows))
    role = roles[0] if role is None and roles else role
    rows = [row for row in explanation.rows if row["role"] == role and row["predicted_run_s"] is not None]
    if not rows:
        raise error("SXT_E_UNKNOWN_NAME", f"candidates: no candidate for {role!r} has a prediction; the roles are {', '.join(roles)}")
    rows = sorted(rows, key=lambda row: row["predicted_run_s"])[:most][::-1]
    seconds = [row["predicted_run_s"] for row in rows]
    ax = _axes(ax)
    ax.barh(range(len(rows)), seconds, xerr=[each * (row["rel_error"] or 0) for each, row in zip(seconds, rows)],
            color=["tab:blue" if row["chosen"] else "lightsteelblue" for row in rows])  # fmt: skip
    names = [f"{row['kernel']} {row['format']} {'x'.join(str(each) for each in row['launch'] if each)}" for row in rows]
    ax.set_yticks(range(len(rows)), names)
    ax.set_xlabel("predicted seconds of a run")
    ax.set_title(role)
    return ax
