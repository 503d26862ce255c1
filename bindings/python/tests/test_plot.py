# SPDX-License-Identifier: BSD-3-Clause
"""Plots show the numbers of reports and explanations."""

import numpy
import pytest
from conftest import plate

import sextant

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot

from sextant import plot


@pytest.fixture
def ax():
    figure, ax = pyplot.subplots()
    yield ax
    pyplot.close(figure)


def test_convergence(cpu, ax):
    solver = sextant.PCG(sextant.Matrix(plate(12), context=cpu))
    _, report = solver.solve(numpy.ones(144), history=True)
    assert plot.convergence(report, ax) is ax and ax.get_yscale() == "log"
    assert (ax.lines[0].get_ydata() == report.history).all()
    _, reports = solver.solve(numpy.ones((144, 2)), history=True)
    plot.convergence(reports, ax)
    assert len(ax.lines) == 3
    with pytest.raises(ValueError, match="history=True"):
        plot.convergence(solver.solve(numpy.ones(144))[1], ax)


def test_candidates(cpu, ax):
    why = sextant.Matrix(plate(12), context=cpu).explain()
    assert plot.candidates(why, ax=ax, most=5) is ax
    widths = [bar.get_width() for bar in ax.patches]
    assert len(widths) == 5 and widths == sorted(widths, reverse=True)
    assert widths[-1] == min(row["predicted_run_s"] for row in why.rows if row["predicted_run_s"] is not None)
    with pytest.raises(ValueError, match="the roles are"):
        plot.candidates(why, "pcg/none", ax=ax)
