# SPDX-License-Identifier: BSD-3-Clause
"""What all objects of the library share: a handle that is freed once, and who may use it at a time."""

from __future__ import annotations

import os
import threading
import weakref

import numpy

from ._library import error, ffi


def made(kind: str, destroy, call, function, *arguments) -> numpy.ndarray:
    """The handle (kind *) that a function of the library makes, as the item of an array: the garbage collector does not see into
    arrays. Else it would free the handles of a cycle before the __del__ of an object in it that uses them. The handle is freed also
    where the call raises all the same, as with what a log function raised meanwhile."""
    place = ffi.new(kind + " **")
    try:
        call(function, *arguments, place)
    except BaseException:
        if place[0]:
            destroy(place[0])
        raise
    kept = numpy.empty((), object)
    kept[()] = ffi.gc(place[0], destroy)
    return kept


class Gate:
    """Who is inside calls on an object: any number at once, or one that needs it alone.

    The C interface leaves it to its callers to keep such calls apart. Here the later one is refused: to wait for the other
    would be forever where both are of one thread, as in a callback."""

    _all: weakref.WeakSet = weakref.WeakSet()

    def __init__(self, what: str, parent: Gate | None = None):
        self.what = what
        self._parent = parent
        self._lock = threading.RLock()  # a handler of signals or a __del__ may enter while its own thread holds it
        self._users: list[int] = []  # threads inside
        self._alone = False
        self._all.add(self)

    def __enter__(self):
        if self._parent:
            self._parent.__enter__()
        with self._lock:
            if not self._alone:
                self._users.append(threading.get_ident())
                return self
        if self._parent:
            self._parent.__exit__()
        raise error("SXT_E_STATE", f"the {self.what} is in use by a call that needs it alone")

    def __exit__(self, *_):
        with self._lock:
            self._users.remove(threading.get_ident())
        if self._parent:
            self._parent.__exit__()

    @classmethod
    def after_fork(cls):
        """In a child, where no other thread lives on: their calls never end."""
        own = threading.get_ident()
        for gate in cls._all:
            gate._lock = threading.RLock()
            gate._users = [user for user in gate._users if user == own]
            gate._alone = gate._alone and bool(gate._users)

    def alone(self) -> Alone:
        """For a call that the C interface marks [exclusive]."""
        return Alone(self)


class Alone:
    def __init__(self, gate: Gate):
        self._gate = gate

    def __enter__(self):
        gate = self._gate
        if gate._parent:
            gate._parent.__enter__()
        with gate._lock:
            if not gate._users:
                gate._users.append(threading.get_ident())
                gate._alone = True
                return
        if gate._parent:
            gate._parent.__exit__()
        raise error("SXT_E_STATE", f"the {gate.what} is in use by another call, and this one needs it alone")

    def __exit__(self, *_):
        gate = self._gate
        with gate._lock:
            gate._users.clear()
            gate._alone = False
        if gate._parent:
            gate._parent.__exit__()


os.register_at_fork(after_in_child=Gate.after_fork)


class Closing:
    """An object with a handle. The handle is freed when neither the object nor a running call holds it: so close() may be
    called at any time, from any thread."""

    _handle = None

    def _use(self):
        """The handle, for as long as the caller holds it."""
        handle = self._handle
        if handle is None:
            raise error("SXT_E_STATE", f"this {type(self).__name__} is closed")
        return handle.item()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._handle is None

    def close(self) -> None:
        """Frees what the object holds, now instead of with its last reference. Objects made from it stay usable."""
        self._handle = None

    def __enter__(self):
        self._use()
        return self

    def __exit__(self, *_):
        self.close()

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} belongs to its process and cannot be pickled or copied: make one there")
