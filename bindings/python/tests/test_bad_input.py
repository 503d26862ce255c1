# SPDX-License-Identifier: BSD-3-Clause
"""Bad input: each is an exception of the right class, with a sentence that says what is wrong."""

import re

import numpy
import pytest
from conftest import line

import sextant


@pytest.fixture(scope="module")
def a(cpu):
    return sextant.Matrix(line(4), context=cpu)


CALLS = {
    "product": lambda a, x: a @ x,
    "pcg": lambda a, x: sextant.PCG(a).solve(x),
    "guess": lambda a, x: sextant.PCG(a).solve(numpy.ones(4), x),
    "cholesky": lambda a, x: sextant.Cholesky(a).solve(x),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["int64", "bool", "float16", "longdouble", "object", "float32", "complex128", ">f8", "U3"])
def test_types_of_vectors(a, name, dtype):
    x = numpy.ones(4).astype(dtype)
    with pytest.raises(TypeError, match=re.escape(str(numpy.dtype(dtype)))) as error:
        CALLS[name](a, x)
    assert error.value.code == "SXT_E_TYPE"
    if dtype == ">f8":
        assert "byte order" in str(error.value)


@pytest.mark.parametrize("dtype", ["int64", "float16", "longdouble", "object", ">f8"])
def test_types_of_matrices(cpu, dtype):
    data = numpy.ones(2).astype(dtype)
    with pytest.raises(TypeError, match=f"data .*{re.escape(str(numpy.dtype(dtype)))}") as error:
        sextant.Matrix((data, [0, 1], [0, 1, 2]), context=cpu)
    assert error.value.code == "SXT_E_TYPE"


def test_integer_matrices_of_scipy_are_refused(cpu):
    with pytest.raises(TypeError, match="A has dtype int64; .*astype"):
        sextant.Matrix(line(4).astype("int64"), context=cpu)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("shape", [(3,), (5,), (), (4, 2, 1), (1, 4), (0,)])
def test_shapes(a, name, shape):
    with pytest.raises(ValueError, match=re.escape(f"has shape {shape}; (4,) or (4, k) is needed")) as error:
        CALLS[name](a, numpy.ones(shape))
    assert error.value.code == "SXT_E_DIMENSION"


@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_array(a, name):
    for x in ("text", {"a": 1}, [1, "b", 2, 3], [[1], [2, 3]], object(), line(4)):
        with pytest.raises((TypeError, ValueError)) as error:
            CALLS[name](a, x)
        assert str(error.value)
    with pytest.raises(ValueError, match="masked"):
        CALLS[name](a, numpy.ma.masked_array(numpy.ones(4), [0, 1, 0, 0]))


def test_strided_inputs_are_copied(a):
    wide = numpy.arange(24.0).reshape(4, 6)
    for x in (wide[:, 0], wide[::-1, 1], wide, wide[:, ::2], numpy.broadcast_to(numpy.ones((4, 1)), (4, 3))):
        numpy.testing.assert_array_equal(a @ x, line(4) @ x)
    unaligned = numpy.frombuffer(b"\0" + numpy.ones(4).tobytes(), numpy.uint8)[1:].view(numpy.float64)
    assert not unaligned.flags.aligned
    assert (a @ unaligned).tolist() == [1, 0, 0, 1]


def test_outputs(a):
    x, locked = numpy.ones(4), numpy.empty(4)
    locked.flags.writeable = False
    for out, kind, words in (
        (locked, ValueError, "out is read-only"),
        (numpy.empty(8)[::2], ValueError, "columns must be contiguous"),
        (numpy.empty(3), ValueError, "out has shape"),
        (numpy.empty((4, 1)), ValueError, "out has shape"),
        (numpy.empty(4, numpy.float32), TypeError, "out has dtype float32, float64 is needed"),
        (numpy.empty(4, ">f8"), TypeError, "byte order"),
        ([0, 0, 0, 0], TypeError, "out must be an array that can be written, not list"),
        (x, ValueError, None),  # the operand itself
    ):
        for call in (lambda out: a.multiply(x, out=out), lambda out: sextant.PCG(a).solve(x, out=out)):
            with pytest.raises(kind, match=words):
                call(out)
    with pytest.raises(ValueError, match="columns must be contiguous"):
        a.multiply(numpy.ones((4, 2)), out=numpy.empty((4, 2)))
    with pytest.raises(ValueError, match="beta needs out"):
        a.multiply(x, beta=1)
    with pytest.raises(TypeError, match="alpha = 1j is complex"):
        a.multiply(x, alpha=1j)
    for value in (numpy.complex64(1 + 2j), numpy.array(1 + 2j), numpy.array(2j, numpy.complex64)):
        with pytest.raises(TypeError, match="alpha = .*2j.* is complex, and the matrix is real"):
            a.multiply(x, alpha=value)
        with pytest.raises(TypeError, match="beta = .* is complex"):
            a.multiply(x, beta=value, out=numpy.zeros(4))
    assert (a.multiply(x, alpha=numpy.array(2 + 0j)) == 2 * (a @ x)).all()
    for value in ("2", [1.0, 2.0], numpy.ones(1), {}, object()):
        with pytest.raises(ValueError, match="alpha must be a number"):
            a.multiply(x, alpha=value)


