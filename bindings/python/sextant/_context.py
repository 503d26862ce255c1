# SPDX-License-Identifier: BSD-3-Clause
"""Contexts: one device each, with its profile, plan and forced kernels."""

from __future__ import annotations

import os
import re
import threading
import weakref
from typing import Any, Callable, Iterable

from . import _options
from ._callbacks import Callback, callback
from ._library import NULL, call, error, ffi, get_text, lib, name_bytes, path_bytes, text
from ._objects import Closing, Gate, made

_LEVELS = {value: name for name, value in _options.NAMES["log_level"].items()}
_DEVICE = re.compile(r"(auto|cpu|cuda)(?::(\d{1,9}))?")


@callback("sextant_log_function *")
def _log(user, level, message):
    found = Callback.of(user)
    if found is not None:
        found.function(_LEVELS.get(level, str(level)), text(message))


@callback("sextant_calibration_function *", error=1)
def _calibration(user, done, what, seconds_left):
    found = Callback.of(user)
    return 1 if found is None or Callback.ending or found.function(done, text(what), seconds_left) else 0


class Context(Closing):
    """A device, opened: a CPU or one NVIDIA GPU.

    Parameters
    ----------
    device : str
        "auto" (a GPU where there is one, else the CPU), "cpu", "cuda" or "cuda:1". On a GPU, "auto" computes on plain host
        arrays wherever the models predict less time.
    threads : int, optional
        CPU threads to use; all that the process may use where it is left out.
    deterministic : bool, optional
        Equal bits for equal input, for any number of threads.
    profile : path, optional
        Machine profile; by default the one that ``sextant calibrate`` wrote.
    plugin_paths : iterable of paths, optional
        Further plugin files or folders, trusted because they are named here.
    log : callable, optional
        ``log(level, message)`` with two strings, called from any thread. What it raises is raised by the call that is running.
    log_level : str, optional
        The most talkative level to report: "error", "warning" (default), "info" or "debug".
    race, race_seconds : int and float, optional
        So many of the best candidates run on the real matrix before one is chosen, in so many seconds together (0.1 by default).
        Left out: as the environment variable ``SEXTANT_RACE`` says, else no race.
    feedback : int, optional
        1: measured runs correct later choices; negative: they do not. Left out: as ``SEXTANT_FEEDBACK`` says.

    Notes
    -----
    Contexts are independent. Any number of threads may use one. A child process made by fork may use a context of the CPU, not
    one of a GPU.
    """

    def __init__(self, device: str = "auto", *, threads: int | None = None, deterministic: bool | None = None,
                 profile: str | os.PathLike | None = None, plugin_paths: Iterable[str | os.PathLike] = (),
                 log: Callable[[str, str], object] | None = None, log_level: str | None = None,
                 race: int | None = None, feedback: int | None = None, race_seconds: float | None = None):  # fmt: skip
        match = _DEVICE.fullmatch(device) if isinstance(device, str) else None
        if match is None:
            raise error("SXT_E_ARGUMENT", f"Context: device must be 'auto', 'cpu', 'cuda' or 'cuda:<number>', not {device!r}")
        paths = [ffi.new("char[]", path_bytes(path)) for path in plugin_paths]
        path_array = ffi.new("char *[]", paths) if paths else NULL
        profile_path = ffi.new("char[]", path_bytes(profile)) if profile is not None else None
        self._callback = Callback(log) if log else None
        if self._callback:
            weakref.finalize(self, self._callback.close)
        options, keep = _options.make(
            "sxt_context_options", "Context", {}, device=match.group(1), device_ordinal=int(match.group(2) or 0), threads=threads,
            deterministic=deterministic, plugin_paths=path_array, n_plugin_paths=len(paths), log=_log if log else None,
            log_user=self._callback.user if log else None, log_level=log_level, race=race, feedback=feedback,
            race_seconds=race_seconds)  # fmt: skip
        options.profile_path = profile_path or NULL
        self._handle = made("sxt_context", lib.sxt_context_destroy, self._call, lib.sxt_context_create, options)
        del keep
        self._gate = Gate("context")
        self._stream: int | None = None
        #: "cpu" or "cuda": where this context computes.
        self.kind: str = self.describe().partition(":")[0]

    def _call(self, function, *arguments) -> int:
        """A call in this context: raises its error, or what the log's function raised meanwhile."""
        return self._callback.call(call, function, *arguments) if self._callback else call(function, *arguments)

    def describe(self) -> str:
        """The device in words: kind, name, threads, memory, and the bandwidths that the models use."""
        return get_text(self._call, lib.sxt_context_describe, self._use())

    def __repr__(self):
        return f"<sextant.Context {'closed' if self.closed else self.describe()}>"

    def force(self, kind: str, kernel: str | None) -> None:
        """Takes this kernel for a kind, such as "sxt.spmv/1", in later choices; None lets the models choose again."""
        with self._gate:
            of_kind = ffi.new("char[]", name_bytes("force: kind", kind))
            of_kernel = NULL if kernel is None else ffi.new("char[]", name_bytes("force: kernel", kernel))
            self._call(lib.sxt_context_force, self._use(), of_kind, of_kernel)

    def save_plan(self, path: str | os.PathLike) -> None:
        """Writes the choices made so far to a file."""
        with self._gate:
            self._call(lib.sxt_plan_save, self._use(), path_bytes(path))

    def load_plan(self, path: str | os.PathLike, *, required: bool = False) -> None:
        """Lets later choices follow a file of `save_plan`. Where an entry is missing or no longer fits, the models choose;
        with `required` that is an error."""
        with self._gate:
            self._call(lib.sxt_plan_load, self._use(), path_bytes(path), int(required))

    def set_stream(self, stream: int | None) -> None:
        """Enqueues all later work on a CUDA stream, by its address (``cupy.cuda.Stream.ptr``, ``torch.cuda.Stream.cuda_stream``).

        Calls whose results stay on the device then return at once. None ends it: each call waits again. The stream must outlive
        its use here. No other call of this context may be running."""
        with self._gate.alone():
            self._call(lib.sxt_context_set_stream, self._use(), ffi.cast("void *", stream or 0))
            self._stream = stream or None

    def synchronize(self) -> None:
        """Waits for all work on the stream of `set_stream`."""
        with self._gate:
            self._call(lib.sxt_context_synchronize, self._use())

    def calibrate(self, *, progress: Callable[[float, str, float], object] | None = None, path: str | os.PathLike | None = None,
                  **options: Any) -> str:  # fmt: skip
        """Measures the machine and the kernels, and fits the models to them: predictions are rough until this was done once.

        Parameters
        ----------
        progress : callable, optional
            ``progress(done, what, seconds_left)``, done from 0 to 1; True ends it early, and what was measured is fitted.
        path : path, optional
            The profile to create or to extend; by default this machine's own, which later contexts find.
        quick : bool, optional
            20 seconds and smaller problems instead of 90 (GPU: 60) seconds.
        seconds : float, optional
            Another time.
        kind : str, optional
            One kind of kernels alone, such as "sxt.pcg/1".

        Returns
        -------
        str
            The profile's path.

        Notes
        -----
        Nothing else should use the machine meanwhile, and no other call of this context may be running. Ctrl-C ends it.
        """
        told = Callback(progress or (lambda done, what, seconds_left: None))
        name = ffi.new("char[]", path_bytes(path)) if path is not None else NULL
        settings, keep = _options.make("sxt_calibrate_options", "Context.calibrate", options, progress=_calibration,
                                       progress_user=told.user)  # fmt: skip
        settings.path = name
        written = ffi.new("char[]", 4096)
        try:
            with self._gate.alone():
                told.call(self._call, lib.sxt_calibrate, self._use(), settings, written, len(written), NULL)
        finally:
            told.close()
        del keep
        return os.fsdecode(ffi.string(written))


_default = None
_making = threading.RLock()


def _after_fork():
    global _making
    _making = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


def default_context() -> Context:
    """The context that is used where none is given: made at its first use with ``Context()``, and kept to the end."""
    global _default
    with _making:
        if _default is None or _default.closed:
            _default = Context()
        return _default
