# SPDX-License-Identifier: BSD-3-Clause
"""Worlds: several contexts as one, in this process or in several threads of it."""

from __future__ import annotations

from typing import Any, Iterable

import numpy

from . import _arrays, _options, _sources
from ._context import Context
from ._explain import Explanation, explanation
from ._library import NULL, call, error, ffi, lib, text
from ._matrix import Matrix
from ._objects import Closing, Gate, made
from ._reports import MemberReport, Report, from_struct


class Threads(Closing):
    """A communicator whose ranks are threads of this process: each makes its World with ``rank(r)``.

    Parameters
    ----------
    size : int
        How many ranks there are.

    Notes
    -----
    It outlives the worlds that were made with it. Python's global lock is free while a rank waits for the others.
    """

    def __init__(self, size: int):
        self.size = size
        self._handle = made("sxt_comm_threads", lib.sxt_comm_threads_destroy, call, lib.sxt_comm_threads_create, size)

    def rank(self, rank: int) -> Rank:
        """The end of one rank, for its thread."""
        comm = _options.answer("sxt_comm")
        call(lib.sxt_comm_threads_get, self._use(), rank, comm)
        return Rank(comm, self._handle)


class Rank:
    """One rank's end of a communicator."""

    def __init__(self, comm, kept):
        self._comm, self._kept = comm, kept


class World(Closing):
    """Several contexts, the members, as one: matrices are divided among them by rows.

    Parameters
    ----------
    contexts : iterable of Context
        The members of this process, in order: GPUs, or CPU contexts.
    rank : Rank, optional
        This thread's end of a `Threads` communicator; without it this process is the whole world.
    time_limit : float, optional
        Seconds that one wait for other ranks may take; 60 where it is left out.

    Notes
    -----
    One call of a world and its objects at a time in a thread's world. Calls that make or solve something are collective: every
    rank makes them, in one order. Arrays are NumPy's and hold the rows of this rank, the members' one after the other.
    """

    def __init__(self, contexts: Iterable[Context], *, rank: Rank | None = None, time_limit: float | None = None):
        self.contexts = tuple(contexts)
        for context in self.contexts:
            if not isinstance(context, Context):
                raise TypeError(f"World: contexts must be sextant.Contexts, not {type(context).__name__}")
        if not self.contexts:
            raise error("SXT_E_ARGUMENT", "World: contexts is empty; a process brings one context at least")
        options, keep = _options.make("sxt_world_options", "World", {}, time_limit=time_limit)
        handles = ffi.new("sxt_context *[]", [context._use() for context in self.contexts])
        self._rank = rank
        comm = rank._comm if rank is not None else NULL
        self._call = self.contexts[0]._call
        self._handle = made("sxt_world", lib.sxt_world_destroy, self._call, lib.sxt_world_create, len(self.contexts), handles, comm, options)
        del keep
        self._gate = Gate("world")

    def _info(self):
        info = _options.answer("sxt_world_info")
        self._call(lib.sxt_world_get_info, self._use(), info)
        return info

    @property
    def rank(self) -> int:
        """Of this thread, from 0."""
        return self._info().rank

    @property
    def ranks(self) -> int:
        """How many there are."""
        return self._info().ranks

    @property
    def members(self) -> int:
        """Contexts of all ranks."""
        return self._info().members

    @property
    def ended(self) -> bool:
        """Whether the communicator failed, or a rank did not answer in time: every later call is CommunicationError."""
        return bool(self._info().ended)

    def plan_rows(self, rows: int) -> numpy.ndarray:
        """Where each member's rows begin if rows are divided by the members' memory rates; the last entry is `rows`."""
        begin = numpy.empty(self.members + 1, numpy.int64)
        self._call(lib.sxt_rows_plan, self._use(), rows, ffi.cast("int64_t *", _arrays.address(begin)))
        return begin

    def matrix(self, A: Any, *, rows: tuple[int, int] | None = None, method: str | None = None, **options: Any) -> WorldMatrix:
        """A matrix of which this rank brings some rows.

        Parameters
        ----------
        A : sparse matrix of SciPy, or (data, indices, indptr) of CSR
            The rows of this rank, with global columns. Or a Matrix of one context, which a world of one process divides.
        rows : (int, int), optional
            The global number of the first row that this rank brings, and of all rows; (0, len) where this is the only rank.
        method : str, optional
            How a Matrix is divided: "contiguous" (default), "one", or "rcm" and "metis", which renumber rows (`WorldMatrix.order`).
        options
            As in ``sxt_matrix_options``.
        """
        if isinstance(A, Matrix):
            if rows is not None or options:
                raise error("SXT_E_ARGUMENT", "World.matrix: a Matrix has its own rows and options")
            chosen, keep = _options.make("sxt_partition_options", "World.matrix", {}, method=method)
            with self._gate.alone(), A._gate:
                handle = made("sxt_matrix", lib.sxt_matrix_destroy, self._call, lib.sxt_matrix_split, self._use(), A._use(), chosen)
            del keep
            return WorldMatrix(self, handle, A.dtype)
        if method is not None:
            raise error("SXT_E_ARGUMENT", "World.matrix: method is for a Matrix; rows that a rank brings are its own")
        shape = None
        if hasattr(A, "tocsr"):
            A = A.tocsr()
        elif rows is not None and isinstance(A, (tuple, list)) and len(A) == 3:
            shape = (len(A[2]) - 1, rows[1])
        given = _sources.entries(A, shape, options.get("index_base") or 0)
        if given.form != "csr":
            raise error("SXT_E_ARGUMENT", "World.matrix: rows are given as CSR: a sparse matrix of SciPy, or (data, indices, indptr)")
        first, total = rows if rows is not None else (0, given.shape[0])
        types = {"value_type": _arrays.TYPES[given.values.dtype], "index_type": _arrays.INDEX_TYPES[given.second.dtype],
                 "offset_type": _arrays.INDEX_TYPES[given.first.dtype]}  # fmt: skip
        settings, keep = _options.make("sxt_matrix_options", "World.matrix", options, **types)
        with self._gate.alone():
            handle = made("sxt_matrix", lib.sxt_matrix_destroy, self._call, lib.sxt_matrix_from_csr_rows, self._use(), total, total,
                          first, given.shape[0], _arrays.address(given.first), _arrays.address(given.second),
                          _arrays.address(given.values), settings)  # fmt: skip
        del keep
        return WorldMatrix(self, handle, given.values.dtype)

    def __repr__(self):
        return "<sextant.World, closed>" if self.closed else f"<sextant.World of {self.members} members on {self.ranks} ranks>"


