# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB files that are not laid out as they say: SciPy reserves gigabytes for some, and ends the process at others."""

import struct
import zlib

import numpy
import pytest
import scipy.io
from conftest import plate

import sextant

HEAD = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
CELLS, STRUCT, TEXT, SPARSE, DOUBLE = 1, 2, 4, 5, 6


def element(kind, content):
    return struct.pack("<II", kind, len(content)) + content + b"\0" * (-len(content) % 8)


def start(kind, dims, name=b""):
    return element(6, struct.pack("<II", kind, 0)) + element(5, struct.pack(f"<{len(dims)}i", *dims)) + element(1, name)


def array(kind, dims, content, name=b""):
    return element(14, start(kind, dims, name) + content)


def sparse(rows, columns, places, pointers, values):
    parts = (5, "i", places), (5, "i", pointers), (9, "d", values)
    return array(SPARSE, (rows, columns), b"".join(element(kind, struct.pack(f"<{len(each)}{code}", *each)) for kind, code, each in parts), b"A")


def nested(depth):
    made = array(DOUBLE, (1, 1), element(9, struct.pack("<d", 1)))
    for _ in range(depth):
        made = array(CELLS, (1, 1), made)
    return made


def bomb(size):
    """A compressed array of that many zeros."""
    inside = start(9, (size, 1), b"U") + struct.pack("<II", 2, size)
    packer = zlib.compressobj(9)
    packed = packer.compress(struct.pack("<II", 14, len(inside) + size) + inside)
    for _ in range(size >> 24):
        packed += packer.compress(bytes(1 << 24))
    packed += packer.flush()
    return struct.pack("<II", 15, len(packed)) + packed


REFUSED = {
    "cells that are not there": (array(CELLS, (2**31 - 1, 1), b""), "2147483647 parts"),
    "structures that are not there": (array(STRUCT, (2**28, 1), element(5, struct.pack("<i", 8)) + element(1, b"a".ljust(8, b"\0"))), "parts"),
    "a text that is not there": (array(TEXT, (2**31 - 1, 1), element(16, b"")), "text of 0 bytes"),
    "an element longer than the file": (struct.pack("<II", 14, 2**32 - 16), "no place in the file"),
    "an element longer than the array around it": (element(14, start(DOUBLE, (2, 2)) + struct.pack("<II", 9, 2**31)), "no place in"),
    "cells in cells": (nested(900), "more than 32 arrays"),
    "an array in the place of numbers": (array(DOUBLE, (1, 1), nested(1)), "in the place of numbers"),
    "a negative size": (array(CELLS, (-1, 1), b""), "negative size"),
    "half a tag": (element(14, start(DOUBLE, (1, 1)))[:-4], "no place"),
    "much from little": (bomb(1 << 29), "too large"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_before_scipy_reads(cpu, tmp_path, monkeypatch, what):
    content, says = REFUSED[what]
    monkeypatch.setattr("scipy.io.loadmat", lambda *_, **__: pytest.fail("SciPy read it"))
    (tmp_path / "a.mat").write_bytes(HEAD + content)
    with pytest.raises(sextant.ArgumentError, match=f"a.mat has not the format of its extension, or is damaged: .*{says}"):
        sextant.read_matrix(tmp_path / "a.mat", context=cpu)


@pytest.mark.parametrize("places, pointers", [([0, 2_000_000_000], [0, 1, 2]), ([0, -5], [0, 1, 2]), ([0, 1], [0, 2_000_000_000, 2]), ([0, 1], [0, -5, 2])])
def test_places_outside_of_the_matrix(cpu, tmp_path, places, pointers):
    """SciPy hands them on; its own conversions would write there."""
    (tmp_path / "a.mat").write_bytes(HEAD + sparse(2, 2, places, pointers, [1.0, 2.0]))
    with pytest.raises((sextant.ArgumentError, sextant.IndexRangeError)):
        sextant.read_matrix(tmp_path / "a.mat", context=cpu)


@pytest.mark.parametrize("compressed", [False, True])
def test_what_scipy_writes_passes(cpu, tmp_path, compressed):
    a = plate(3)
    others = {"text": "hello", "texts": ["ab", "cde"], "none": numpy.zeros((0, 3)), "flags": numpy.ones((2, 2)) > 0, "nothing": "",
              "cells": numpy.array([1, "a", {"deep": {"deeper": numpy.arange(3) * 1j}}], dtype=object)}  # fmt: skip
    scipy.io.savemat(tmp_path / "a.mat", {**others, "A": a}, do_compression=compressed)
    assert abs(sextant.read_matrix(tmp_path / "a.mat", context=cpu).to_scipy() - a).max() == 0
    scipy.io.savemat(tmp_path / "a.mat", {**others, "Problem": {"A": a * 1j, "title": "x" * 50}}, do_compression=compressed)
    assert sextant.read_matrix(tmp_path / "a.mat", name="Problem.A", context=cpu).dtype == numpy.complex128
    (tmp_path / "b.mat").write_bytes(HEAD + sparse(2, 2, [0, 1], [0, 1, 2], [1.0, 2.0]))
    assert sextant.read_matrix(tmp_path / "b.mat", context=cpu).nnz == 2
