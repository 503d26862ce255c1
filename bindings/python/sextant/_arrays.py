# SPDX-License-Identifier: BSD-3-Clause
"""Vectors and blocks of vectors as the C interface takes them: an address, values between columns, and how many columns.

One vector is an array of shape (n,), several are the columns of one of shape (n, k). Columns that are contiguous are used where
they lie; other inputs are copied, other outputs refused."""

from __future__ import annotations

import numpy

from . import _dlpack
from ._library import error, ffi, lib

TYPES = {
    numpy.dtype(numpy.float32): lib.SXT_F32,
    numpy.dtype(numpy.float64): lib.SXT_F64,
    numpy.dtype(numpy.complex64): lib.SXT_C64,
    numpy.dtype(numpy.complex128): lib.SXT_C128,
}
DTYPES: dict[int, numpy.dtype] = {value: dtype for dtype, value in TYPES.items()}
INDEX_TYPES = {numpy.dtype(numpy.int32): lib.SXT_I32, numpy.dtype(numpy.int64): lib.SXT_I64}


def check_values(name: str, dtype) -> None:
    """Refuses types that nothing here computes in."""
    if dtype in TYPES:
        return
    if dtype.newbyteorder("=") in TYPES:
        raise error("SXT_E_TYPE", f"{name} is in the other byte order ({dtype.str}); convert it: x.astype(x.dtype.newbyteorder('='))")
    raise error("SXT_E_TYPE", f"{name} has dtype {dtype}; float32, float64, complex64 and complex128 are taken: convert it with astype")


def address(array):
    """Where an array begins."""
    return ffi.cast("void *", array.__array_interface__["data"][0])


def as_array(name: str, x, dtype, stream=None):
    """x as a NumPy array or a DeviceArray of the type that is needed, sharing its memory."""
    if isinstance(x, numpy.ma.MaskedArray):
        raise error("SXT_E_ARGUMENT", f"{name} is a masked array; fill it first")
    if not isinstance(x, numpy.ndarray):
        if hasattr(x, "__dlpack_device__"):
            x = _dlpack.view(name, x, stream)
        elif hasattr(x, "__array__"):
            x = numpy.asarray(x)
        else:
            return _from_sequence(name, x, dtype)
    check_values(name, x.dtype)
    if x.dtype != dtype:
        raise error("SXT_E_TYPE", f"{name} has dtype {x.dtype}, {dtype} is needed: convert it with astype")
    return x


def typed(name: str, given):
    """An array of the type that it has. Numbers of a list have none of their own: integers become float64."""
    if isinstance(given, numpy.ma.MaskedArray):
        raise error("SXT_E_ARGUMENT", f"{name} is a masked array; fill it first")
    array = given
    if not isinstance(array, numpy.ndarray):
        try:
            array = numpy.asarray(given)
        except ValueError:
            raise error("SXT_E_TYPE", f"{name} cannot be read as an array") from None
        if array.dtype.kind in "biu":
            array = array.astype(numpy.float64)
    check_values(name, array.dtype)
    return array


def numbers(name: str, given, dtype, count: int | None = None):
    """A contiguous array of one dimension for the library to read: indices, flags (uint8) or shifts. Integers are converted where
    none changes; a mask is no indices."""
    dtype = numpy.dtype(dtype)
    integers = dtype.kind in "iu"
    kinds = {"u": "iub", "i": "iu"}.get(dtype.kind, "iuf")
    try:
        array = numpy.asarray(given)
    except ValueError:
        raise error("SXT_E_TYPE", f"{name} cannot be read as an array of {dtype}") from None
    if array.size and array.dtype.kind not in kinds:
        raise error("SXT_E_TYPE", f"{name} must be a sequence of {'integers' if integers else 'real numbers'} that fit {dtype}, "
                    f"and has dtype {array.dtype}")  # fmt: skip
    if array.ndim != 1 or (count is not None and array.size != count):
        raise error("SXT_E_DIMENSION", f"{name} has shape {array.shape}; ({'k' if count is None else count},) is needed")
    kept = numpy.ascontiguousarray(array, dtype)
    changed = numpy.flatnonzero(kept != array) if integers else ()
    if len(changed):
        raise error("SXT_E_OVERFLOW", f"{name}[{changed[0]}] = {array[changed[0]]} does not fit {dtype}")
    return kept


def on_host(name: str, x, dtype, what: str):
    """x as a NumPy array; refuses device memory, which `what` does not take."""
    x = as_array(name, x, dtype)
    if not isinstance(x, numpy.ndarray):
        raise error("SXT_E_NOT_SUPPORTED", f"{name} lies in device memory; {what} takes host memory")
    return x


