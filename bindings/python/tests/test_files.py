# SPDX-License-Identifier: BSD-3-Clause
"""Matrices from files: the library's own reader of Harwell-Boeing, and SciPy's of other formats."""

import gzip
import zipfile

import numpy
import pytest
import scipy.io
import scipy.sparse
from conftest import DATA, DTYPES, plate, scattered

import sextant

# 4 -1 0 / -1 4 -2 / 0 -2 4, the lower triangle by columns.
LOWER = """{title:<72}{key:<8}
{total:14d}{pointers:14d}{indices:14d}{values:14d}
{kind:<14}             3             3             5             0
(4I4)           (5I4)           {form}
   1   3   5   6
   1   2   2   3   3
 {numbers}
"""
NUMBERS = "  4.00000E+00 -1.00000D+00  4.00000E+00 -2.00000D+00  4.00000E+00"
WHOLE = [[4, -1, 0], [-1, 4, -2], [0, -2, 4]]


def boeing(kind="RSA", numbers=NUMBERS):
    return LOWER.format(title="three rows", key="three", total=3, pointers=1, indices=1, values=1, kind=kind, numbers=numbers,
                        form="(5I4)" if kind[0] in "iI" else "(5E13.5)")  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_npz_and_mat(cpu, random, tmp_path, dtype):
    a = scattered(random, 7, 5, dtype)
    for form in ("csr", "csc", "coo", "bsr", "dia"):
        scipy.sparse.save_npz(tmp_path / "a.npz", a.asformat(form))
        assert abs(sextant.read_matrix(tmp_path / "a.npz", context=cpu).to_scipy() - a).max() == 0
    wide = a.astype("c16" if numpy.dtype(dtype).kind == "c" else "f8")  # what MATLAB has
    scipy.io.savemat(tmp_path / "a.mat", {"a": wide, "b": numpy.ones(3)})
    matrix = sextant.read_matrix(str(tmp_path / "a.mat"), context=cpu, dtype=dtype)
    assert matrix.dtype == dtype and abs(matrix.to_scipy() - a).max() == 0


def test_variables_of_mat(cpu, tmp_path):
    """By name, and within a struct, as collections of matrices have it."""
    scipy.io.savemat(tmp_path / "two.mat", {"a": plate(2), "b": plate(3)})
    assert sextant.read_matrix(tmp_path / "two.mat", name="b", context=cpu).shape == (9, 9)
    with pytest.raises(ValueError, match="name must say which sparse matrix of .*two.mat is meant: a, b"):
        sextant.read_matrix(tmp_path / "two.mat", context=cpu)
    with pytest.raises(ValueError, match="no sparse matrix 'c'; those that it has: a, b"):
        sextant.read_matrix(tmp_path / "two.mat", name="c", context=cpu)
    scipy.io.savemat(tmp_path / "one.mat", {"Problem": {"A": plate(2), "title": "a plate", "id": 7}})
    for name in (None, "Problem.A"):
        assert sextant.read_matrix(tmp_path / "one.mat", name=name, context=cpu).shape == (4, 4)
    with pytest.raises(ValueError, match="name is for .mat files"):
        sextant.read_matrix(tmp_path / "a.npz", name="a", context=cpu)


@pytest.mark.parametrize(("kind", "numbers", "whole"), [
    ("RSA", NUMBERS, WHOLE), ("rsa", NUMBERS, WHOLE), ("ISA", " 4 -1 4 -2 4", WHOLE), ("RUA", NUMBERS, numpy.tril(WHOLE)),
    ("RZA", " 0 -1 0 -2 0", [[0, 1, 0], [-1, 0, 2], [0, -2, 0]]),
])  # fmt: skip
def test_rutherford_boeing(cpu, tmp_path, kind, numbers, whole):
    (tmp_path / "a.rb").write_text(boeing(kind, numbers))
    with gzip.open(tmp_path / "a.RSA.gz", "wt") as file:
        file.write(boeing(kind, numbers))
    for name in ("a.rb", "a.RSA.gz"):
        matrix = sextant.read_matrix(tmp_path / name, context=cpu)
        assert matrix.dtype == numpy.float64 and (matrix.to_scipy().toarray() == whole).all()
    if kind == "RSA":
        numpy.testing.assert_allclose(WHOLE @ sextant.solve(sextant.read_matrix(tmp_path / "a.rb", context=cpu), numpy.ones(3)), 1)


