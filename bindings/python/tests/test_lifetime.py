# SPDX-License-Identifier: BSD-3-Clause
"""Handles: closed by hand, by with, by garbage collection in any order, at the interpreter's end; threads and forks."""

import concurrent.futures
import copy
import gc
import itertools
import multiprocessing
import os
import pathlib
import pickle
import threading
import weakref

import numpy
import pytest
from conftest import line, plate, run_python

import sextant
from sextant import _callbacks, _context, _library, _objects, _pcg


def everything():
    context = sextant.Context("cpu", threads=1)
    matrix = sextant.Matrix(plate(6), context=context)
    analysis = sextant.Analysis(matrix)
    return {"context": context, "matrix": matrix, "transpose": matrix.T, "pcg": sextant.PCG(matrix), "analysis": analysis,
            "cholesky": sextant.Cholesky(analysis).factor(), "hermitian": sextant.Hermitian(2, 1, context=context)}  # fmt: skip


USES = {
    "context": lambda each: each.describe(),
    "matrix": lambda each: each @ numpy.ones(36),
    "transpose": lambda each: each @ numpy.ones(36),
    "pcg": lambda each: each.solve(numpy.ones(36)),
    "analysis": lambda each: each.order(),
    "cholesky": lambda each: each.solve(numpy.ones(36)),
    "hermitian": lambda each: each.factor(numpy.ones((1, 2, 2))),
}


def test_any_order_of_going(random):
    """Whatever went first, what is left works."""
    orders = list(itertools.permutations(USES))
    for order in random.choice(len(orders), 15, replace=False):
        objects = everything()
        for name in orders[order]:
            for left, each in objects.items():
                USES[left](each)
            each = None
            objects.pop(name)
            gc.collect()


def test_closed_objects_say_so():
    for name in USES:
        objects = everything()
        if name == "transpose":
            continue
        objects[name].close()
        objects[name].close()
        assert objects[name].closed and "closed" in repr(objects[name])
        with pytest.raises(sextant.StateError, match="closed"):
            USES[name](objects[name])
        if name != "context":
            assert objects["context"].describe()
    objects = everything()
    objects["matrix"].close()
    with pytest.raises(sextant.StateError, match="this Matrix is closed"):
        USES["transpose"](objects["transpose"])
    assert objects["pcg"].solve(numpy.ones(36))[1].converged  # made before, and keeps what it needs
    with pytest.raises(sextant.StateError):
        sextant.PCG(objects["matrix"])


def test_with():
    with sextant.Context("cpu") as context, sextant.Matrix(line(3), context=context) as matrix:
        matrix @ numpy.ones(3)
    assert context.closed and matrix.closed
    with pytest.raises(sextant.StateError), context:
        pass


def test_memory_comes_back():
    """Objects are freed with their last reference, and within cycles by the collector."""
    gc.disable()
    try:
        objects = everything()
        seen = [weakref.ref(each) for each in objects.values()]
        del objects
        assert [each() for each in seen] == [None] * len(seen)
    finally:
        gc.enable()
    matrix = sextant.Matrix(line(3))
    matrix.itself, seen = matrix, weakref.ref(matrix)
    del matrix
    gc.collect()
    assert seen() is None


def test_no_copies_and_no_pickles():
    for name, each in everything().items():
        if name == "transpose":
            continue
        for call in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="belongs to its process"):
                call(each)


def test_errors_can_be_pickled():
    with pytest.raises(sextant.ArgumentError) as error:
        sextant.Matrix(line(3)) @ numpy.ones(4)
    again = pickle.loads(pickle.dumps(error.value))
    assert (str(again), again.status, again.code) == (str(error.value), error.value.status, "SXT_E_DIMENSION")
    again = pickle.loads(pickle.dumps(sextant.NotConvergedError("short", 2, "SXT_NOT_CONVERGED", 5, None)))
    assert again.x == 5 and str(again) == "short"
    again = pickle.loads(pickle.dumps(sextant.FileError("gone", -13, "SXT_E_FILE_READ")))
    assert str(again) == "gone" and again.status == -13


def test_threads_share_objects():
    objects, a = everything(), plate(6)

    def work(seed):
        b = numpy.random.default_rng(seed).standard_normal(36)
        x, report = objects["pcg"].solve(b)
        return report.converged and numpy.allclose(a @ x, b, atol=1e-6) and numpy.allclose(
            objects["cholesky"].solve(b), x, atol=1e-6) and numpy.allclose(objects["matrix"] @ b, a @ b)  # fmt: skip

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))