def test_not_finite(cpu, a):
    bad = line(4)
    bad.data[1] = numpy.nan
    with pytest.raises(ValueError, match="nan|NaN|finite") as error:
        sextant.Matrix(bad, context=cpu)
    assert error.value.code == "SXT_E_NOT_FINITE"
    sextant.Matrix(bad, check_finite=False, context=cpu)
    with pytest.raises(ValueError, match=r"\b2\b") as error:
        sextant.PCG(a).solve(numpy.array([1, 1, numpy.inf, 1]))
    assert error.value.code == "SXT_E_NOT_FINITE"
    matrix = sextant.Matrix(line(4), context=cpu)
    with pytest.raises(ValueError) as error:
        matrix.update_values(bad.data)
    assert error.value.code == "SXT_E_NOT_FINITE"
    assert (matrix @ numpy.ones(4)).tolist() == [1, 0, 0, 1]


def test_sparse_arrays_that_do_not_fit_together(cpu):
    ones = numpy.ones(2)
    for given, options, kind in (
        ((ones, [0, 1], [0, 1, 5]), {}, IndexError),  # ends beyond its indices
        ((ones, [0, 1], [0, 1, -1]), {}, IndexError),
        ((ones, [0, 1], [0, 2, 1]), {}, (IndexError, ValueError)),  # falls
        ((ones, [0, 1], [1, 1, 2]), {}, (IndexError, ValueError)),  # begins late
        ((ones, [0, 2], [0, 1, 2]), {}, IndexError),
        ((ones, [0, -1], [0, 1, 2]), {}, IndexError),
        ((ones, [0, 1, 1], [0, 1, 2]), {}, ValueError),
        ((ones, [0, 1], [0, 1, 2]), {"shape": (3, 3)}, ValueError),
        ((ones, [0, 1], [0, 1, 2]), {"shape": (2, -2)}, ValueError),
        ((ones, [0, 1], [0, 1, 2]), {"shape": "wide"}, ValueError),
        ((ones, [0.5, 1], [0, 1, 2]), {}, TypeError),
        ((ones, numpy.array([0, 1], numpy.uint8), [0, 1, 2]), {}, TypeError),
        ((ones, [[0, 1]], [0, 1, 2]), {}, ValueError),
        ((ones, ([0, 1], [0])), {}, ValueError),
        ((ones, ([0, 1], [0, 5])), {"shape": (2, 2)}, IndexError),
        (line(4), {"shape": (5, 5)}, ValueError),
        (line(4), {"dtype": "f4"}, ValueError),
        (numpy.eye(3), {}, TypeError),
        (None, {}, TypeError),
    ):
        with pytest.raises(kind) as error:
            sextant.Matrix(given, context=cpu, **options)
        assert len(str(error.value)) > 10


def test_matrices_that_do_not_fit_the_method(cpu):
    skewed = line(4)
    skewed[0, 1] = 5
    for given, code in (
        (line(4)[:3], "SXT_E_NOT_SQUARE"),
        (skewed, "SXT_E_NOT_SYMMETRIC"),
        (-line(4), "SXT_E_DIAGONAL"),
    ):
        with pytest.raises(numpy.linalg.LinAlgError) as error:
            sextant.PCG(sextant.Matrix(given, context=cpu))
        assert error.value.code == code


def test_contexts(tmp_path):
    for device in ("gpu", "cpu:x", "cuda:-1", "", None, 3):
        with pytest.raises(ValueError, match="device must be"):
            sextant.Context(device)
    with pytest.raises(sextant.DeviceError):
        sextant.Context("cpu:7")
    with pytest.raises(OSError):
        sextant.Context("cpu", profile=tmp_path / "none.toml")
    with pytest.raises(TypeError, match="unexpected keyword argument 'thread'"):
        sextant.Context("cpu", thread=1)
    with pytest.raises(ValueError, match="log_level must be one of"):
        sextant.Context("cpu", log=print, log_level="loud")
    with pytest.raises(ValueError):
        sextant.Context("cpu", threads=-1)
    with pytest.raises(TypeError, match=r"context must be a sextant\.Context"):
        sextant.Matrix(line(3), context="cpu")


def test_forced_kernels(cpu):
    with sextant.Context("cpu") as context:
        context.force("sxt.spmv/1", "spmv.csr.rows.cpu")
        assert "spmv.csr.rows.cpu" in str(sextant.Matrix(line(9), context=context).explain())
        context.force("sxt.spmv/1", None)
        with pytest.raises(ValueError) as error:
            context.force("sxt.spmv/1", "spmv.csr.row.cpu")
        assert error.value.code == "SXT_E_UNKNOWN_NAME"