def test_boeing_complex_pattern_and_rectangular(cpu, tmp_path):
    values = " 4 0 -1 2 4 0 -2 -3 4 0"
    (tmp_path / "a.cha").write_text(boeing("CHA", values).replace("(5E13.5)", "(10F4.0)"))
    whole = [[4, -1 - 2j, 0], [-1 + 2j, 4, -2 + 3j], [0, -2 - 3j, 4]]
    assert (sextant.read_matrix(tmp_path / "a.cha", context=cpu).to_scipy().toarray() == whole).all()
    (tmp_path / "a.pua").write_text("\n".join(boeing("PUA").splitlines()[:6]) + "\n")
    assert (sextant.read_matrix(tmp_path / "a.pua", context=cpu).to_scipy().toarray() == numpy.tril(numpy.array(WHOLE) != 0)).all()
    (tmp_path / "a.rra").write_text(boeing("RRA").replace("             3             3             5", "             7             3             5"))
    assert sextant.read_matrix(tmp_path / "a.rra", context=cpu).shape == (7, 3)
    narrow = boeing(numbers="4.00-1.00 4.00-2.00 4.00").replace("(5E13.5)", "(5F5.2)")
    (tmp_path / "narrow.rsa").write_text(narrow)  # numbers that no blank parts
    assert (sextant.read_matrix(tmp_path / "narrow.rsa", context=cpu).to_scipy().toarray() == WHOLE).all()


def test_general_files_of_scipy(cpu, random, tmp_path):
    a = scattered(random, 8, 8).tocsc()
    scipy.io.hb_write(str(tmp_path / "a.rua"), a)
    assert abs(sextant.read_matrix(tmp_path / "a.rua", context=cpu).to_scipy() - a).max() == 0


def test_matrix_market(cpu):
    assert sextant.read_matrix(DATA / "bcsstk16.mtx.gz", context=cpu, dtype=numpy.float32).shape == (4884, 4884)


def test_integers(cpu, tmp_path):
    scipy.sparse.save_npz(tmp_path / "a.npz", plate(2).astype(numpy.int32))
    assert sextant.read_matrix(tmp_path / "a.npz", context=cpu).dtype == numpy.float64
    with pytest.raises(TypeError, match="read_matrix: dtype has dtype int32"):
        sextant.read_matrix(tmp_path / "a.npz", context=cpu, dtype=numpy.int32)


@pytest.mark.filterwarnings("ignore:string or file could not be read:DeprecationWarning")  # SciPy's, of numbers that are none
def test_files_that_are_none(cpu, tmp_path):
    for name in ("a.npz", "a.mat", "a.rb", "a.mtx"):
        with pytest.raises(OSError, match="a\\.") as error:
            sextant.read_matrix(tmp_path / name, context=cpu)
        assert error.value.code == "SXT_E_FILE_READ"
    (tmp_path / "text").write_text("no matrix\n" * 50)
    for name in ("b.npz", "b.mat", "b.rb", "b.rsa"):
        (tmp_path / name).write_bytes((tmp_path / "text").read_bytes())
        says = ":2: the second line must have" if name[2] == "r" else ".* has not the format of its extension"
        with pytest.raises(ValueError, match=name + says) as error:
            sextant.read_matrix(tmp_path / name, context=cpu)
        assert error.value.code == "SXT_E_FILE_FORMAT"
    numpy.savez(tmp_path / "dense.npz", a=numpy.ones(3))
    scipy.io.savemat(tmp_path / "dense.mat", {"a": numpy.ones(3)})
    for name in ("dense.npz", "dense.mat"):
        with pytest.raises(ValueError, match=name):
            sextant.read_matrix(tmp_path / name, context=cpu)
    for text in (boeing(numbers=" 4 -1 4"), boeing(numbers=" 4 -1 4 x 4"), boeing()[:-60]):
        (tmp_path / "short.rb").write_text(text)
        with pytest.raises(ValueError, match="short.rb"):
            sextant.read_matrix(tmp_path / "short.rb", context=cpu)
    (tmp_path / "new.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF\r\n\x1a\n")
    (tmp_path / "elements.rb").write_text(boeing("RSE"))
    for name in ("new.mat", "elements.rb", "a.txt", "a.mat.gz", "a"):
        with pytest.raises(NotImplementedError, match=name):
            sextant.read_matrix(tmp_path / name, context=cpu)


