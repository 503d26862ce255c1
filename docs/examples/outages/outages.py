# SPDX-License-Identifier: BSD-3-Clause
"""Which line of a power grid is loaded most when one other line is out? The DC load flow B theta = p has one pattern for every
outage, so that all of them are sets of values on one analysis: factored in one call, solved in another. A line that alone feeds a
bus cuts it off: its set has no factor, and the others do. outages.py [SIDE]"""

import sys

import numpy
import scipy.sparse

import sextant


def mesh(side):
    """Ends and susceptances of the lines between side x side buses, and of one that feeds a bus of its own."""
    at = numpy.arange(side * side).reshape(side, side)
    across, along = (at[:, :-1].ravel(), at[:, 1:].ravel()), (at[:-1].ravel(), at[1:].ravel())
    start = numpy.concatenate([across[0], along[0], [side * side - 1]])
    end = numpy.concatenate([across[1], along[1], [side * side]])
    return start, end, numpy.concatenate([1 + 0.1 * (across[0] % 7), 1 + 0.1 * (along[0] % 5), [2.0]])


def main():
    start, end, susceptance = mesh(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
    buses, lines = end.max() + 1, start.size
    power = numpy.where(numpy.arange(buses) % 3 == 0, 1.0, -0.5)
    power[0] = 0

    one, each = numpy.ones(lines), numpy.arange(lines)
    incidence = scipy.sparse.csr_array((one, (each, start)), (lines, buses)) - scipy.sparse.csr_array((one, (each, end)), (lines, buses))
    reference = scipy.sparse.csr_array(([1e3], ([0], [0])), (buses, buses))  # holds the angle of bus 0 at 0
    grid = scipy.sparse.csr_array(incidence.T @ incidence.multiply(susceptance[:, None]).tocsr() + reference)
    grid.sort_indices()

    # Set k: the grid without line k, in the pattern of the whole.
    rows = numpy.repeat(numpy.arange(buses), numpy.diff(grid.indptr))
    place = {pair: at for at, pair in enumerate(zip(rows.tolist(), grid.indices.tolist()))}
    values = numpy.tile(grid.data, (lines, 1))
    for k, (i, j, b) in enumerate(zip(start.tolist(), end.tolist(), susceptance)):
        values[k, [place[i, i], place[j, j]]] -= b
        values[k, [place[i, j], place[j, i]]] = 0

    sets = sextant.CholeskySets(sextant.Matrix(grid), lines)
    try:
        sets.factor(values)
    except sextant.MatrixError as error:  # an outage may cut buses off
        print(error)
    angles = sets.solve(numpy.tile(power, (lines, 1)))

    flows = susceptance * (angles[:, start] - angles[:, end])
    flows[each, each] = 0
    islands = sets.outcomes.status != 0
    outage, line = numpy.unravel_index(numpy.nanargmax(abs(flows)), flows.shape)
    print(f"{buses} buses, {lines} outages, {islands.sum()} of them cut a bus off; most is {abs(flows[outage, line]):.3f} on line "
          f"{start[line]}-{end[line]} without line {start[outage]}-{end[outage]}")  # fmt: skip
    balance = flows[~islands] @ incidence - power
    return 0 if islands.sum() == 1 and abs(balance[:, 1:]).max() < 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())
