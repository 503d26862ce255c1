# SPDX-License-Identifier: BSD-3-Clause
"""Writes matrices of kinds that no calibration makes, for `sextant verify-model`: python3 unseen_matrices.py FOLDER [ENTRIES...]

Needs NumPy and SciPy. Every kind comes with about each number of entries; the numbers that draw them are fixed.
"""
import os
import sys

import numpy
import scipy.io
import scipy.sparse
import scipy.spatial

USUAL = (600, 1500, 4000, 10000, 25000, 60000, 150000, 300000, 600000, 1200000, 2400000)


def symmetric(rows, cols, n):
    """A graph as a matrix with a full diagonal."""
    a = scipy.sparse.coo_matrix((numpy.ones(len(rows)), (rows, cols)), shape=(n, n)).tocsr()
    return (a + a.T + scipy.sparse.identity(n)).tocsr()


def delaunay(entries, draw):
    """Linear elements on random points, the coefficient of which jumps by a thousand; points in the order they were drawn."""
    n = max(8, entries // 7)
    triangles = scipy.spatial.Delaunay(draw.random((n, 2))).simplices
    rows, cols = triangles.ravel(), numpy.roll(triangles, 1, axis=1).ravel()
    return symmetric(rows, cols, n)


def neighbours(entries, draw):
    """Each of the points in space with its eight nearest, numbered along one axis."""
    n = max(16, entries // 12)
    points = draw.random((n, 3))
    points = points[numpy.argsort(points[:, 0])]
    near = scipy.spatial.cKDTree(points).query(points, k=9)[1][:, 1:]
    return symmetric(numpy.repeat(numpy.arange(n), 8), near.ravel(), n)


def rmat(entries, draw):
    """A recursive graph (0.57, 0.19, 0.19, 0.05), without symmetry."""
    levels = max(4, int(numpy.log2(max(16, entries / 8))))
    rows, cols = numpy.zeros(entries, dtype=numpy.int64), numpy.zeros(entries, dtype=numpy.int64)
    for _ in range(levels):
        quarter = draw.choice(4, size=entries, p=(0.57, 0.19, 0.19, 0.05))
        rows, cols = 2 * rows + quarter // 2, 2 * cols + quarter % 2
    n = 1 << levels
    return scipy.sparse.coo_matrix((numpy.ones(entries), (rows, cols)), shape=(n, n)).tocsr()


def small_world(entries, draw):
    """A ring with its three next on each side, every twentieth edge anywhere."""
    n = max(16, entries // 7)
    rows = numpy.repeat(numpy.arange(n), 3)
    cols = (rows + numpy.tile([1, 2, 3], n)) % n
    away = draw.random(len(rows)) < 0.05
    cols[away] = draw.integers(0, n, size=int(away.sum()))
    return symmetric(rows, cols, n)


def elastic(entries, draw):
    """Two displacements a node of a Delaunay mesh, sorted by place: blocks of 2 x 2 in no regular pattern."""
    n = max(8, entries // 28)
    points = draw.random((n, 2))
    points = points[numpy.argsort((points[:, 0] * 20).astype(int) + points[:, 1])]
    triangles = scipy.spatial.Delaunay(points).simplices
    graph = symmetric(triangles.ravel(), numpy.roll(triangles, 1, axis=1).ravel(), n)
    return scipy.sparse.kron(graph, numpy.ones((2, 2))).tocsr()


def holes(entries, draw):
    """A band of 31 diagonals, two thirds of which are missing in stretches."""
    n = max(64, entries // 11)
    offsets = numpy.arange(-15, 16)
    rows = numpy.repeat(numpy.arange(n), 31)
    cols = rows + numpy.tile(offsets, n)
    stretches = draw.random((n // 50 + 1, 31)) < 0.34
    keep = stretches[rows // 50, numpy.tile(numpy.arange(31), n)] | (rows == cols)
    keep &= (cols >= 0) & (cols < n)
    return scipy.sparse.coo_matrix((numpy.ones(int(keep.sum())), (rows[keep], cols[keep])), shape=(n, n)).tocsr()


def long_rows(entries, draw):
    """Rows of two or three entries, and every hundredth in a group of long ones with half of all entries."""
    n = max(200, entries // 5)
    long_ones = numpy.arange(0, n, 100)
    length = min(n // 2, max(4, entries // (2 * len(long_ones))))
    rows = [numpy.repeat(numpy.arange(n), 2), numpy.repeat(long_ones, length)]
    cols = [draw.integers(0, n, size=2 * n), draw.integers(0, n, size=length * len(long_ones))]
    return scipy.sparse.coo_matrix((numpy.ones(sum(map(len, rows))), (numpy.concatenate(rows), numpy.concatenate(cols))),
                                   shape=(n, n)).tocsr()


def kronecker(entries, draw):
    """The product of a small random pattern with a chain: blocks that repeat with gaps between."""
    small = scipy.sparse.random(12, 12, density=0.25, random_state=draw.integers(1 << 30), format="csr")
    small.data[:] = 1
    n = max(6, entries // (3 * max(1, small.nnz)))
    chain = scipy.sparse.diags([numpy.ones(n - 1), numpy.ones(n), numpy.ones(n - 1)], [-1, 0, 1])
    return scipy.sparse.kron(chain, small).tocsr()


def lengths(entries, draw):
    """Rows whose lengths follow a lognormal law, columns near the diagonal."""
    n = max(50, entries // 14)
    length = numpy.clip(draw.lognormal(2.2, 0.9, n).astype(int), 1, max(2, n // 4))
    rows = numpy.repeat(numpy.arange(n), length)
    cols = (rows + draw.normal(0, 1 + n / 40, len(rows)).astype(int)) % n
    return scipy.sparse.coo_matrix((numpy.ones(len(rows)), (rows, cols)), shape=(n, n)).tocsr()


def rings(entries, draw):
    """A 9-point stencil on rings around each other, of unlike numbers of points."""
    count = max(4, int(numpy.sqrt(entries / 9 / 40)))
    sizes = draw.integers(20, 60, size=count) * count
    begin = numpy.concatenate(([0], numpy.cumsum(sizes)))
    rows, cols = [], []
    for ring in range(count):
        here = numpy.arange(sizes[ring])
        for other in (ring, ring + 1):
            if other >= count:
                continue
            near = here * sizes[other] // sizes[ring]
            for step in ((1,) if other == ring else (-1, 0, 1)):
                rows.append(begin[ring] + here)
                cols.append(begin[other] + (near + step) % sizes[other])
    return symmetric(numpy.concatenate(rows), numpy.concatenate(cols), int(begin[-1]))


KINDS = (delaunay, neighbours, rmat, small_world, elastic, holes, long_rows, kronecker, lengths, rings)


def main(folder, sizes):
    os.makedirs(folder, exist_ok=True)
    for number, kind in enumerate(KINDS):
        for entries in sizes:
            draw = numpy.random.default_rng([number, entries])
            a = kind(entries, draw)
            a.sum_duplicates()
            a.data = draw.random(a.nnz) + 0.5
            scipy.io.mmwrite(os.path.join(folder, f"{kind.__name__}-{entries}.mtx"), a, symmetry="general", precision=6)


if __name__ == "__main__":
    main(sys.argv[1], [int(word) for word in sys.argv[2:]] or USUAL)