def test_complex_values_do_not_become_real(cpu, tmp_path):
    scipy.sparse.save_npz(tmp_path / "a.npz", scipy.sparse.identity(3, format="csr") * (1 + 2j))
    with pytest.raises(sextant.DataTypeError, match="complex"):
        sextant.read_matrix(tmp_path / "a.npz", context=cpu, dtype="f8")


@pytest.mark.parametrize("form", ["csr", "bsr"])
def test_places_outside_of_the_matrix(cpu, tmp_path, form):
    arrays = {"indptr": [0, 10**8, 2, 3], "indices": [0, 1, 2], "shape": (3, 3), "format": form.encode()}
    data = numpy.ones((3, 1, 1) if form == "bsr" else 3, dtype="i4")
    numpy.savez(tmp_path / "a.npz", data=data, **arrays)
    with pytest.raises(sextant.ArgumentError):
        sextant.read_matrix(tmp_path / "a.npz", context=cpu)


@pytest.mark.parametrize("form", ["coo", "dia"])
def test_rows_that_a_short_file_claims(cpu, tmp_path, form):
    """Rows without entries cost memory, too: 2^31 of them in a kilobyte are not believed."""
    parts = {"row": [0], "col": [0], "data": [1.0]} if form == "coo" else {"offsets": [0], "data": [[1.0]]}
    path = tmp_path / "a.npz"
    numpy.savez(path, shape=(2**31 - 1, 2**31 - 1), format=form.encode(), **parts)
    with pytest.raises(sextant.ArgumentError, match=r"a.npz has \d+ bytes and claims shape \(2147483647, 2147483647\)"):
        sextant.read_matrix(path, context=cpu)
    numpy.savez(path, shape=(2**20, 2**20), format=form.encode(), **parts)
    assert sextant.read_matrix(path, context=cpu).nnz == 1
    numpy.savez(path, shape=(2**21, 2**21), format=form.encode(), **parts)
    assert sextant.read_matrix(path, context=cpu, most_rows_per_byte=2**20).shape == (2**21, 2**21)


def test_arrays_shorter_than_their_headers(cpu, tmp_path):
    path = tmp_path / "a.npz"
    scipy.sparse.save_npz(path, plate(2), compressed=False)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            with archive.open(name, "w") as file:
                if name != "data.npy":
                    file.write(content)
                    continue
                numpy.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (2**50,)})
                file.write(content[-8:])
    with pytest.raises(sextant.ArgumentError, match="data.npy has 8 bytes, and its header says 1125899906842624 x float64"):
        sextant.read_matrix(path, context=cpu)


def test_memory_that_runs_out_in_scipy(cpu, tmp_path, monkeypatch):
    """Whatever asks for too much, the reader or what makes the matrix of it."""

    def fails(*_, **__):
        raise MemoryError("Unable to allocate 16.0 GiB")

    scipy.sparse.save_npz(tmp_path / "a.npz", plate(2))
    for place in ("scipy.sparse.load_npz", "sextant._files.Matrix"):
        with monkeypatch.context() as patch:
            patch.setattr(place, fails)
            with pytest.raises(sextant.OutOfMemoryError, match="a.npz asks for more memory than there is: Unable") as error:
                sextant.read_matrix(tmp_path / "a.npz", context=cpu)
            assert error.value.code == "SXT_E_MEMORY"
