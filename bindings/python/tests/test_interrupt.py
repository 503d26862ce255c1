# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C ends a running solve, and Python's global lock is free during one."""

import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest
from conftest import line, run_python

import sextant
from sextant import _interrupt
from sextant._library import ffi

# Each prints "ready", then computes for far longer than the test waits.
LONG = {
    "solve": "solver = sextant.PCG(matrix, preconditioner='none', rtol=1e-13, probe=-1, reorder=-1)\n"
             "call = lambda: solver.solve(numpy.ones(n))",
    "solve of several": "solver = sextant.PCG(matrix, preconditioner='none', rtol=1e-13, probe=-1, reorder=-1)\n"
                        "call = lambda: solver.solve(numpy.ones((n, 3)), interruptible=True)",
    "progress": "solver = sextant.PCG(matrix, preconditioner='none', rtol=1e-13, probe=-1, reorder=-1)\n"
                "call = lambda: solver.solve(numpy.ones(n), progress=lambda iteration, residual: None)",
    "factor": "factor = sextant.Cholesky(sextant.Analysis(matrix, order='natural', scheduler='cholesky.reference.cpu'))\n"
              "call = lambda: [factor.factor() for _ in range(100000)]",
}  # fmt: skip
PROGRAM = """
import sys, time
sys.path.insert(0, {folder!r})
import numpy, sextant
from conftest import line
matrix = sextant.Matrix(line(300000), context=sextant.Context("cpu"))
n = 300000
{make}
print("ready", flush=True)
begun = time.perf_counter()
try:
    call()
except KeyboardInterrupt:
    assert sextant.PCG(matrix, probe=-1).solve(numpy.ones(n), max_iterations=3)[1].iterations == 3  # all is usable afterwards
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("what", LONG)
def test_ctrl_c(what):
    folder = __file__.rpartition("/")[0]
    program = subprocess.Popen([sys.executable, "-c", PROGRAM.format(folder=folder, make=LONG[what])], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    try:
        assert program.stdout.readline() == "ready\n", program.stderr.read()
        time.sleep(0.5)
        assert program.poll() is None, "it ended by itself, so the test shows nothing"
        program.send_signal(signal.SIGINT)
        output, errors = program.communicate(timeout=30)
    finally:
        program.kill()
    assert (output, errors, program.returncode) == ("interrupted\n", "", 0)


def test_the_interpreters_end_during_a_solve():
    """A daemon thread's solve, in a context that calls back, ends with the program."""
    begun = time.perf_counter()
    run_python("""
import sys, threading, time
sys.path.insert(0, %r)
import numpy, sextant
from conftest import line
context = sextant.Context("cpu", log=lambda level, message: None, log_level="debug")
solver = sextant.PCG(sextant.Matrix(line(300000), context=context), preconditioner="none", rtol=1e-13, probe=-1, reorder=-1)
inside = threading.Event()
threading.Thread(target=lambda: (inside.set(), solver.solve(numpy.ones(300000))), daemon=True).start()
inside.wait()
time.sleep(0.5)
""" % __file__.rpartition("/")[0])
    assert time.perf_counter() - begun < 30


def test_what_another_handler_raises(cpu):
    """An exception of any handler ends the solve."""

    class Late(Exception):
        pass

    def handler(*_):
        raise Late

    solver = sextant.PCG(sextant.Matrix(line(300000), context=cpu), preconditioner="none", rtol=1e-13, probe=-1, reorder=-1)  # fmt: skip
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Late):
            solver.solve(numpy.ones(300000))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    _, report = solver.solve(numpy.ones(300000), max_iterations=5)
    assert report.iterations == 5


def test_other_threads_run_meanwhile(cpu):
    """A thread of Python counts while another one is inside the library."""
    solver = sextant.PCG(sextant.Matrix(line(300000), context=cpu), preconditioner="none", rtol=1e-13, probe=-1, reorder=-1,
                         time_limit=0.5)  # fmt: skip
    running, counts = threading.Event(), []

    def solve():
        running.set()
        counts.append(solver.solve(numpy.ones(300000))[1].reason)

    thread = threading.Thread(target=solve)
    thread.start()
    running.wait()
    ticks = 0
    while not counts:
        time.sleep(0.01)
        ticks += 1
    thread.join()
    assert counts == ["time-limit"] and ticks > 10


def test_ctrl_c_before_the_job_is_known(monkeypatch):
    """Between its submission and what follows: the job is ended, and is waited for."""
    cancel, ended, submit = ffi.new("int32_t *"), [], _interrupt._submit

    def job():
        while not cancel[0]:
            time.sleep(0.001)
        time.sleep(0.05)
        ended.append(True)

    def interrupted(job):
        submit(job)
        monkeypatch.setattr(_interrupt, "_submit", submit)
        raise KeyboardInterrupt

    monkeypatch.setattr(_interrupt, "_submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _interrupt.interruptible(job, cancel)
    assert ended == [True]


def test_a_thread_that_cannot_be_made(monkeypatch):
    """The job runs once, on the caller's thread, and not again when threads can be made later."""
    runs = []

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    _interrupt._helper = None
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        _interrupt.interruptible(lambda: runs.append("first"), ffi.new("int32_t *"))
    _interrupt.interruptible(lambda: runs.append("second"), ffi.new("int32_t *"))
    assert runs == ["first", "second"]


def test_several_columns_of_one(cpu):
    """One right-hand side of shape (n, 1) is interruptible, as one of shape (n,)."""
    used = []
    solver = sextant.PCG(sextant.Matrix(line(9), context=cpu))
    original = _interrupt.interruptible
    try:
        _interrupt.interruptible = lambda job, cancel: (used.append(True), original(job, cancel))
        for shape, wanted in (((9,), 1), ((9, 1), 2), ((9, 2), 2)):
            solver.solve(numpy.ones(shape))
            assert len(used) == wanted
    finally:
        _interrupt.interruptible = original