class WorldMatrix(Closing):
    """A matrix of a world, divided by rows: made by `World.matrix`."""

    def __init__(self, world: World, handle, dtype):
        self.world, self._handle, self.dtype = world, handle, numpy.dtype(dtype)
        begin = numpy.empty(world.members + 1, numpy.int64)
        world._call(lib.sxt_matrix_rows, self._use(), ffi.cast("int64_t *", _arrays.address(begin)))
        #: Where each member's rows begin, global; the last entry is the number of rows.
        self.begin: numpy.ndarray = begin
        info = world._info()
        own = begin[info.first_member : info.first_member + info.own + 1]
        self._lengths = numpy.ascontiguousarray(numpy.diff(own))
        #: The global numbers of the first row of this rank, and of the first that follows them.
        self.rows: tuple[int, int] = (int(own[0]), int(own[-1]))

    @property
    def shape(self) -> tuple[int, int]:
        """Of the whole matrix."""
        return (int(self.begin[-1]),) * 2

    @property
    def order(self) -> numpy.ndarray:
        """The caller's number of each row of this rank, in the order in which arrays hold them: b[order] is a right-hand side."""
        order = numpy.empty(self.rows[1] - self.rows[0], numpy.int64)
        self.world._call(lib.sxt_matrix_order, self._use(), ffi.cast("int64_t *", _arrays.address(order)))
        return order

    def _vector(self, name, values=None):
        world = self.world
        handle = made("sxt_vector", lib.sxt_vector_destroy, world._call, lib.sxt_world_vector_create, world._use(),
                      ffi.cast("int64_t *", _arrays.address(self._lengths)), _arrays.TYPES[self.dtype])  # fmt: skip
        if values is not None:
            values = numpy.ascontiguousarray(_arrays.on_host(name, values, self.dtype, "a world"))
            wanted = self.rows[1] - self.rows[0]
            if values.shape != (wanted,):
                raise error("SXT_E_DIMENSION", f"{name} has shape {values.shape}; this rank has {wanted} rows")
            world._call(lib.sxt_vector_write, handle.item(), _arrays.address(values))
        return handle

    def _read(self, vector):
        out = numpy.empty(self.rows[1] - self.rows[0], self.dtype)
        self.world._call(lib.sxt_vector_read, vector.item(), _arrays.address(out))
        return out

    def multiply(self, x: Any) -> numpy.ndarray:
        """A x; x and the answer hold the rows of this rank. Collective."""
        with self.world._gate.alone():
            source, target = self._vector("x", x), self._vector("y")
            self.world._call(lib.sxt_spmv, lib.SXT_NO_TRANSPOSE, NULL, self._use(), source.item(), NULL, target.item())
            return self._read(target)

    def __matmul__(self, x: Any) -> numpy.ndarray:
        return self.multiply(x)

    def update_values(self, values: Any) -> None:
        """New values of this rank's rows, in the order of the arrays that it brought. Collective: all ranks or none take theirs."""
        values = numpy.ascontiguousarray(_arrays.on_host("values", values, self.dtype, "update_values")).reshape(-1)
        with self.world._gate.alone():
            self.world._call(lib.sxt_matrix_update_values, self._use(), _arrays.address(values), values.size)

    def pcg(self, **options: Any) -> WorldPCG:
        """Conjugate gradients with this matrix. Options: those of `PCG`, and ``engine`` is "world.by-host", "world.on-devices" or
        "world.members:N"; by default the models choose how many members solve. Collective."""
        return WorldPCG(self, options)

    def __repr__(self):
        return f"<sextant.WorldMatrix {self.shape[0]} x {self.shape[1]}, {self.dtype}{', closed' if self.closed else ''}>"


