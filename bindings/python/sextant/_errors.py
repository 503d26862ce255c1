# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions: one class for each group of statuses, which is also Python's own exception of that meaning."""

from __future__ import annotations

import numpy


class SextantError(Exception):
    """What every error of the library is.

    Attributes
    ----------
    status : int
        The library's number for it, which is negative.
    code : str
        Its name, such as ``"SXT_E_DIMENSION"``: docs/reference/errors.md has all of them.
    """

    def __init__(self, sentence: str, status: int = -99, code: str = "SXT_E_INTERNAL"):
        super().__init__(sentence)
        self.status = status
        self.code = code

    def __reduce__(self):
        return type(self), (*self.args, self.status, self.code)


class ArgumentError(SextantError, ValueError):
    """An argument, option, name or size has no meaning, or a value is not finite."""


class MatrixError(SextantError, numpy.linalg.LinAlgError):
    """The matrix is not what the method needs: square, symmetric, positive definite."""


class DataTypeError(SextantError, TypeError):
    """Value or index types do not agree, or are none that the library computes in."""


class IndexRangeError(SextantError, IndexError):
    """An index is out of range."""


class SizeError(SextantError, OverflowError):
    """A size does not fit the integer type that must hold it."""


class OutOfMemoryError(SextantError, MemoryError):
    """Memory could not be allocated; the sentence has the bytes where they are known."""


class FileError(SextantError, OSError):
    """A file could not be read or written."""


class UnsupportedError(SextantError, NotImplementedError):
    """No kernel can do this, or the combination is not supported; the sentence says why."""


class DeviceError(SextantError, RuntimeError):
    """The device failed or is not there, or a plugin was refused."""


class CommunicationError(SextantError, RuntimeError):
    """Another rank of a world failed, or did not answer in time. Python makes no worlds yet."""


class StateError(SextantError, RuntimeError):
    """The object is closed, in use, or otherwise not in a state that allows this call."""


class InternalError(SextantError, RuntimeError):
    """An internal error of the library: please report it."""


class NotConvergedError(SextantError, RuntimeError):
    """A solve stopped before its true residual met the tolerance.

    Attributes
    ----------
    x : array
        The best iterate; None where there is none.
    report : sextant.Report, list of sextant.Report, or sextant.CholeskyReport
        How the solve ended: of conjugate gradients, where `report.reason` says why, or of a direct solve.
    """

    def __init__(self, sentence, status=2, code="SXT_NOT_CONVERGED", x=None, report=None):
        super().__init__(sentence, status, code)
        self.x = x
        self.report = report

    def __reduce__(self):
        return type(self), (*self.args, self.status, self.code, self.x, self.report)


CLASSES = {
    "SXT_NOT_APPLICABLE": UnsupportedError,
    "SXT_NOT_CONVERGED": NotConvergedError,
    "SXT_E_ARGUMENT": ArgumentError,
    "SXT_E_MEMORY": OutOfMemoryError,
    "SXT_E_NOT_SQUARE": MatrixError,
    "SXT_E_NOT_SYMMETRIC": MatrixError,
    "SXT_E_DIAGONAL": MatrixError,
    "SXT_E_NOT_FINITE": ArgumentError,
    "SXT_E_INDEX": IndexRangeError,
    "SXT_E_DUPLICATE": ArgumentError,
    "SXT_E_OVERFLOW": SizeError,
    "SXT_E_DIMENSION": ArgumentError,
    "SXT_E_TYPE": DataTypeError,
    "SXT_E_UNKNOWN_NAME": ArgumentError,
    "SXT_E_FILE_READ": FileError,
    "SXT_E_FILE_FORMAT": ArgumentError,
    "SXT_E_FILE_WRITE": FileError,
    "SXT_E_PLUGIN": DeviceError,
    "SXT_E_NO_KERNEL": UnsupportedError,
    "SXT_E_NOT_SUPPORTED": UnsupportedError,
    "SXT_E_DEVICE": DeviceError,
    "SXT_E_PLAN": ArgumentError,
    "SXT_E_STATE": StateError,
    "SXT_E_COMM": CommunicationError,
    "SXT_E_NOT_POSITIVE_DEFINITE": MatrixError,
    "SXT_E_INTERNAL": InternalError,
}