def test_sentences_belong_to_their_thread(cpu):
    matrix = sextant.Matrix(line(4), context=cpu)

    def work(i):
        with pytest.raises(sextant.SextantError) as error:
            matrix.feature(f"number_{i}")
        return f"number_{i}" in str(error.value)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))


def test_a_call_that_needs_an_object_alone(cpu):
    """update_values and factor during a solve, here from its own callback, are refused, and change nothing."""
    matrix = sextant.Matrix(plate(6), context=cpu)
    solver, refused = sextant.PCG(matrix), []

    def progress(iteration, residual):
        for call in (lambda: matrix.update_values(numpy.ones(matrix.nnz)), lambda: cpu.set_stream(None)):
            with pytest.raises(sextant.StateError, match="in use by another call"):
                call()
            refused.append(iteration)

    assert solver.solve(numpy.ones(36), progress=progress)[1].converged and refused
    matrix.update_values(plate(6).data)


def test_closed_during_a_solve(cpu):
    """Another thread closes what a solve uses: the solve goes on."""
    matrix = sextant.Matrix(plate(30), context=cpu)
    solver = sextant.PCG(matrix)

    def progress(iteration, residual):
        if iteration == 2:
            closer = threading.Thread(target=lambda: (solver.close(), matrix.close(), gc.collect()))
            closer.start()
            closer.join()

    assert solver.solve(numpy.ones(900), progress=progress)[1].converged
    assert solver.closed


def in_child(matrix, solver):
    x, report = solver.solve(numpy.ones(400))
    fresh = sextant.Matrix(line(5), context=sextant.Context("cpu"))
    ok = report.converged and numpy.allclose(matrix @ x, 1, atol=1e-6) and (fresh @ numpy.ones(5)).tolist() == [1, 0, 0, 0, 1]
    os._exit(0 if ok else 1)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_fork(cpu):
    """A child may use the CPU's contexts of its parent, and make its own."""
    matrix = sextant.Matrix(plate(20), context=cpu)
    solver = sextant.PCG(matrix)
    solver.solve(numpy.ones(400))  # the pool and the helper thread exist
    process = multiprocessing.get_context("fork").Process(target=in_child, args=(matrix, solver))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    assert solver.solve(numpy.ones(400))[1].converged


def test_a_fork_while_threads_compute():
    """Their calls do not go on in the child, which may change what they used."""
    run_python(f"""
import os, signal, sys, threading
sys.path.insert(0, {os.path.dirname(__file__)!r})
import numpy, sextant
from conftest import plate
a = plate(60)
matrix = sextant.Matrix(a, context=sextant.Context("cpu"))
solver, factor, b = sextant.PCG(matrix, rtol=1e-12), sextant.Cholesky(matrix), numpy.ones(3600)
inside, done = threading.Event(), threading.Event()
def wait(iteration, residual):
    inside.set()
    done.wait(60)
thread = threading.Thread(target=lambda: solver.solve(b, progress=wait))
thread.start()
inside.wait(60)
child = os.fork()
if child == 0:
    signal.alarm(60)
    matrix.update_values(2 * a.data)
    x = factor.factor().solve(b)
    os._exit(0 if abs(2 * (a @ x) - b).max() < 1e-9 and solver.solve(b)[1].converged else 1)
status = os.waitpid(child, 0)[1]
try:
    matrix.update_values(a.data)
except sextant.StateError:
    done.set()
thread.join()
matrix.update_values(a.data)
sys.exit(status)
""", PYTHONWARNINGS="ignore::DeprecationWarning")


def test_locks_are_entered_again_by_their_own_thread(cpu):
    """By a handler of signals or a __del__ that runs while the thread holds one."""
    for lock in (cpu._gate._lock, _callbacks.Callback._lock, _context._making):
        with lock:
            again = lock.acquire(timeout=1)
            assert again
            lock.release()


SPAWNED = """
import multiprocessing, numpy, sextant
from conftest import plate

def solve(seed):
    a = plate(8)
    b = numpy.random.default_rng(seed).standard_normal(64)
    return float(numpy.linalg.norm(a @ sextant.solve(a, b) - b))
"""


def test_worker_processes(tmp_path):
    (tmp_path / "spawned.py").write_text(SPAWNED)
    run_python(f"""
import sys
sys.path[:0] = [{str(tmp_path)!r}, {os.path.dirname(__file__)!r}]
import multiprocessing, spawned
if __name__ == "__main__":
    spawned.solve(0)
    for method in ("spawn", "fork"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert max(pool.map(spawned.solve, range(6))) < 1e-6
""")


