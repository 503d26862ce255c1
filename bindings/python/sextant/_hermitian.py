# SPDX-License-Identifier: BSD-3-Clause
"""Sets of dense Hermitian systems, factored and solved in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

import numpy

from . import _arrays, _options
from ._context import Context, default_context
from ._explain import Explanation, explanation
from ._library import error, ffi, lib
from ._objects import Closing, Gate, made
from ._reports import HermitianReport, from_struct

_SHORTCUTS = {"toeplitz": lib.SXT_SHORTCUT_TOEPLITZ, "mixed": lib.SXT_SHORTCUT_MIXED, "always": lib.SXT_SHORTCUT_ALWAYS,
              "butterfly": lib.SXT_SHORTCUT_BUTTERFLY}  # fmt: skip
# Members of a set that are arrays with one entry, or some, for each system.
_ARRAYS = {"info": "int32_t *", "pivots": "int32_t *", "scale": "double *", "shift": "double *", "residual": "double *",
           "rcond": "double *", "inertia": "int32_t *", "shortcut": "uint8_t *"}  # fmt: skip
# Outputs that are asked for by name: members of the set, the numbers of a system, their type, and the calls that write them.
_WANTED = {"residual": ((), numpy.float64, ("solve", "factor_solve")), "rcond": ((), numpy.float64, ("factor", "factor_solve")),
           "inertia": ((3,), numpy.int32, ("factor", "factor_solve"))}  # fmt: skip


@dataclass
class HermitianSystems:
    """What became of a set. Arrays have one entry for each system in their first dimension.

    Attributes
    ----------
    info : int32 array
        0: done; k > 0: leading minor k (from 1) is not positive, or block k of D is singular; negative: docs/hermitian.md.
    x : array or None
        Solutions, of b's shape.
    factor : array or None
        Factors in LAPACK's layout, of shape (batch, n, n).
    pivots : int32 array or None
        LAPACK's pivots, of shape (batch, n), unless sets are definite.
    scale : array or None
        What ``equilibrate`` chose, of shape (batch, n).
    shift : array or None
        The shift in force, where shifts were given.
    residual, rcond : array or None
        Backward errors |b - A x| / (|A| |x| + |b|) in the largest norm, and estimated reciprocal condition numbers, if asked for.
    inertia : int32 array or None
        Positive, negative and zero eigenvalues, of shape (batch, 3), if asked for.
    shortcut : uint8 array or None
        1 where a shortcut solved the system, which then has no factor.
    """

    info: numpy.ndarray
    x: numpy.ndarray | None = None
    factor: numpy.ndarray | None = None
    pivots: numpy.ndarray | None = None
    scale: numpy.ndarray | None = None
    shift: numpy.ndarray | None = None
    residual: numpy.ndarray | None = None
    rcond: numpy.ndarray | None = None
    inertia: numpy.ndarray | None = None
    shortcut: numpy.ndarray | None = None


def _shortcut_bits(names):
    names = (names,) if isinstance(names, str) else tuple(names)
    unknown = [name for name in names if name not in _SHORTCUTS]
    if unknown:
        raise error("SXT_E_UNKNOWN_NAME", f"Hermitian: shortcuts are {', '.join(map(repr, _SHORTCUTS))}, not {unknown[0]!r}")
    return sum(_SHORTCUTS[name] for name in set(names))


class Hermitian(Closing):
    """A solver for sets of dense real symmetric or complex Hermitian systems, in host memory.

    Parameters
    ----------
    n, batch : int
        The order of a system (or the largest), and how many systems a set has.
    dtype : optional
        float64 by default.
    n_rhs : int, optional
        Right-hand sides of a system, at most; 1 by default.
    orders : sequence of int, optional
        Orders of their own; arrays are padded to n.
    definiteness : str, optional
        "definite" (default), "indefinite", or "try": definite first, then the systems that failed.
    triangle : str, optional
        The one that is read: "lower" (default) or "upper".
    shifts : sequence of float, optional
        A + shifts[0] I is factored; a system that fails is tried again with each further one.
    shortcuts : str or sequence of str, optional
        "toeplitz", "mixed", "butterfly", "always": docs/hermitian_shortcuts.md.
    context : Context, optional
    equilibrate : bool, optional
        Scale rows and columns by powers of two to a diagonal near 1.
    refine_steps, refine_tolerance : optional
        Steps of iterative refinement, at most (0 by default), and the backward error at which a system needs no more of them.
    shift_relative : bool, optional
        Shifts are multiples of the mean of a system's diagonal.
    may_spoil : bool, optional
        The triangle that is not read may be overwritten, which admits more kernels.
    workspace_limit : int, optional
        Bytes beside the set; left out: what is needed.
    expected_runs : float, optional
        How often sets will be solved, for the choice; 1 by default.
    kernel : str, optional
        The one kernel that may be taken, by name.

    Notes
    -----
    A system that fails disturbs no other: look at ``info``. Any number of threads may use it. Calls cannot be interrupted.
    """

    def __init__(self, n: int, batch: int, dtype: Any = numpy.float64, *, n_rhs: int = 1, orders: Sequence[int] | None = None,
                 shifts: Sequence[float] | None = None, shortcuts: str | Sequence[str] = (), context: Context | None = None,
                 **options: Any):  # fmt: skip
        self.context = context if context is not None else default_context()
        self._dtype = numpy.dtype(dtype)
        _arrays.check_values("Hermitian: dtype", self._dtype)
        self._n, self._batch, self._options = n, batch, options
        arrays = {"orders": None if orders is None else _arrays.numbers("orders", orders, numpy.int32, batch),
                  "shifts": None if shifts is None else _arrays.numbers("shifts", shifts, numpy.float64)}  # fmt: skip
        self._shifted, self._definite = shifts is not None, options.get("definiteness") in (None, "definite")
        given = {"n": n, "batch": batch, "n_rhs": n_rhs, "value_type": _arrays.TYPES[self._dtype], "space": lib.SXT_SPACE_HOST,
                 "shortcuts": _shortcut_bits(shortcuts), "n_shifts": 0 if shifts is None else arrays["shifts"].size}  # fmt: skip
        for name, kind in (("orders", "int32_t *"), ("shifts", "double *")):
            given[name] = None if arrays[name] is None else ffi.cast(kind, _arrays.address(arrays[name]))
        settings, keep = _options.make("sxt_hermitian_options", "Hermitian", options, **given)
        with self.context._gate:
            self._handle = made("sxt_hermitian", lib.sxt_hermitian_destroy, self.context._call, lib.sxt_hermitian_create,
                                self.context._use(), settings)  # fmt: skip
        del keep, arrays
        self._gate = Gate("solver", self.context._gate)

    def factor(self, a: Any, *, active: Any = None, overwrite_a: bool = False, want: str | Sequence[str] = ()) -> HermitianSystems:
        """Factors a set.

        Parameters
        ----------
        a : array of shape (batch, n, n)
            One triangle of each matrix is read. It is copied, unless overwrite_a is true and each matrix is column-major.
        active : array of bool, optional
            Systems that are False are left alone.
        want : sequence of str, optional
            Further outputs: "rcond", "inertia".
        """
        systems = self._systems(want, "factor")
        systems.factor = self._matrices(a, overwrite_a)
        self._run(lib.sxt_hermitian_factor, systems, active)
        return systems

    def solve(self, factored: HermitianSystems, b: Any, *, a: Any = None, overwrite_b: bool = False,
              want: str | Sequence[str] = ()) -> HermitianSystems:  # fmt: skip
        """Solves for b of shape (batch, n) or (batch, n, k) with the factors of `factor`, of a solver of the same sizes, type and
        options. Systems that have no factor keep their b. want: "residual", which needs the matrices again in `a`, as refinement
        does."""
        systems = self._add(self._factors(factored), want, "solve")
        systems.x = self._sides(b, overwrite_b)
        matrices = None if a is None else self._matrices(a, False)
        if systems.x.size:  # a set of no right-hand sides would mean as many as described
            self._run(lib.sxt_hermitian_solve, systems, None, matrices)
        return systems

    def factor_solve(self, a: Any, b: Any, *, active: Any = None, overwrite_a: bool = False, overwrite_b: bool = False,
                     want: str | Sequence[str] = ()) -> HermitianSystems:  # fmt: skip
        """Factors and solves in one call; alone here shortcuts are taken. want: "residual", "rcond", "inertia"."""
        systems = self._systems(want, "factor_solve")
        systems.shortcut = numpy.zeros(self._batch, numpy.uint8)
        systems.factor, systems.x = self._matrices(a, overwrite_a), self._sides(b, overwrite_b)
        self._run(lib.sxt_hermitian_factor_solve if systems.x.size else lib.sxt_hermitian_factor, systems, active)
        return systems

    def report(self) -> HermitianReport:
        """What was chosen and predicted, and what calls asked for so far."""
        filled = _options.answer("sxt_hermitian_report")
        self.context._call(lib.sxt_hermitian_get_report, self._use(), filled)
        return from_struct(HermitianReport, filled)

    def explain(self) -> Explanation:
        """The kernels considered for each phase, their predicted costs, and why others were refused."""
        return explanation(self.context._call, lib.sxt_hermitian_explain, self._use())

    def _systems(self, want, call):
        systems = HermitianSystems(numpy.zeros(self._batch, numpy.int32))
        if not self._definite:
            systems.pivots = numpy.zeros((self._batch, self._n), numpy.int32)
        if self._options.get("equilibrate"):
            systems.scale = numpy.ones((self._batch, self._n))
        if self._shifted:
            systems.shift = numpy.zeros(self._batch)
        return self._add(systems, want, call)

    def _factors(self, factored):
        """What a solve reads of a factored set. It may come from another solver, or have been changed: what does not fit this
        solver is refused, or the library would read beyond it."""
        if not isinstance(factored, HermitianSystems):
            raise TypeError(f"solve takes what factor returned, not {type(factored).__name__}")
        if factored.factor is None:
            raise error("SXT_E_STATE", "there are no factors: these systems were not factored by factor or factor_solve")
        if factored.shortcut is not None and numpy.any(factored.shortcut):
            raise error("SXT_E_STATE", f"system {numpy.flatnonzero(factored.shortcut)[0]} was solved by a shortcut and has no factor")
        systems = HermitianSystems(self._part(factored, "info", numpy.int32).copy())
        if not self._definite:
            systems.pivots = self._part(factored, "pivots", numpy.int32, self._n)
        if self._options.get("equilibrate"):
            systems.scale = self._part(factored, "scale", numpy.float64, self._n)
        if self._shifted:
            systems.shift = self._part(factored, "shift", numpy.float64)
        systems.factor = self._columns("factored.factor", factored.factor, (self._batch, self._n, self._n), False, False)
        return systems

    def _part(self, factored, name, dtype, *numbers):
        """An array of a factored set, contiguous."""
        array, shape = getattr(factored, name), (self._batch, *numbers)
        if not isinstance(array, numpy.ndarray):
            raise error("SXT_E_TYPE", f"factored.{name} is {type(array).__name__}, and this solver needs an array: was the set factored by "
                        "a solver with other options?")  # fmt: skip
        if array.dtype != dtype:
            raise error("SXT_E_TYPE", f"factored.{name} has dtype {array.dtype}, {numpy.dtype(dtype)} is needed")
        if array.shape != shape:
            raise error("SXT_E_DIMENSION", f"factored.{name} has shape {array.shape}; {shape} is needed")
        return numpy.require(array, requirements=["C", "A"])

    def _add(self, systems, want, call):
        for name in (want,) if isinstance(want, str) else want:
            known = [each for each, (_, _, calls) in _WANTED.items() if call in calls]
            if name not in known:
                raise error("SXT_E_UNKNOWN_NAME", f"want: outputs of {call} are {', '.join(map(repr, known))}, not {name!r}")
            shape, dtype, _ = _WANTED[name]
            setattr(systems, name, numpy.zeros((self._batch, *shape), dtype))
        return systems

    def _matrices(self, a, overwrite):
        return self._columns("a", a, (self._batch, self._n, self._n), overwrite)

    def _sides(self, b, overwrite):
        b = _arrays.on_host("b", b, self._dtype, "a set")
        if b.ndim not in (2, 3) or b.shape[:2] != (self._batch, self._n):
            raise error("SXT_E_DIMENSION", f"b has shape {b.shape}; ({self._batch}, {self._n}) or ({self._batch}, {self._n}, k) is needed")
        if b.ndim == 3:
            return self._columns("b", b, b.shape, overwrite)
        return self._columns("b", b[:, :, None], (*b.shape, 1), overwrite)[:, :, 0]

    def _columns(self, name, array, shape, overwrite, writes=True):
        """The array itself where each system is column-major and it may be overwritten, or is only read; else such a copy."""
        array = _arrays.on_host(name, array, self._dtype, "a set")
        if array.shape != shape:
            raise error("SXT_E_DIMENSION", f"{name} has shape {array.shape}; {shape} is needed")
        turned = array.transpose(0, 2, 1)
        if (overwrite or not writes) and turned.flags.c_contiguous and turned.flags.aligned:
            if writes and not array.flags.writeable:
                raise error("SXT_E_ARGUMENT", f"{name} is read-only, and overwrite_{name} is set")
            return array
        return numpy.array(turned, order="C", copy=True).transpose(0, 2, 1)

    def _run(self, function, systems, active, matrices=None):
        """`matrices`: the set where it lies apart from its factors."""
        described, keep = _options.make("sxt_hermitian_set", "Hermitian", {})
        described.a = _arrays.address(systems.factor if matrices is None else matrices)
        if matrices is not None:
            described.factor = _arrays.address(systems.factor)
        for name, kind in _ARRAYS.items():
            array = getattr(systems, name)
            if array is not None:
                setattr(described, name, ffi.cast(kind, _arrays.address(array)))
        if active is not None:
            keep.append(_arrays.numbers("active", active, numpy.uint8, self._batch))
            described.active = ffi.cast("uint8_t *", _arrays.address(keep[-1]))
        if systems.x is not None:
            described.b = _arrays.address(systems.x)
            described.n_rhs = 1 if systems.x.ndim == 2 else systems.x.shape[2]
        with self._gate:
            self.context._call(function, self._use(), described)

    def __repr__(self):
        return f"<sextant.Hermitian, {self._batch} systems of order {self._n}, {self._dtype}{', closed' if self.closed else ''}>"


def solve_hermitian(a: Any, b: Any, *, context: Context | None = None, want: str | Sequence[str] = (), **options: Any) -> HermitianSystems:
    """Factors and solves one set: `Hermitian` with the sizes and the type of a, and its `factor_solve`.

    Parameters
    ----------
    a : array of shape (batch, n, n)
    b : array of shape (batch, n) or (batch, n, k)
    want, **options
        As there.
    """
    a = _arrays.typed("a", a)
    b = _arrays.on_host("b", b, a.dtype, "a set")
    if a.ndim != 3 or a.shape[1] != a.shape[2]:
        raise error("SXT_E_DIMENSION", f"a has shape {a.shape}; (batch, n, n) is needed")
    with Hermitian(a.shape[1], a.shape[0], a.dtype, n_rhs=b.shape[2] if b.ndim == 3 else 1, context=context, **options) as solver:
        return solver.factor_solve(a, b, want=want)
