# SPDX-License-Identifier: BSD-3-Clause
"""Worlds: members of one process, and threads as ranks."""

import threading

import numpy
import pytest
import scipy.sparse
from conftest import plate, run_python

import sextant


def cpus(count):
    return [sextant.Context("cpu", threads=1) for _ in range(count)]


def on_ranks(size, work):
    """work(rank, its end of the communicator), each in a thread; the answers in the order of ranks."""
    threads, answers, failures = sextant.Threads(size), [None] * size, []

    def run(rank):
        try:
            answers[rank] = work(rank, threads.rank(rank))
        except BaseException as failure:  # told to the test's thread
            failures.append(failure)

    running = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for each in running:
        each.start()
    for each in running:
        each.join(60)
    if failures:
        raise failures[0]
    return answers


def test_products_and_solves_of_one_process(random):
    a = plate(20) + 0.05 * scipy.sparse.identity(400)
    world = sextant.World(cpus(3))
    assert (world.members, world.ranks, world.rank, world.ended) == (3, 1, 0, False)
    matrix = world.matrix(scipy.sparse.csr_array(a))
    assert matrix.shape == (400, 400) and matrix.rows == (0, 400) and matrix.begin[0] == 0 and matrix.begin[-1] == 400
    x = random.standard_normal(400)
    numpy.testing.assert_allclose(matrix @ x, a @ x, rtol=1e-13, atol=1e-13)
    for engine, told in (("world.by-host", "3 of 3"), ("world.members:2", "2 of 3"), (None, "1 of 3")):
        pcg = matrix.pcg(rtol=1e-10, **({"engine": engine} if engine else {}))
        solution, report = pcg.solve(x)
        assert report.converged and numpy.linalg.norm(x - a @ solution) <= 1.0001e-10 * numpy.linalg.norm(x)
        assert told in str(pcg.explain())
        assert sum(pcg.member(i).rows for i in range(3)) == 400
    again, report = pcg.solve(x, solution)
    assert report.iterations == 0 and numpy.array_equal(again, solution)


def test_new_values_and_a_divided_matrix(random):
    a = scipy.sparse.csr_array(plate(12) + scipy.sparse.identity(144))
    world = sextant.World(cpus(2))
    context = sextant.Context("cpu")
    matrix = world.matrix(sextant.Matrix(a, context=context))
    b = random.standard_normal(144)
    pcg = matrix.pcg()
    pcg.solve(b)
    matrix.update_values(2 * a.data)
    solution, report = pcg.solve(b)
    assert report.converged
    numpy.testing.assert_allclose(2 * (a @ solution), b, rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", ["contiguous", "rcm", "one", "metis"])
def test_divisions(random, method):
    shuffled = random.permutation(400)
    a = scipy.sparse.csr_array((plate(20) + 0.1 * scipy.sparse.identity(400)).tocsr()[shuffled][:, shuffled])
    a.sort_indices()  # updates of a divided matrix take values in canonical order
    world = sextant.World(cpus(3))
    try:
        matrix = world.matrix(sextant.Matrix(a, context=sextant.Context("cpu")), method=method)
    except sextant.SextantError as failure:
        assert method == "metis" and "libmetis5" in str(failure)
        pytest.skip("METIS is not installed")
    order, b = matrix.order, random.standard_normal(400)
    assert sorted(order) == list(range(400))
    numpy.testing.assert_allclose(matrix @ b[order], (a @ b)[order], rtol=1e-12, atol=1e-12)
    pcg = matrix.pcg(engine="world.by-host")
    solution, report = pcg.solve(b[order])
    assert report.converged and f"partition.{method}" in str(pcg.explain())
    matrix.update_values(2 * a.data)
    numpy.testing.assert_allclose(matrix @ b[order], 2 * (a @ b)[order], rtol=1e-12, atol=1e-12)


def test_threads_are_ranks(random):
    a = scipy.sparse.csr_array(plate(16) + 0.1 * scipy.sparse.identity(256))
    b = random.standard_normal(256)

    def work(rank, end):
        world = sextant.World(cpus(1), rank=end, time_limit=30)
        first, last = (0, 100) if rank == 0 else (100, 256)
        matrix = world.matrix(a[first:last], rows=(first, 256))
        assert matrix.rows == (first, last)
        pcg = matrix.pcg(rtol=1e-9)
        solution, report = pcg.solve(b[first:last])
        assert "2 of 2" in str(pcg.explain())
        return solution, report

    (x0, report0), (x1, report1) = on_ranks(2, work)
    assert report0.converged and report0.residual_norm == report1.residual_norm
    assert numpy.linalg.norm(b - a @ numpy.concatenate([x0, x1])) <= 1.0001e-9 * numpy.linalg.norm(b)


def test_what_fails_on_one_rank_is_told_to_all():
    a = scipy.sparse.csr_array(plate(6))

    def work(rank, end):
        world = sextant.World(cpus(1), rank=end, time_limit=30)
        with pytest.raises(sextant.SextantError, match="row") as failure:
            world.matrix(a[18 * rank :], rows=(18 * rank, 36))  # rank 0 brings all rows, rank 1 half of them again
        return failure.value.code

    assert len(set(on_ranks(2, work))) == 1


def test_bad_arguments(random):
    world = sextant.World(cpus(2))
    matrix = world.matrix(plate(5))
    with pytest.raises(sextant.SextantError, match="x has shape"):
        matrix @ numpy.ones(3)
    with pytest.raises(sextant.DataTypeError):
        matrix @ numpy.ones(25, numpy.float32)
    with pytest.raises(TypeError, match="contexts"):
        sextant.World(["cpu"])
    with pytest.raises(sextant.ArgumentError, match="empty"):
        sextant.World([])
    with pytest.raises(sextant.ArgumentError, match="own rows"):
        world.matrix(sextant.Matrix(plate(4), context=sextant.Context("cpu")), rows=(0, 16))
    with pytest.raises(TypeError, match="no option"):
        matrix.pcg(rtoll=1)
    world.close()
    with pytest.raises(sextant.StateError):
        world.matrix(plate(3))


def test_plans_of_rows():
    begin = sextant.World(cpus(4)).plan_rows(1000)
    assert begin[0] == 0 and begin[-1] == 1000 and (numpy.diff(begin) == 250).all()


def test_objects_may_end_in_any_order():
    run_python("""
import numpy, scipy.sparse, sextant
world = sextant.World([sextant.Context("cpu", threads=1) for _ in range(2)])
matrix = world.matrix(scipy.sparse.csr_array(scipy.sparse.identity(10)))
pcg = matrix.pcg()
del world, matrix
assert pcg.solve(numpy.ones(10))[1].converged
""")
