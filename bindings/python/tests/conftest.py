# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share: problems whose answers are known, and a context of the CPU."""

import os
import pathlib
import subprocess
import sys

import numpy
import pytest
import scipy.sparse

import sextant

DATA = pathlib.Path(__file__).resolve().parents[3] / "tests/data"
DTYPES = (numpy.float32, numpy.float64, numpy.complex64, numpy.complex128)


def line(n, dtype=numpy.float64):
    """-u'' on n points: 2 on the diagonal and -1 beside it."""
    return scipy.sparse.csr_array(scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n)).astype(dtype))


def plate(n, dtype=numpy.float64):
    """The 5-point Laplacian on n x n points."""
    one, identity = line(n), scipy.sparse.identity(n)
    return scipy.sparse.csr_array((scipy.sparse.kron(one, identity) + scipy.sparse.kron(identity, one)).astype(dtype))


def scattered(random, rows, cols, dtype=numpy.float64, density=0.2):
    """Entries at random places."""
    dense = random.standard_normal((rows, cols))
    if numpy.dtype(dtype).kind == "c":
        dense = dense + 1j * random.standard_normal((rows, cols))
    return scipy.sparse.csr_array((dense * (random.random((rows, cols)) < density)).astype(dtype))


def run_python(program, check=True, **environment):
    """A program in an interpreter of its own; a crash is seen in its exit code."""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
    if check:
        assert run.returncode == 0, f"it ended with {run.returncode}:\n{run.stdout}{run.stderr}"
        assert run.stderr == ""
    return run


@pytest.fixture(scope="session")
def cpu():
    return sextant.Context("cpu")


@pytest.fixture
def random():
    return numpy.random.default_rng(7)
