# SPDX-License-Identifier: BSD-3-Clause
"""Tensors of other libraries (PyTorch, CuPy) by the DLPack protocol: host memory as a NumPy array that shares it, device
memory as an address."""

from __future__ import annotations

import ctypes
import sys

import numpy

from ._library import error

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
_LEGACY_STREAM = 1  # its number in the protocol, where 0 and None have meanings that vary
_KINDS = {(2, 32): "f4", (2, 64): "f8", (5, 64): "c8", (5, 128): "c16"}


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]  # fmt: skip


class _Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor)]  # fmt: skip


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, [ctypes.py_object]


class DeviceArray:
    """Memory of a CUDA device, or managed by CUDA, as far as calls need it. Strides count values."""

    def __init__(self, keep, address, shape, strides, dtype, ordinal, writeable):
        self.keep, self.address, self.shape, self.strides = keep, address, shape, strides
        self.dtype, self.ordinal, self.writeable, self.ndim = dtype, ordinal, writeable, len(shape)


def _capsule(x, stream):
    arguments = {} if stream is None else {"stream": stream}
    try:
        return x.__dlpack__(max_version=(1, 0), **arguments)
    except TypeError:  # the producer is older than DLPack 1.0
        return x.__dlpack__(**arguments)


def _read(name, capsule):
    """The tensor in a capsule, and whether it may be written."""
    if _name(capsule) == b"dltensor_versioned":
        managed = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        if managed.major != 1:  # another one may lie otherwise in memory
            raise error("SXT_E_NOT_SUPPORTED", f"{name} comes by DLPack {managed.major}.{managed.minor}; version 1 is taken")
        return managed.tensor, not managed.flags & 1
    return _Tensor.from_address(_pointer(capsule, b"dltensor")), True


def view(name: str, x, stream=None):
    """x as a NumPy array that shares its memory, or, of memory that a GPU may be writing, a DeviceArray. Both keep x alive. `stream`:
    of the device, on which the memory will be used; None: CUDA's legacy default stream. x's library makes it wait for its own work."""
    kind, ordinal = x.__dlpack_device__()
    kind = int(kind)
    if kind not in (CPU, CUDA, CUDA_HOST, CUDA_MANAGED):
        raise error("SXT_E_NOT_SUPPORTED", f"{name} lies on a device of DLPack type {kind}; host memory and CUDA are taken")
    on_device = kind in (CUDA, CUDA_MANAGED)
    capsule = _capsule(x, (_LEGACY_STREAM if stream is None else stream) if on_device else None)
    tensor, writeable = _read(name, capsule)
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    code = _KINDS.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if code is None:
        raise error("SXT_E_TYPE", f"{name} holds values of DLPack type {tensor.code} of {tensor.bits} bits; "
                    "float32, float64, complex64 and complex128 are taken")  # fmt: skip
    dtype = numpy.dtype(code)
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else _packed(shape)
    address = (tensor.data or 0) + tensor.byte_offset
    most = sys.maxsize // dtype.itemsize
    if any(not 0 <= extent <= most for extent in shape) or any(not -most <= stride <= most for stride in strides):
        raise error("SXT_E_ARGUMENT", f"{name} has the extents {shape} and strides {strides}: no tensor has such")
    if tensor.data is None and 0 not in shape:
        raise error("SXT_E_ARGUMENT", f"{name} has no memory")
    if on_device:
        return DeviceArray((x, capsule), address, shape, strides, dtype, int(ordinal), writeable)
    return numpy.asarray(_Host((x, capsule), address, shape, strides, dtype, writeable))


def _packed(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return tuple(strides)


class _Host:
    """Host memory for numpy.asarray, which keeps this object as the array's base."""

    def __init__(self, keep, address, shape, strides, dtype, writeable):
        self._keep = keep
        byte_strides = tuple(stride * dtype.itemsize for stride in strides)
        self.__array_interface__ = {"version": 3, "data": (address, not writeable), "shape": shape,
                                    "strides": byte_strides, "typestr": dtype.str}  # fmt: skip


def library_of(x):
    """The module that x's type comes from, such as torch or cupy."""
    return sys.modules[type(x).__module__.partition(".")[0]]


def empty_like(name: str, x):
    """A new tensor of x's library, device, shape and type."""
    make = getattr(library_of(x), "empty_like", None)
    if make is None:
        raise error("SXT_E_NOT_SUPPORTED", f"{name}: {library_of(x).__name__} has no empty_like; give the result's array as out")
    return make(x)


def give_back(array, x):
    """A NumPy array as a tensor of x's library, in the same memory; itself where that library has no from_dlpack."""
    convert = getattr(library_of(x), "from_dlpack", None)
    return convert(array) if convert else array