def test_plans(tmp_path):
    with sextant.Context("cpu") as context:
        sextant.PCG(sextant.Matrix(line(9), context=context)).solve(numpy.ones(9))
        context.save_plan(tmp_path / "plan")
    with sextant.Context("cpu") as context:
        context.load_plan(tmp_path / "plan", required=True)
        (tmp_path / "plan").write_text("no plan")
        with pytest.raises(sextant.ArgumentError) as error:
            context.load_plan(tmp_path / "plan", required=True)
        assert error.value.code == "SXT_E_PLAN"
        with pytest.raises(sextant.UnsupportedError):
            context.set_stream(1)
        context.synchronize()
        with pytest.raises(OSError):
            context.load_plan(tmp_path / "none")
        with pytest.raises(ValueError, match="zero character"):
            context.load_plan("a\0b")


def test_calibration(tmp_path):
    told, path = [], tmp_path / "machine.toml"
    with sextant.Context("cpu") as context:
        assert context.calibrate(seconds=1, kind="sxt.vector/1", path=path) == str(path)
        assert "[machine]" in path.read_text()
        context.calibrate(seconds=60, kind="sxt.vector/1", path=path, progress=lambda *all: told.append(all) is None)  # stops it
        assert told and all(0 <= done <= 1 and isinstance(what, str) and left >= 0 for done, what, left in told)

        def fails(done, what, seconds_left):
            raise LookupError(what)

        with pytest.raises(LookupError):
            context.calibrate(seconds=60, kind="sxt.vector/1", path=path, progress=fails)
        with pytest.raises(OSError):
            context.calibrate(seconds=1, kind="sxt.vector/1", path="/dev/null/machine.toml")
        with pytest.raises(TypeError, match="no option 'quickly'"):
            context.calibrate(quickly=True)


def test_numbers_keep_their_value(a, cpu):
    """What converts to another number is refused, not converted."""
    for options in ({"rtol": numpy.complex64(1e-3 + 1j)}, {"rtol": numpy.array([1e-3])}, {"max_iterations": numpy.float32(3.7)},
                    {"max_iterations": 3.7}):  # fmt: skip
        with pytest.raises(ValueError, match=f"PCG: {next(iter(options))} has a value of a wrong type"):
            sextant.PCG(a, **options)
    assert sextant.PCG(a, rtol=numpy.array(1e-3), max_iterations=numpy.int32(7)).solve(numpy.ones(4))[1].converged
    with pytest.raises(TypeError):
        sextant.PCG(a).solve(numpy.ones(4), history=2.7)
    with pytest.raises(ValueError, match="history = -1 is negative"):
        sextant.PCG(a).solve(numpy.ones(4), history=-1)
    with pytest.raises(ValueError, match="shape must be"):
        sextant.Matrix(([1.0], ([0], [0])), shape=(2.5, 2), context=cpu)


@pytest.mark.parametrize("predicted", ["pcg", "cholesky"])
def test_solve_answers_the_same_whatever_is_predicted(a, monkeypatch, predicted):
    """An operand that one of the methods refuses is refused before the choice."""

    def choice(solver, *_):
        return (sextant.Analysis(solver._matrix) if predicted == "cholesky" else None), sextant._solve.Choice(predicted, "the test wants it")

    monkeypatch.setattr(sextant._solve, "compare", choice)
    b = numpy.ones(4)
    _, report = sextant.solve(a, b, out=numpy.empty(4), full_output=True)
    assert report.method == predicted
    block = numpy.ones((8, 2), order="F")
    for right, out in ((b, b), (block[:4], block[1:5])):
        with pytest.raises(sextant.ArgumentError, match="solve: out overlaps b"):
            sextant.solve(a, right, out=out)
    assert (b == 1).all() and (block == 1).all()
    for name in ("rtol", "atol"):
        for value in (-1, -1e-300, numpy.nan, numpy.inf, "small"):
            with pytest.raises(sextant.ArgumentError, match=f"solve: {name} must be a finite number that is not negative"):
                sextant.solve(a, b, **{name: value})
    numpy.testing.assert_allclose(sextant.solve(a, b, out=b, method="cholesky"), [2, 3, 3, 2])


def test_names_and_paths(cpu, a, tmp_path):
    wrong = ("a\0b", "\ud800", None, 7, b"name")
    for name in wrong:
        with pytest.raises(sextant.ArgumentError, match="feature: name"):
            a.feature(name)
        with pytest.raises(sextant.ArgumentError, match="force: kind"):
            cpu.force(name, None)
    for name in wrong:
        if name is not None:  # that lets the models choose again
            with pytest.raises(sextant.ArgumentError, match="force: kernel"):
                cpu.force("sxt.spmv/1", name)
    for path in ("a\0.npz", "a\0.mtx", "a.npz\0"):
        for call in (lambda path: sextant.read_matrix(path, context=cpu), lambda path: sextant.Matrix(path, context=cpu), cpu.save_plan,
                     cpu.load_plan, lambda path: sextant.Context("cpu", profile=path)):  # fmt: skip
            with pytest.raises(sextant.ArgumentError, match="holds a zero character"):
                call(str(tmp_path / "x") + path)
