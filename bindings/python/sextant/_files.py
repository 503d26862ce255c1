# SPDX-License-Identifier: BSD-3-Clause
"""Matrices from files: the library's own readers of Matrix Market and Harwell-Boeing, and SciPy's of other formats."""

from __future__ import annotations

import os
import zipfile
from typing import Any

import numpy

from . import _arrays
from ._context import Context
from ._errors import SextantError
from ._library import error, path_bytes
from ._mat_layout import check_layout
from ._matrix import Matrix

# Sizes that are believed whatever the file's size, and for each of its bytes: as the library's reader of Matrix Market has it.
_FREE_ROWS, _ROWS_PER_BYTE = 2**20, 1000
_MOST_DEFLATED = 1032  # bytes that one byte of a compressed file can become


def read_matrix(path: str | os.PathLike, *, name: str | None = None, dtype: Any = None, context: Context | None = None,
                **options: Any) -> Matrix:  # fmt: skip
    """A matrix from a file, by its extension.

    Parameters
    ----------
    path : path
        ``.mtx`` or ``.mtx.gz``: Matrix Market; ``.rb``, ``.hb``, ``.rua``, ``.rsa``, ``.rsa.gz`` and the like: Rutherford-Boeing or
        Harwell-Boeing, assembled. These are read by the library. The others need SciPy. ``.npz``: of ``scipy.sparse.save_npz``.
        ``.mat``: of MATLAB, up to version 7.
    name : str, optional
        Of the variable in a ``.mat`` file, such as "A" or "Problem.A"; the only sparse one where it is left out.
    dtype : optional
        Another type than the file's; integers become float64.
    context, **options
        As for `Matrix`.

    Returns
    -------
    Matrix

    Raises
    ------
    FileError
        The file could not be read.
    ArgumentError
        Its content has not the format of its extension, or a ``.mat`` file has no variable of that name, or several without a name.
    UnsupportedError
        This kind is not read: MATLAB's version 7.3, unassembled matrices in Harwell-Boeing.
    """
    where = os.fsdecode(path_bytes(path))
    read = _reader(where)
    if name is not None and read is not _mat:
        raise error("SXT_E_ARGUMENT", f"read_matrix: name is for .mat files, and {where} is none")
    if read is None:
        return Matrix(path, context=context, dtype=dtype, **options)
    try:
        entries = read(where, name)
    except OSError as failed:
        raise error("SXT_E_FILE_READ", f"{where} could not be read: {failed.strerror or failed}") from None
    except NotImplementedError as failed:
        raise error("SXT_E_NOT_SUPPORTED", f"{where}: {failed}") from None
    except MemoryError as failed:
        raise _too_large(where, failed) from None
    except (SextantError, ImportError):
        raise
    except Exception as failed:  # SciPy's readers raise many kinds on damaged files
        raise error("SXT_E_FILE_FORMAT", f"{where} has not the format of its extension, or is damaged: {failed}") from None
    _check_shape(where, entries.shape, options.get("most_rows_per_byte"))
    try:
        return _matrix(where, entries, dtype, context, options)
    except MemoryError as failed:
        raise failed if isinstance(failed, SextantError) else _too_large(where, failed) from None


def _too_large(where, failed):
    return error("SXT_E_MEMORY", f"{where} asks for more memory than there is: {failed}")


def _check_shape(where, shape, most_rows_per_byte):
    """The rule of the library's own reader: rows without entries cost memory, too, and a short file may claim any number of them."""
    most = max(_FREE_ROWS, (most_rows_per_byte or _ROWS_PER_BYTE) * os.path.getsize(where))
    if max(shape, default=0) > most:
        raise error("SXT_E_FILE_FORMAT", f"{where} has {os.path.getsize(where)} bytes and claims shape {tuple(shape)}: no more than {most} "
                    "rows and columns are believed; most_rows_per_byte may be given")  # fmt: skip


def _matrix(where, entries, dtype, context, options):
    if dtype is None and entries.dtype.kind in "biu":
        dtype = numpy.float64
    if dtype is not None:
        _arrays.check_values("read_matrix: dtype", numpy.dtype(dtype))
        if entries.dtype.kind == "c" and numpy.dtype(dtype).kind != "c":
            raise error("SXT_E_TYPE", f"{where} holds complex values, which {numpy.dtype(dtype)} cannot hold")
        entries.data = entries.data.astype(dtype)  # the matrix's own astype adds duplicates up, with places unchecked
    return Matrix(entries, context=context, **options)


def _reader(path):
    """By the extension; None: the library's own."""
    plain = path.lower()
    extension = os.path.splitext(plain.removesuffix(".gz"))[1]
    boeing = len(extension) == 4 and extension[1] in "rcpi" and extension[2] in "usrzh" and extension[3] in "ae"
    if extension in (".mtx", ".rb", ".hb") or boeing:
        return None
    if extension in (".npz", ".mat") and not plain.endswith(".gz"):
        return {".npz": _npz, ".mat": _mat}[extension]
    raise error("SXT_E_NOT_SUPPORTED", f"read_matrix: {path} ends with none of .mtx, .npz, .rb, .hb, .rsa, .rua and .mat")


def _npz(path, _):
    from scipy.sparse import load_npz

    _check_arrays(path)
    return load_npz(path)


def _check_arrays(path):
    """Each array of the archive is as long as its header says: NumPy reserves memory by the header."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.file_size > _MOST_DEFLATED * member.compress_size + 1024:
                raise ValueError(f"{member.filename} cannot hold {member.file_size} bytes in {member.compress_size}")
            with archive.open(member) as file:
                version = numpy.lib.format.read_magic(file)
                read = {(1, 0): numpy.lib.format.read_array_header_1_0, (2, 0): numpy.lib.format.read_array_header_2_0}.get(version)
                if read is None:
                    raise ValueError(f"{member.filename} is of version {version}; 1.0 and 2.0 are read")
                shape, _, dtype = read(file)
                count = 1
                for each in shape:
                    count *= each
                if count * dtype.itemsize != member.file_size - file.tell():
                    raise ValueError(f"{member.filename} has {member.file_size - file.tell()} bytes, and its header says {count} x {dtype}")


def _mat(path, name):
    from scipy.io import loadmat

    check_layout(path)
    found = {}
    for variable, value in loadmat(path, appendmat=False).items():
        if hasattr(value, "tocsr"):
            found[variable] = value
        for field in (value.dtype.names or ()) if isinstance(value, numpy.ndarray) and value.size == 1 else ():  # a struct
            if hasattr(value[field].item(), "tocsr"):
                found[f"{variable}.{field}"] = value[field].item()
    names = ", ".join(found) or "none"
    if name is not None and name not in found:
        raise error("SXT_E_ARGUMENT", f"{path} has no sparse matrix {name!r}; those that it has: {names}")
    if name is None and len(found) != 1:
        raise error("SXT_E_ARGUMENT", f"name must say which sparse matrix of {path} is meant: {names}")
    return found[name] if name is not None else next(iter(found.values()))
