# SPDX-License-Identifier: BSD-3-Clause
"""What all objects of the library share: a handle that is freed once, and who may use it at a time."""

from __future__ import annotations

import threading

from ._library import error


class Gate:
    """Who is inside calls on an object: any number at once, or one that needs it alone.

    The C interface leaves it to its callers to keep such calls apart. Here the later one is refused: to wait for the other
    would be forever where both are of one thread, as in a callback."""

    def __init__(self, what: str, parent: Gate | None = None):
        self.what = what
        self._parent = parent
        self._lock = threading.Lock()
        self._users = 0  # -1: one alone

    def __enter__(self):
        if self._parent:
            self._parent.__enter__()
        with self._lock:
            if self._users >= 0:
                self._users += 1
                return self
        if self._parent:
            self._parent.__exit__()
        raise error("SXT_E_STATE", f"the {self.what} is in use by a call that needs it alone")

    def __exit__(self, *_):
        with self._lock:
            self._users -= 1
        if self._parent:
            self._parent.__exit__()

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
            if gate._users == 0:
                gate._users = -1
                return
        if gate._parent:
            gate._parent.__exit__()
        raise error("SXT_E_STATE", f"the {gate.what} is in use by another call, and this one needs it alone")

    def __exit__(self, *_):
        gate = self._gate
        with gate._lock:
            gate._users = 0
        if gate._parent:
            gate._parent.__exit__()


class Closing:
    """An object with a handle. The handle is freed when neither the object nor a running call holds it: so close() may be
    called at any time, from any thread."""

    _handle = None

    def _use(self):
        """The handle, for as long as the caller holds it."""
        handle = self._handle
        if handle is None:
            raise error("SXT_E_STATE", f"this {type(self).__name__} is closed")
        return handle

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
