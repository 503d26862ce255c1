# SPDX-License-Identifier: BSD-3-Clause
"""Sextant: sparse and batched dense linear algebra that predicts what each of its kernels would cost on your matrix and your
machine, takes the cheapest, and can say why.

    import sextant
    A = sextant.Matrix(scipy_matrix)
    y = A @ x
    x = sextant.solve(A, b)

The guide is docs/python.md."""

from ._cholesky import Analysis, Cholesky
from ._cholesky_sets import CholeskySets
from ._context import Context, default_context
from ._errors import (
    ArgumentError,
    CommunicationError,
    DataTypeError,
    DeviceError,
    FileError,
    IndexRangeError,
    InternalError,
    MatrixError,
    NotConvergedError,
    OutOfMemoryError,
    SextantError,
    SizeError,
    StateError,
    UnsupportedError,
)
from ._explain import Explanation
from ._files import read_matrix
from ._hermitian import Hermitian, HermitianSystems, solve_hermitian
from ._library import path as library_path
from ._matrix import Matrix, Transpose
from ._pcg import PCG
from ._registry import kernels, library_version, plugins, refusals
from ._reports import (
    AnalysisInfo,
    CholeskyInfo,
    CholeskyReport,
    CholeskySetsInfo,
    CholeskySetsOutcomes,
    HermitianReport,
    Kernel,
    MemberReport,
    Plugin,
    Refusal,
    Report,
    SolveReport,
)
from ._solve import cg, solve
from ._world import Rank, Threads, World, WorldMatrix, WorldPCG

__version__ = library_version()
__all__ = [
    "Analysis",
    "AnalysisInfo",
    "ArgumentError",
    "Cholesky",
    "CholeskyInfo",
    "CholeskyReport",
    "CholeskySets",
    "CholeskySetsInfo",
    "CholeskySetsOutcomes",
    "Context",
    "CommunicationError",
    "DataTypeError",
    "DeviceError",
    "Explanation",
    "FileError",
    "Hermitian",
    "HermitianReport",
    "HermitianSystems",
    "IndexRangeError",
    "InternalError",
    "Kernel",
    "Matrix",
    "MatrixError",
    "MemberReport",
    "NotConvergedError",
    "OutOfMemoryError",
    "PCG",
    "Plugin",
    "Rank",
    "Refusal",
    "Report",
    "SextantError",
    "SizeError",
    "SolveReport",
    "StateError",
    "Threads",
    "Transpose",
    "UnsupportedError",
    "World",
    "WorldMatrix",
    "WorldPCG",
    "__version__",
    "cg",
    "default_context",
    "kernels",
    "library_path",
    "library_version",
    "plugins",
    "read_matrix",
    "refusals",
    "solve",
    "solve_hermitian",
]
