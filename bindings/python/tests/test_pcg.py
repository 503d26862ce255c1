# SPDX-License-Identifier: BSD-3-Clause
"""Conjugate gradients, and solve and cg above them."""

import dataclasses

import numpy
import pytest
import scipy.sparse.linalg
from conftest import DATA, DTYPES, line, plate

import sextant


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_and_several_right_hand_sides(cpu, random, dtype):
    a = plate(12, dtype)
    solver = sextant.PCG(sextant.Matrix(a, context=cpu))
    exact = random.standard_normal((144, 3)).astype(dtype)
    tolerance = 1e-4 if numpy.dtype(dtype).itemsize // (2 if numpy.dtype(dtype).kind == "c" else 1) == 4 else 1e-7
    x, report = solver.solve(a @ exact[:, 0])
    assert report.converged and report.reason == "converged" and report.iterations > 0
    assert report.true_relative_residual <= tolerance and report.residual_bound >= 0
    numpy.testing.assert_allclose(x, exact[:, 0], rtol=0, atol=100 * tolerance)
    x, reports = solver.solve(a @ exact)
    assert len(reports) == 3 and all(each.converged for each in reports)
    numpy.testing.assert_allclose(x, exact, rtol=0, atol=100 * tolerance)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_real_matrix_in_complex_numbers_has_the_engines_of_a_hermitian_one(cpu, dtype):
    a = plate(12, dtype)
    stated = sextant.PCG(sextant.Matrix(a, context=cpu, symmetry="symmetric")), sextant.PCG(sextant.Matrix(a, context=cpu))
    engines = [next(row["kernel"] for row in each.explain().rows if row["role"] == "pcg" and row["chosen"]) for each in stated]
    assert engines[0] == engines[1] != "pcg.reference.cpu"
    assert stated[0].solve(numpy.ones(144, dtype))[1].converged
    matrix = sextant.Matrix(a, context=cpu, symmetry="symmetric")
    solver = sextant.PCG(matrix)
    matrix.update_values(a.data * (1 + 0.3j))  # symmetric, and no longer Hermitian
    ones = numpy.ones(144, dtype)
    numpy.testing.assert_allclose(matrix @ ones, (1 + 0.3j) * (a @ ones), rtol=0, atol=1e-5)
    with pytest.raises(sextant.MatrixError):
        solver.solve(ones)


def test_report_is_immutable_and_has_seconds(cpu):
    _, report = sextant.PCG(sextant.Matrix(line(50), context=cpu)).solve(numpy.ones(50))
    assert report.solve_seconds > 0 and report.setup_seconds > 0 and report.reason_sentence
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.iterations = 0


def test_guess_and_out(cpu):
    a, b = plate(10), numpy.ones(100)
    solver = sextant.PCG(sextant.Matrix(a, context=cpu), rtol=1e-10)
    x, first = solver.solve(b)
    guess = x.copy()
    again, warm = solver.solve(b, guess)
    assert warm.iterations < first.iterations and (guess == x).all() and again is not guess
    target = numpy.empty(100)
    assert solver.solve(b, x, out=target)[0] is target
    assert solver.solve(b, target, out=target)[0] is target  # the guess may be the place of the answer


def test_limits_and_history(cpu):
    solver = sextant.PCG(sextant.Matrix(plate(20), context=cpu), max_iterations=3)
    _, report = solver.solve(numpy.ones(400), history=True)
    assert report.reason == "iteration-limit" and not report.converged
    assert len(report.history) >= 3 and (report.history > 0).all()
    _, report = solver.solve(numpy.ones(400), history=2, max_iterations=8)
    assert report.iterations == 8 and len(report.history) == 2
    _, reports = solver.solve(numpy.ones((400, 2)), history=5, interruptible=True)
    assert [len(each.history) for each in reports] == [4, 4]
    _, reports = solver.solve(numpy.ones((400, 2)), history=5)
    assert [len(each.history) for each in reports] == [4, 4]


def test_progress(cpu):
    solver, told = sextant.PCG(sextant.Matrix(plate(20), context=cpu)), []
    _, report = solver.solve(numpy.ones(400), progress=lambda iteration, residual: told.append((iteration, residual)))
    assert report.converged and len(told) > 3 and told[-1][1] < told[1][1]
    _, report = solver.solve(numpy.ones(400), progress=lambda iteration, residual: iteration >= 4)
    assert report.reason == "cancelled" and 4 <= report.iterations <= 6


