# SPDX-License-Identifier: BSD-3-Clause
"""Sets of dense Hermitian systems, against NumPy."""

import numpy
import pytest
from conftest import DTYPES

import sextant


def systems(random, batch, n, dtype):
    a = random.standard_normal((batch, n, n))
    if numpy.dtype(dtype).kind == "c":
        a = a + 1j * random.standard_normal((batch, n, n))
    return (a @ a.conj().transpose(0, 2, 1) + n * numpy.eye(n)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("triangle", ["lower", "upper"])
def test_factor_and_solve(cpu, random, dtype, triangle):
    a, eps = systems(random, 5, 7, dtype), 1000 * numpy.finfo(dtype).eps
    b = random.standard_normal((5, 7, 2)).astype(dtype)
    read = (numpy.tril if triangle == "lower" else numpy.triu)(a)
    solver = sextant.Hermitian(7, 5, dtype, n_rhs=2, triangle=triangle, context=cpu)
    kept = read.copy()
    factored = solver.factor(read, want="rcond")
    assert (factored.info == 0).all() and (factored.rcond > 0).all() and (read == kept).all()
    if triangle == "lower":
        low = numpy.tril(factored.factor)
        numpy.testing.assert_allclose(low @ low.conj().transpose(0, 2, 1), a, atol=eps * 10)
    for given in (b, b[:, :, 0]):
        solved = solver.solve(factored, given, a=read, want="residual")
        wanted = numpy.linalg.solve(a, b)
        numpy.testing.assert_allclose(solved.x, wanted if given.ndim == 3 else wanted[:, :, 0], atol=eps)
        assert solved.x.shape == given.shape and (solved.residual < eps).all()
    numpy.testing.assert_allclose(solver.factor_solve(read, b).x, wanted, atol=eps)


def test_each_system_has_its_own_info(cpu):
    a = numpy.array([[[2, 0], [0, 2]], [[1, 2], [2, 1]], [[2, 1], [1, 2]]], float)
    b = numpy.array([[2, 4], [1, 1], [3, 3]], float)
    solved = sextant.solve_hermitian(a, b, context=cpu)
    assert solved.info.tolist() == [0, 2, 0]
    numpy.testing.assert_allclose(solved.x[[0, 2]], [[1, 2], [1, 1]])
    a[0, 0, 0] = numpy.nan
    assert sextant.solve_hermitian(a, b, context=cpu).info[0] == -1


def test_indefinite(cpu):
    a = numpy.array([[[1, 2], [2, 1]], [[2, 1], [1, 2]]], float)
    b = numpy.array([[3, 3], [3, 3]], float)
    for kind in ("indefinite", "try"):
        solved = sextant.solve_hermitian(a, b, definiteness=kind, want="inertia", context=cpu)
        assert solved.info.tolist() == [0, 0] and solved.inertia.tolist() == [[1, 1, 0], [2, 0, 0]]
        numpy.testing.assert_allclose(solved.x, 1)
        assert solved.pivots.shape == (2, 2)


def test_in_place_where_columns_are_contiguous(cpu, random):
    a = systems(random, 3, 4, numpy.float64)
    packed = numpy.ascontiguousarray(a.transpose(0, 2, 1)).transpose(0, 2, 1)  # each matrix column-major
    b = numpy.ones((3, 4))
    solver = sextant.Hermitian(4, 3, context=cpu)
    solved = solver.factor_solve(packed, b, overwrite_a=True, overwrite_b=True)
    assert numpy.shares_memory(solved.factor, packed) and numpy.shares_memory(solved.x, b)
    numpy.testing.assert_allclose(b, numpy.linalg.solve(a, numpy.ones((3, 4, 1)))[:, :, 0])


def test_orders_masks_shifts_and_scales(cpu, random):
    a, b = systems(random, 3, 4, numpy.float64), numpy.ones((3, 4))
    solver = sextant.Hermitian(4, 3, orders=[2, 4, 3], shifts=[0.0, 1.0], equilibrate=True, context=cpu)
    solved = solver.factor_solve(a, b, active=[True, False, True])
    assert solved.info.tolist() == [0, -2, 0] and solved.shift[[0, 2]].tolist() == [0, 0]
    numpy.testing.assert_allclose(solved.x[0, :2], numpy.linalg.solve(a[0, :2, :2], numpy.ones(2)))
    assert (solved.x[1] == 1).all() and solved.scale.shape == (3, 4)


def test_shortcuts(cpu):
    toeplitz = numpy.array([[[4, 1, 0], [1, 4, 1], [0, 1, 4]]], float)
    solver = sextant.Hermitian(3, 1, shortcuts=("toeplitz", "always"), context=cpu)
    solved = solver.factor_solve(toeplitz, numpy.array([[5.0, 6, 5]]))
    assert solved.shortcut.tolist() == [1]
    numpy.testing.assert_allclose(solved.x, 1)
    assert solver.report().toeplitz_kernel and "hermitian" in str(solver.explain())


def test_arguments_are_named(cpu):
    solver = sextant.Hermitian(3, 2, context=cpu)
    a, b = numpy.zeros((2, 3, 3)), numpy.zeros((2, 3))
    with pytest.raises(ValueError, match=r"a has shape \(3, 3\); \(2, 3, 3\) is needed"):
        solver.factor(a[0])
    with pytest.raises(ValueError, match=r"b has shape \(3,\)"):
        solver.factor_solve(a, b[0])
    with pytest.raises(TypeError, match="a has dtype float32, float64 is needed"):
        solver.factor(a.astype(numpy.float32))
    with pytest.raises(ValueError, match="shortcuts are .* not 'fast'"):
        sextant.Hermitian(3, 2, shortcuts="fast", context=cpu)
    with pytest.raises(ValueError, match="outputs of factor are .* not 'error'"):
        solver.factor(a, want="error")
    with pytest.raises(ValueError, match=r"orders has shape \(3,\); \(2,\) is needed"):
        sextant.Hermitian(3, 2, orders=[1, 2, 3], context=cpu)
    with pytest.raises(ValueError, match="read-only"):
        packed = numpy.zeros((2, 3, 3)).transpose(0, 2, 1)
        packed.flags.writeable = False
        solver.factor(packed, overwrite_a=True)
    with pytest.raises(sextant.ArgumentError):
        sextant.Hermitian(-3, 2, context=cpu)


OTHERS = {
    "smaller set": ({"batch": 1}, ValueError, r"factored.info has shape \(1,\); \(3,\) is needed"),
    "smaller order": ({"n": 2}, ValueError, r"factored.factor has shape \(3, 2, 2\); \(3, 4, 4\) is needed"),
    "type": ({"dtype": numpy.float32}, TypeError, "factored.factor has dtype float32, float64 is needed"),
}  # fmt: skip


@pytest.mark.parametrize("what", OTHERS)
def test_factors_of_another_solver(cpu, random, what):
    """They are shorter than what the library would read."""
    change, kind, words = OTHERS[what]
    sizes = {"n": 4, "batch": 3, "dtype": numpy.float64, **change}
    factored = sextant.Hermitian(**sizes, context=cpu).factor(systems(random, sizes["batch"], sizes["n"], sizes["dtype"]))
    with pytest.raises(kind, match=words):
        sextant.Hermitian(4, 3, context=cpu).solve(factored, numpy.ones((3, 4)))


@pytest.mark.parametrize(("name", "options"), [
    ("pivots", {"definiteness": "indefinite"}), ("pivots", {"definiteness": "try"}), ("scale", {"equilibrate": True}),
    ("shift", {"shifts": [0.0]}), ("info", {}),
])  # fmt: skip
def test_parts_of_factors(cpu, random, name, options):
    a, b = systems(random, 3, 4, numpy.float64), numpy.ones((3, 4))
    solver = sextant.Hermitian(4, 3, context=cpu, **options)
    factored = solver.factor(a)
    part, wanted = getattr(factored, name), solver.solve(factored, b).x
    for wrong, kind, words in ((part[:1], ValueError, "has shape"), (part.astype(numpy.int16), TypeError, "has dtype int16"),
                               (None, TypeError, "with other options"), (list(part), TypeError, "is list")):  # fmt: skip
        setattr(factored, name, wrong)
        with pytest.raises(kind, match=f"factored.{name} .*{words}"):
            solver.solve(factored, b)
    setattr(factored, name, numpy.repeat(part, 2, axis=0)[::2])  # not contiguous
    factored.factor = numpy.ascontiguousarray(factored.factor)  # row-major
    numpy.testing.assert_array_equal(solver.solve(factored, b).x, wanted)


def test_factors_that_a_shortcut_left_out(cpu):
    toeplitz, b = numpy.array([[[4, 1, 0], [1, 4, 1], [0, 1, 4]]], float), numpy.array([[5.0, 6, 5]])
    solver = sextant.Hermitian(3, 1, shortcuts=("toeplitz", "always"), context=cpu)
    with pytest.raises(sextant.StateError, match="system 0 was solved by a shortcut"):
        solver.solve(solver.factor_solve(toeplitz, b), b)
    with pytest.raises(TypeError, match="solve takes what factor returned, not ndarray"):
        solver.solve(toeplitz, b)


def test_no_right_hand_sides(cpu, random):
    """The C interface reads a count of 0 as that of the solver."""
    a, none = systems(random, 3, 4, numpy.float64), numpy.ones((3, 4, 0))
    solver = sextant.Hermitian(4, 3, n_rhs=5, context=cpu)
    factored = solver.factor(a)
    kept = factored.factor.copy()
    assert solver.solve(factored, none, a=a, want="residual").x.shape == (3, 4, 0)
    solved = solver.factor_solve(a, none, want=("residual", "rcond"))
    assert solved.x.shape == (3, 4, 0) and (solved.info == 0).all() and (solved.rcond > 0).all()
    numpy.testing.assert_array_equal(numpy.tril(solved.factor), numpy.tril(kept))
    assert sextant.solve_hermitian(a, none, context=cpu).x.shape == (3, 4, 0)


def test_outputs_that_a_call_does_not_write(cpu, random):
    a, b = systems(random, 2, 3, numpy.float64), numpy.ones((2, 3))
    solver = sextant.Hermitian(3, 2, context=cpu)
    factored = solver.factor(a, want=("rcond", "inertia"))
    with pytest.raises(ValueError, match="outputs of factor are 'rcond', 'inertia', not 'residual'"):
        solver.factor(a, want="residual")
    for name in ("rcond", "inertia"):
        with pytest.raises(ValueError, match=f"outputs of solve are 'residual', not '{name}'"):
            solver.solve(factored, b, want=name)
    assert solver.factor_solve(a, b, want=("residual", "rcond", "inertia")).residual.max() < 1e-12


def test_integers_keep_their_value(cpu, random):
    a = systems(random, 2, 3, numpy.float64)
    for orders, kind in (([2.7, 3], TypeError), ([2**32 + 3, 3], OverflowError), ([2**70, 3], TypeError), ([True, True], TypeError),
                         ([[2, 3]], ValueError), ([[2], [3, 4]], TypeError)):  # fmt: skip
        with pytest.raises(kind, match="orders"):
            sextant.Hermitian(3, 2, orders=orders, context=cpu)
    solver = sextant.Hermitian(3, 2, context=cpu)
    for active, kind in (([256, 1], OverflowError), ([-1, 1], OverflowError), ([0.5, 1], TypeError)):
        with pytest.raises(kind, match="active"):
            solver.factor(a, active=active)
    with pytest.raises(TypeError, match="shifts must be a sequence of real numbers"):
        sextant.Hermitian(3, 2, shifts=numpy.array([1j]), context=cpu)


def test_lists(cpu):
    solved = sextant.solve_hermitian([[[2, 1], [1, 2]]], [[3, 3]], context=cpu)
    numpy.testing.assert_allclose(solved.x, [[1, 1]])
    with pytest.raises(TypeError, match="a has dtype int64; .*astype"):
        sextant.solve_hermitian(numpy.array([[[2, 1], [1, 2]]]), [[3, 3]], context=cpu)
    with pytest.raises(TypeError, match="b has dtype float32, float64 is needed"):
        sextant.solve_hermitian([[[2, 1], [1, 2]]], numpy.ones((1, 2), numpy.float32), context=cpu)
