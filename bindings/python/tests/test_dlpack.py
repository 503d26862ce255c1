# SPDX-License-Identifier: BSD-3-Clause
"""Tensors by DLPack, without the libraries that make them: host memory is shared, device memory is refused on a CPU."""

import ctypes
import sys
import types

import numpy
import pytest
from conftest import line

import sextant
from sextant import _dlpack


class Tensor:
    """What PyTorch and CuPy show of a tensor."""

    def __init__(self, array, device=(1, 0), versioned=True, read_only=False, code=None, lanes=1):
        self.array, self.device, self.versioned = array, device, versioned
        code = {"f": 2, "c": 5, "i": 0}[array.dtype.kind] if code is None else code
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.strides = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
        tensor = _dlpack._Tensor(array.ctypes.data, *device, array.ndim, code, array.itemsize * 8, lanes, self.shape,
                                 None if array.flags.c_contiguous else self.strides, 0)  # fmt: skip
        self.managed = _dlpack._Versioned(1, 0, None, None, int(read_only), tensor) if versioned else tensor
        self.streams = []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, **more):
        if more and not self.versioned:
            raise TypeError("max_version is not known")
        self.streams.append(stream)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.managed), b"dltensor_versioned" if self.versioned else b"dltensor", None)


@pytest.fixture(scope="module")
def a(cpu):
    return sextant.Matrix(line(4), context=cpu)


@pytest.mark.parametrize("versioned", [True, False])
def test_host_tensors_share_memory(a, versioned):
    x, y = numpy.arange(4.0), numpy.empty(4)
    out = Tensor(y, versioned=versioned)
    assert a.multiply(Tensor(x, versioned=versioned), out=out) is out
    assert y.tolist() == (line(4) @ x).tolist()
    view = _dlpack.view("x", Tensor(x, versioned=versioned))
    view[0] = 7
    assert x[0] == 7


def test_columns_and_strides(a):
    wide = numpy.asfortranarray(numpy.arange(12.0).reshape(4, 3))
    assert (a.multiply(Tensor(wide)) == line(4) @ wide).all()
    assert (a.multiply(Tensor(numpy.arange(8.0)[::2])) == line(4) @ numpy.arange(8.0)[::2]).all()


def test_results_come_back_in_the_library_of_the_operand(a, monkeypatch):
    """PyTorch gives a tensor and gets one."""
    maker = types.ModuleType("maker")
    maker.from_dlpack = lambda array: ("tensor of", array)
    monkeypatch.setitem(sys.modules, "maker", maker)
    monkeypatch.setattr(Tensor, "__module__", "maker.tensors")
    name, array = a @ Tensor(numpy.ones(4))
    assert name == "tensor of" and array.tolist() == [1, 0, 0, 1]


def test_read_only_tensors(a):
    with pytest.raises(ValueError, match="out is read-only"):
        a.multiply(numpy.ones(4), out=Tensor(numpy.empty(4), read_only=True))
    assert a.multiply(Tensor(numpy.ones(4), read_only=True)).tolist() == [1, 0, 0, 1]


def test_device_tensors_are_refused_on_a_cpu(a):
    tensor = Tensor(numpy.ones(4), device=(2, 1))
    for call in (lambda: a @ tensor, lambda: sextant.PCG(a).solve(tensor), lambda: sextant.Cholesky(a).solve(tensor),
                 lambda: a.multiply(numpy.ones(4), out=tensor)):  # fmt: skip
        with pytest.raises(ValueError, match="memory of CUDA device 1, and this context computes on the CPU"):
            call()
    with pytest.raises(NotImplementedError, match="DLPack type 10"):
        a @ Tensor(numpy.ones(4), device=(10, 0))
    for call in (lambda: a.update_values(tensor), lambda: tensor @ a, lambda: sextant.Hermitian(2, 1).factor(tensor)):
        with pytest.raises(NotImplementedError, match="device memory"):
            call()


def test_types(a):
    with pytest.raises(TypeError, match="x has dtype float32, float64 is needed"):
        a @ Tensor(numpy.ones(4, numpy.float32))
    for tensor in (Tensor(numpy.ones(4, numpy.int64)), Tensor(numpy.ones(4), code=4), Tensor(numpy.ones(4), lanes=2)):
        with pytest.raises(TypeError, match="DLPack type"):
            a @ tensor


def test_operands_in_device_memory_keep_their_address(cpu):
    """What is handed to the library of a device tensor, on a context that says it computes there."""
    from sextant import _arrays

    gpu = types.SimpleNamespace(kind="cuda", _stream=77)
    memory = numpy.zeros((4, 2), order="F")
    tensor = Tensor(memory, device=(2, 0))
    columns = _arrays.read("x", tensor, 4, numpy.dtype(float), gpu)
    assert tensor.streams == [77] and columns.device and columns.count == 2 and columns.ld == 4
    assert int(sextant._library.ffi.cast("uintptr_t", columns.pointer)) == memory.ctypes.data
    with pytest.raises(ValueError, match="columns in device memory must be contiguous"):
        _arrays.read("x", Tensor(numpy.zeros((4, 2)), device=(2, 0)), 4, numpy.dtype(float), gpu)


@pytest.mark.parametrize("kind", [2, 13])
def test_memory_of_a_device_is_waited_for(kind):
    """The tensor's library is told the stream of its use, the legacy default one where the context has none; managed memory, too,
    may still be written by the GPU."""
    memory = numpy.zeros(4)
    for stream, told in ((None, 1), (77, 77)):
        tensor = Tensor(memory, device=(kind, 0))
        assert isinstance(_dlpack.view("x", tensor, stream), _dlpack.DeviceArray) and tensor.streams == [told]
    tensor = Tensor(memory, device=(3, 0))  # pinned memory of the host is the host's
    assert isinstance(_dlpack.view("x", tensor, 77), numpy.ndarray) and tensor.streams == [None]


def test_pytorch(a):
    torch = pytest.importorskip("torch")
    x = torch.arange(4, dtype=torch.float64)
    y = a @ x
    assert isinstance(y, torch.Tensor) and y.tolist() == (line(4) @ x.numpy()).tolist()
    assert a.multiply(x, out=y) is y


def test_damaged_tensors_and_other_versions():
    def refused(status, change, versioned=True):
        tensor = Tensor(numpy.arange(4.0)[::1], versioned=versioned)
        tensor.managed.tensor.strides = tensor.strides
        change(tensor)
        with pytest.raises(sextant.SextantError) as caught:
            _dlpack.view("x", tensor)
        assert caught.value.code == status and "x" in str(caught.value)

    refused("SXT_E_NOT_SUPPORTED", lambda tensor: setattr(tensor.managed, "major", 2))
    refused("SXT_E_ARGUMENT", lambda tensor: tensor.shape.__setitem__(0, -4))
    refused("SXT_E_ARGUMENT", lambda tensor: tensor.shape.__setitem__(0, 2**62))
    refused("SXT_E_ARGUMENT", lambda tensor: tensor.strides.__setitem__(0, 2**62))
    refused("SXT_E_ARGUMENT", lambda tensor: setattr(tensor.managed.tensor, "data", None))