def test_what_progress_raises_is_raised(cpu):
    solver = sextant.PCG(sextant.Matrix(plate(20), context=cpu))

    def fails(iteration, residual):
        raise LookupError(f"at {iteration}")

    with pytest.raises(LookupError, match="at 0"):
        solver.solve(numpy.ones(400), progress=fails)
    assert solver.solve(numpy.ones(400))[1].converged


def test_progress_near_the_end_of_the_stack(cpu):
    """Where no level of Python's stack is left, the exception still comes out of the call."""
    solver = sextant.PCG(sextant.Matrix(plate(6), context=cpu))

    def again(iteration, residual):
        solver.solve(numpy.ones(36), progress=again)

    with pytest.raises(RecursionError):
        solver.solve(numpy.ones(36), progress=again)
    assert solver.solve(numpy.ones(36))[1].converged


def test_new_values(cpu):
    matrix, a = sextant.Matrix(line(30), context=cpu), line(30)
    solver = sextant.PCG(matrix)
    matrix.update_values(4 * a.data)
    x, report = solver.solve(numpy.ones(30))
    assert report.converged
    numpy.testing.assert_allclose(4 * (a @ x), 1, atol=1e-7)


def test_semidefinite(cpu):
    a = line(40).tolil()
    a[0, 0] = a[39, 39] = 1  # constants become the null space
    b = numpy.zeros(40)
    b[0], b[39] = 1, -1
    for vectors in (True, numpy.full(40, 3.0)):
        x, report = sextant.PCG(sextant.Matrix(a, context=cpu), null_space=vectors).solve(b)
        assert report.converged
        numpy.testing.assert_allclose(a @ x, b, atol=1e-7)


def test_options_by_name(cpu):
    matrix = sextant.Matrix(plate(10), context=cpu)
    solver = sextant.PCG(matrix, preconditioner="jacobi", recurrence="classical", norm="max", atol=1e-6, rtol=0.0, probe=-1)
    assert solver.solve(numpy.ones(100))[1].converged
    assert "jacobi" in str(solver.explain())
    with pytest.raises(TypeError, match="no option 'preconditoner'; did you mean 'preconditioner'"):
        sextant.PCG(matrix, preconditoner="jacobi")
    for name, value in (("struct_size", 8), ("null_space_size", 1), ("reserved0", 0)):  # the package's own
        with pytest.raises(TypeError, match="no option"):
            sextant.PCG(matrix, **{name: value})
        with pytest.raises(TypeError, match="no option"):
            sextant.Matrix(plate(4), ownership=1)
        with pytest.raises(TypeError, match="no option"):
            solver.solve(numpy.ones(100), cancel=None)
    with pytest.raises(ValueError, match="norm must be one of '2', 'max', not 'inf'"):
        sextant.PCG(matrix, norm="inf")
    with pytest.raises(ValueError, match="rtol has a value of a wrong type: 'small'"):
        sextant.PCG(matrix, rtol="small")
    with pytest.raises(OverflowError, match="max_iterations"):
        sextant.PCG(matrix, max_iterations=2**70)
    with pytest.raises(ValueError, match="preconditioner must be a name"):
        sextant.PCG(matrix, preconditioner=3)
    with pytest.raises(ValueError, match="jacobi") as error:
        sextant.PCG(matrix, preconditioner="jakobi")
    assert error.value.code == "SXT_E_UNKNOWN_NAME"


def test_solve(cpu):
    a = sextant.Matrix(DATA / "bcsstk16.mtx.gz", context=cpu)
    b = a @ numpy.ones(4884)
    for method in ("auto", "pcg", "cholesky"):
        x = sextant.solve(a, b, method=method, rtol=1e-9)
        assert numpy.linalg.norm(b - a @ x) <= 1e-9 * numpy.linalg.norm(b)
    x = sextant.solve(a, numpy.column_stack([b, 2 * b]))
    numpy.testing.assert_allclose(x[:, 1], 2 * x[:, 0], rtol=1e-4)
    for method in ("pcg", "cholesky"):
        assert (sextant.solve(a, 0 * b, method=method) == 0).all()
    with pytest.raises(ValueError, match="method must be"):
        sextant.solve(a, b, method="lu")