class WorldPCG(Closing):
    """A set-up of conjugate gradients in a world: made by `WorldMatrix.pcg`."""

    def __init__(self, matrix: WorldMatrix, options: dict):
        self.matrix, self._world = matrix, matrix.world
        settings, keep = _options.make("sxt_pcg_options", "WorldMatrix.pcg", options)
        with self._world._gate.alone():
            self._handle = made("sxt_pcg", lib.sxt_pcg_destroy, self._world._call, lib.sxt_pcg_create, matrix._use(), settings)
        del keep

    def solve(self, b: Any, x0: Any = None, **options: Any) -> tuple[numpy.ndarray, Report]:
        """Solves A x = b; b, the guess x0 and the answer hold the rows of this rank.

        Options: rtol, atol, max_iterations and time_limit of this solve. Collective."""
        own = {"use_initial_guess": True} if x0 is not None else {}
        settings, keep = _options.make("sxt_solve_options", "WorldPCG.solve", options, **own)
        filled = _options.answer("sxt_pcg_report")
        with self._world._gate.alone():
            rhs, x = self.matrix._vector("b", b), self.matrix._vector("x0", x0)
            self._world._call(lib.sxt_pcg_solve, self._use(), rhs.item(), x.item(), settings, filled)
            answer = self.matrix._read(x)
        del keep
        return answer, from_struct(Report, filled, reason=text(lib.sxt_reason_name(filled.reason)),
                                   reason_sentence=text(lib.sxt_reason_sentence(filled.reason)))  # fmt: skip

    def member(self, member: int) -> MemberReport:
        """What the i-th member of this rank has of the matrix, and what the last solve took there."""
        report = _options.answer("sxt_member_report")
        self._world._call(lib.sxt_pcg_get_member, self._use(), member, report)
        return from_struct(MemberReport, report)

    def explain(self) -> Explanation:
        """How many members solve and why, the kernel chosen for each part, and the alternatives with their predicted costs."""
        with self._world._gate:
            return explanation(self._world._call, lib.sxt_pcg_explain, self._use())

    def __repr__(self):
        return f"<sextant.WorldPCG of {self.matrix.shape[0]} unknowns{', closed' if self.closed else ''}>"
