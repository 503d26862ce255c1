# SPDX-License-Identifier: BSD-3-Clause
"""Functions of Python that the library calls: the log of a context, the progress of a solve."""

from __future__ import annotations

import atexit
import ctypes
import itertools
import os
import threading
import time

from ._interrupt import cancel_all
from ._library import ffi


_LEVELS = 16  # of Python's stack, for a function as C calls it and for keeping what it raises


def _need_levels(count):
    """RecursionError where the stack has not so many left: raised in the midst of the library, it could not be kept."""
    if count:
        _need_levels(count - 1)


class Callback:
    """A Python function that the library calls, known to C by a number, so that a late call finds nothing instead of
    freed memory. What the function raises is kept for the caller of the library."""

    _all: dict = {}
    _numbers = itertools.count(1)
    _lock = threading.RLock()
    _inside = 0  # calls that may call back, of other threads than the main one
    ending = False  # the interpreter: no thread but the main one may call back any more

    def __init__(self, function):
        self.function = function
        self.raised = None
        self.number = next(self._numbers)
        self._all[self.number] = self

    @property
    def user(self):
        return ffi.cast("void *", self.number)

    def close(self):
        self._all.pop(self.number, None)

    @classmethod
    def of(cls, user):
        """The one that C means; None where it is gone."""
        return cls._all.get(int(ffi.cast("uintptr_t", user)))

    def call(self, function, *arguments) -> int:
        """`function`, during which the library may call back: raises what the function of this callback raised."""
        _need_levels(_LEVELS)
        main = threading.current_thread() is threading.main_thread()
        if not main:
            self._enter()
        try:
            return function(*arguments)
        finally:
            if not main:
                self._leave()
            raised, self.raised = self.raised, None
            if raised is not None:
                raise raised

    @classmethod
    def _enter(cls):
        with cls._lock:
            cls._inside += not cls.ending
            ending = cls.ending
        while ending:  # a daemon thread, which the process takes with it
            time.sleep(3600)

    @classmethod
    def _leave(cls):
        with cls._lock:
            cls._inside -= 1

    @classmethod
    def end(cls):
        """Waits for calls of daemon threads: Python ends a thread that calls back after its end, in the middle of the library."""
        with cls._lock:
            cls.ending = True
        cancel_all()
        while cls._inside > 0:
            time.sleep(0.001)

    @classmethod
    def after_fork(cls):
        cls._lock, cls._inside = threading.RLock(), 0


atexit.register(Callback.end)
os.register_at_fork(after_in_child=Callback.after_fork)


def _keep(kind, raised, trace):
    """What a function raised, KeyboardInterrupt too, which Python may raise before the function's first line."""
    callback = Callback.of(trace.tb_frame.f_locals["user"])
    if callback is not None:
        callback.raised = callback.raised or raised


def callback(signature, error=None):
    """A function as C calls it, with `user` as its first argument. It is never freed: the library may call it while the
    interpreter ends. `error`: its answer where it raises."""

    def make(function):
        made = ffi.callback(signature, function, error=error, onerror=_keep)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
        return made

    return make