def test_solve_falls_back_to_a_factorisation(cpu):
    a = sextant.Matrix(plate(20), context=cpu)
    x, report = sextant.solve(a, numpy.ones(400), max_iterations=2, full_output=True)
    numpy.testing.assert_allclose(a @ x, 1, atol=1e-7)
    assert report.method == "cholesky" and "ended short: the iteration limit" in report.why and report.details.residual <= 1e-8
    with pytest.raises(sextant.NotConvergedError, match="iteration limit") as error:
        sextant.solve(a, numpy.ones(400), method="pcg", max_iterations=2)
    assert error.value.code == "SXT_NOT_CONVERGED" and error.value.report.iterations == 2 and error.value.x.shape == (400,)


def test_the_fallback_keeps_the_options(cpu):
    """Its criterion is that of conjugate gradients, and what was said of the symmetry holds."""
    matrix, b = sextant.Matrix(plate(20), context=cpu), numpy.column_stack([numpy.ones(400), numpy.full(400, 1e3)])
    assert numpy.linalg.norm(matrix @ sextant.solve(matrix, b, rtol=0, atol=1e-3, max_iterations=3) - b, axis=0).max() <= 1e-3
    assert (sextant.solve(matrix, 0 * b, rtol=0, atol=1e-3, max_iterations=3) == 0).all()
    with pytest.raises(sextant.NotConvergedError, match="a direct solve left") as error:
        sextant.solve(matrix, b, rtol=1e-40, max_iterations=3)
    assert isinstance(error.value.report, sextant.CholeskyReport) and error.value.report.residual > 0
    with pytest.raises(sextant.NotConvergedError, match="iteration limit"):  # a direct solve is judged in the 2-norm
        sextant.solve(matrix, b, norm="max", max_iterations=3)
    skewed = plate(20)
    skewed[0, 1] *= 1 + 1e-6
    with pytest.raises(sextant.MatrixError, match="not symmetric"):
        sextant.solve(skewed, b[:, 0], max_iterations=3)
    for options in ({"symmetry_tolerance": 1e-3}, {"check_symmetry": False}):
        sextant.solve(skewed, b[:, 0], rtol=1e-5, max_iterations=3, **options)


def hard(n):
    """A line with weights over six decades: many iterations, and a factor without fill."""
    weights = 10.0 ** numpy.linspace(0, 6, n + 1)
    return scipy.sparse.csr_array(scipy.sparse.diags([-weights[1:-1], weights[:-1] + weights[1:], -weights[1:-1]], [-1, 0, 1]))


def test_solve_compares_by_predicted_seconds(cpu):
    small, long = sextant.Matrix(plate(5), context=cpu), sextant.Matrix(hard(40000), context=cpu)
    x, report = sextant.solve(small, numpy.ones(25), full_output=True)
    assert report.method == "pcg" and "its analysis would take at least" in report.why and report.details.converged
    assert report.pcg_seconds > 0 and report.cholesky_seconds is None and report.cholesky_bytes is None
    b = long @ numpy.ones(40000)
    x, report = sextant.solve(long, b, full_output=True)
    assert report.method == "cholesky" and "a direct solve is predicted to take" in report.why
    assert 0 < report.cholesky_seconds < report.pcg_seconds and report.cholesky_bytes > 0 and report.details.residual <= 1e-8
    assert numpy.linalg.norm(b - long @ x) <= 1e-8 * numpy.linalg.norm(b)
    x, report = sextant.solve(long, b, rtol=0, atol=1e-6 * numpy.linalg.norm(b), full_output=True)
    assert report.method == "cholesky" and numpy.linalg.norm(b - long @ x) <= 1e-6 * numpy.linalg.norm(b)
    for options, why in (({"x0": numpy.ones(25)}, "x0 is given"), ({"preconditioner": "jacobi"}, "preconditioner is given"),
                         ({"max_iterations": 99}, "max_iterations is given"), ({"norm": "max"}, "2-norm"),
                         ({"null_space": False, "max_iterations": 0, "format": "auto"}, "its analysis would take")):  # fmt: skip
        report = sextant.solve(small, numpy.ones(25), full_output=True, **options)[1]
        assert report.method == "pcg" and why in report.why
    assert sextant.solve(small, numpy.ones(25), method="cholesky", full_output=True)[1].why == "it was asked for"