def _from_sequence(name, x, dtype):
    """Lists and the like have no type of their own."""
    try:
        return numpy.asarray(x, dtype)
    except (TypeError, ValueError):
        raise error("SXT_E_TYPE", f"{name} cannot be read as an array of {dtype}") from None


def _strides(array):
    """In values; None where they are no whole values."""
    if isinstance(array, _dlpack.DeviceArray):
        return array.strides
    whole = array.flags.aligned and all(stride % array.itemsize == 0 for stride in array.strides)
    return tuple(stride // array.itemsize for stride in array.strides) if whole else None


def _distance(array):
    """Values between columns; None where columns are not contiguous or lie in each other."""
    strides, rows = _strides(array), array.shape[0]
    if strides is None or (rows > 1 and strides[0] != 1):
        return None
    if array.ndim == 1 or array.shape[1] < 2:
        return max(rows, 1)
    return strides[1] if strides[1] >= max(rows, 1) else None


class Columns:
    """One operand of a call, and what keeps its memory."""

    def __init__(self, name: str, array, distance: int):
        self.array, self.ld, self.name = array, distance, name
        self.device = isinstance(array, _dlpack.DeviceArray)
        self.one = array.ndim == 1
        self.count = 1 if self.one else array.shape[1]
        self.pointer = ffi.cast("void *", array.address) if self.device else address(array)


def _checked(name, x, n, context):
    """Refuses a wrong shape, and device memory where the context computes on the CPU."""
    if x.ndim not in (1, 2) or x.shape[0] != n:
        raise error("SXT_E_DIMENSION", f"{name} has shape {tuple(x.shape)}; ({n},) or ({n}, k) is needed")
    if isinstance(x, _dlpack.DeviceArray) and context.kind != "cuda":
        raise error("SXT_E_ARGUMENT", f"{name} lies in the memory of CUDA device {x.ordinal}, and this context computes on the CPU: "
                    "copy it to the host, or make the matrix in Context('cuda')")  # fmt: skip
    return x


def read(name: str, x, n: int, dtype, context) -> Columns:
    """An operand that is read; copied where its columns are not contiguous."""
    x = _checked(name, as_array(name, x, dtype, context._stream), n, context)
    distance = _distance(x)
    if distance is None:
        if isinstance(x, _dlpack.DeviceArray):
            raise error("SXT_E_ARGUMENT", f"{name}: columns in device memory must be contiguous (order 'F')")
        x = numpy.array(x, order="F", copy=True)
        distance = max(n, 1)
    return Columns(name, x, distance)


def write(name: str, x, n: int, like: Columns, dtype, context) -> Columns:
    """An operand of the caller that is written in place."""
    if not (isinstance(x, numpy.ndarray) or hasattr(x, "__dlpack_device__")):
        raise error("SXT_E_TYPE", f"{name} must be an array that can be written, not {type(x).__name__}")
    x = _checked(name, as_array(name, x, dtype, context._stream), n, context)
    columns = Columns(name, x, _distance(x) or 0)
    if (columns.one, columns.count) != (like.one, like.count):
        raise error("SXT_E_DIMENSION", f"{name} has shape {tuple(x.shape)}, and {like.name} has shape {tuple(like.array.shape)}")
    if not (x.writeable if columns.device else x.flags.writeable):
        raise error("SXT_E_ARGUMENT", f"{name} is read-only")
    if not columns.ld:
        raise error("SXT_E_ARGUMENT", f"{name} is written in place: its columns must be contiguous (order 'F') and aligned")
    return columns


def _extent(columns: Columns):
    """The first byte of an operand, and the one behind its last."""
    begin = int(ffi.cast("uintptr_t", columns.pointer))
    rows = columns.array.shape[0]
    values = 0 if not rows or not columns.count else (columns.count - 1) * columns.ld + rows
    return begin, begin + values * columns.array.dtype.itemsize


def overlap(a: Columns, b: Columns) -> bool:
    """Whether two operands share memory, by where they begin and end."""
    (first, end), (other, other_end) = _extent(a), _extent(b)
    return a.device == b.device and first < other_end and other < end


def result(given, out, n: int, source: Columns, dtype, context):
    """Where the answer to `given` goes, and what the caller gets: `out`, or a new array of the kind that `given` is."""
    if out is not None:
        return write("out", out, n, source, dtype, context), out
    if source.device:
        if n != source.array.shape[0]:
            raise error("SXT_E_ARGUMENT", "the result has another length than the operand in device memory: give its array as out")
        made = _dlpack.empty_like(source.name, given)
        return write("out", made, n, source, dtype, context), made
    array = numpy.empty(n if source.one else (n, source.count), dtype, order="F")
    foreign = not isinstance(given, numpy.ndarray) and hasattr(given, "__dlpack_device__")
    return Columns("out", array, max(n, 1)), _dlpack.give_back(array, given) if foreign else array