@pytest.mark.parametrize("end", ["", "sys.exit(0)", "del sextant", "gc.disable()", "import os, signal; gc.collect()"])
def test_the_interpreters_end(end):
    """Objects that live to the end, in globals, cycles, threads and exit handlers."""
    run_python(f"""
import atexit, gc, sys, threading
import numpy, sextant
context = sextant.Context("cpu", log=lambda level, message: None, log_level="debug")
matrix = sextant.Matrix(([2.0, 2.0], [0, 1], [0, 1, 2]), context=context)
pcg, cholesky = sextant.PCG(matrix), sextant.Cholesky(matrix)
pcg.solve(numpy.ones(2))
class Late:
    def __del__(self):
        pcg.solve(numpy.ones(2)); cholesky.factor()
late = [Late()]; late.append(late)
atexit.register(lambda: pcg.solve(numpy.ones(2)))
threading.Thread(target=lambda: [pcg.solve(numpy.ones(2)) for _ in range(100)], daemon=True).start()
{end}
""")


def test_log():
    told = []
    with sextant.Context("cpu", log=lambda level, message: told.append((level, message)), log_level="info") as context:
        sextant.PCG(sextant.Matrix(plate(6), context=context)).solve(numpy.ones(36))
    assert {"info"} <= {level for level, _ in told} and all(isinstance(message, str) for _, message in told)


@pytest.mark.parametrize("when", ["atexit.register(use)", "late = Late()", "late = [Late()]; late.append(late)"])
def test_a_first_solve_at_the_interpreters_end(when):
    """No thread can be made any more."""
    run = run_python(f"""
import atexit, sys
import numpy, sextant
matrix = sextant.Matrix(([2.0, 2.0], [0, 1], [0, 1, 2]), context=sextant.Context("cpu"))
solver, analysis = sextant.PCG(matrix), sextant.Analysis(matrix)
def use():
    x = sextant.Cholesky(analysis).factor().solve(solver.solve(numpy.ones(2))[0])
    sys.stdout.write("%.6f %.6f" % tuple(x))
class Late:
    def __del__(self):
        use()
{when}
""")
    assert run.stdout == "0.250000 0.250000"


def test_the_interpreters_end_ends_what_calls_back(monkeypatch):
    """Calibrations and solves of daemon threads, which the program's end waits for: what the library calls tells it to stop."""
    told = _callbacks.Callback(lambda *_: None)
    word = _library.ffi.new("char[]", b"a kernel")
    calls = (lambda: _context._calibration(told.user, 0.5, word, 60.0), lambda: _pcg._progress(told.user, 3, 0.1))
    assert [call() for call in calls] == [0, 0]
    monkeypatch.setattr(_callbacks.Callback, "ending", True)
    assert [call() for call in calls] == [1, 1]
    told.close()


def test_what_was_made_before_log_raised_is_freed(cpu):
    matrix, freed = sextant.Matrix(plate(3), context=cpu), []

    def call(function, *arguments):
        cpu._call(function, *arguments)
        raise LookupError

    def destroy(handle):
        freed.append(handle)
        _library.lib.sxt_pcg_destroy(handle)

    with pytest.raises(LookupError):
        _objects.made("sxt_pcg", destroy, call, _library.lib.sxt_pcg_create, matrix._use(), _library.NULL)
    assert len(freed) == 1
    with pytest.raises(sextant.ArgumentError):  # nothing was made
        _objects.made("sxt_pcg", destroy, cpu._call, _library.lib.sxt_pcg_create, _library.NULL, _library.NULL)
    assert len(freed) == 1
    sources = {path.name: path.read_text() for path in pathlib.Path(_objects.__file__).parent.glob("_*.py")}
    assert [name for name, source in sources.items() if "ffi.gc(" in source] == ["_objects.py"]  # no other way is taken


def test_what_log_raises_is_raised():
    armed = []

    def fails(level, message):
        if armed:
            raise LookupError(message)

    context = sextant.Context("cpu", log=fails, log_level="info")
    matrix = sextant.Matrix(plate(6), context=context)
    armed.append(True)
    with pytest.raises(LookupError):
        sextant.PCG(matrix)
    armed.clear()
    assert sextant.PCG(matrix).solve(numpy.ones(36))[1].converged