def test_conjugate_gradients_where_a_direct_solve_fails(cpu, monkeypatch):
    """As for lack of memory; other errors are raised."""
    long, b = sextant.Matrix(hard(40000), context=cpu), hard(40000) @ numpy.ones(40000)
    from sextant import _library, _solve

    def fails(code):
        def direct(*_):
            raise _library.error(code, "of a test")

        monkeypatch.setattr(_solve, "_direct", direct)

    fails("SXT_E_MEMORY")
    x, report = sextant.solve(long, b, rtol=1e-4, full_output=True)
    assert report.method == "pcg" and report.why == "conjugate gradients, as the direct solve failed: of a test"
    assert report.cholesky_seconds > 0 and report.details.converged
    fails("SXT_E_DEVICE")
    with pytest.raises(sextant.DeviceError, match="of a test"):
        sextant.solve(long, b)


def test_solve_takes_what_matrix_takes():
    a = plate(6)
    numpy.testing.assert_allclose(a @ sextant.solve(a, numpy.ones(36)), 1, atol=1e-7)
    assert sextant.default_context() is sextant.default_context()


def test_cg_as_scipys(cpu):
    a, b = plate(15), numpy.ones(225)
    x, info = sextant.cg(a, b)
    assert info == 0 and numpy.linalg.norm(b - a @ x) <= 1e-5 * numpy.linalg.norm(b)
    theirs, _ = scipy.sparse.linalg.cg(a, b, atol=0.0)
    numpy.testing.assert_allclose(x, theirs, atol=1e-3)
    x, info = sextant.cg(a, b, maxiter=3)
    assert info == 3
    x, info = sextant.cg(a, numpy.ones(225, int), rtol=0, atol=1e-3, M="jacobi")  # integers, as SciPy takes them
    assert info == 0 and numpy.linalg.norm(b - a @ x) <= 1e-3
    x, info = sextant.cg(a, b[:, None], x0=numpy.ones((225, 1)))
    assert info == 0 and x.shape == (225, 1)
    told = []
    assert sextant.cg(a, b, callback=told.append)[1] == 0 and told[-1] < told[1]
    assert sextant.cg(a, 0 * b)[0].tolist() == [0] * 225


def test_cg_breaks_down():
    a = line(20)
    a[0, 1] = a[1, 0] = 9.0  # indefinite, with a positive diagonal
    assert sextant.cg(a, numpy.ones(20))[1] < 0


def test_cg_refuses_operators(cpu):
    a = plate(5)
    with pytest.raises(TypeError, match="name of a preconditioner"):
        sextant.cg(a, numpy.ones(25), M=scipy.sparse.linalg.aslinearoperator(a))
    with pytest.raises(TypeError, match="not a LinearOperator"):
        sextant.cg(scipy.sparse.linalg.aslinearoperator(a), numpy.ones(25))


def test_linear_operators(cpu, random):
    a = plate(8)
    matrix, b = sextant.Matrix(a, context=cpu), numpy.ones(64)
    x, info = scipy.sparse.linalg.cg(matrix.aslinearoperator(), b, atol=0.0)
    assert info == 0
    inverse = sextant.Cholesky(matrix).aslinearoperator()
    numpy.testing.assert_allclose(inverse @ (a @ b), b)
    x, info = scipy.sparse.linalg.cg(a, b, M=inverse, maxiter=2, atol=0.0)
    assert info == 0
    largest = scipy.sparse.linalg.eigsh(scipy.sparse.linalg.aslinearoperator(matrix), 1, return_eigenvectors=False)
    numpy.testing.assert_allclose(largest, scipy.sparse.linalg.eigsh(a, 1, return_eigenvectors=False))


def test_explanation_as_a_table(cpu):
    rows = sextant.PCG(sextant.Matrix(plate(8), context=cpu)).explain().rows
    assert len(rows) > 3 and len({row["role"] for row in rows}) > 1
    pandas = pytest.importorskip("pandas")
    assert isinstance(sextant.PCG(plate(8)).explain().to_pandas(), pandas.DataFrame)
