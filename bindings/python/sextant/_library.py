# SPDX-License-Identifier: BSD-3-Clause
"""Finds and opens libsextant, and turns its statuses into exceptions."""

from __future__ import annotations

import os
import pathlib
from typing import Any

from . import _errors, _location
from ._declarations import ffi

NULL = ffi.NULL


def _candidates():
    """Where the library may be, in the order of preference."""
    named = os.environ.get("SEXTANT_LIBRARY")
    if named:  # alone: a wrong name is an error, not another library
        return [named]
    bundled = pathlib.Path(__file__).parent / "lib" / "libsextant.so.0"
    built_with = [_location.LIBRARY] if _location.LIBRARY else []
    return ([str(bundled)] if bundled.exists() else []) + built_with + ["libsextant.so.0"]


def _open():
    tried = []
    for path in _candidates():
        try:
            library = ffi.dlopen(path)
            version = ffi.string(library.sxt_version_string()).decode()
        except (OSError, ffi.error) as error:  # ffi.error: of another library
            tried.append(str(error))
            continue
        if tuple(int(part) for part in version.split(".")[:2]) < _location.VERSION[:2]:
            needed = ".".join(map(str, _location.VERSION))
            raise ImportError(f"{path} is Sextant {version}, older than {needed}, which this package was built for")
        return library, path
    raise ImportError("libsextant was not found; SEXTANT_LIBRARY may name its file. Tried: " + "; ".join(tried))


lib: Any
path: str
lib, path = _open()


def text(pointer) -> str:
    """A C string; "" for NULL."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


def error(code: str, sentence: str) -> _errors.SextantError:
    """The exception of a status by its name, with a sentence of the package's own."""
    return _errors.CLASSES[code](sentence, getattr(lib, code), code)


def failure(status: int) -> _errors.SextantError:
    """The exception of a call that just failed on this thread."""
    code = text(lib.sxt_status_name(status))
    sentence = text(lib.sxt_last_error(NULL)) or text(lib.sxt_status_sentence(status))
    return _errors.CLASSES.get(code, _errors.InternalError)(sentence, status, code)


def call(function, *arguments) -> int:
    """Calls; raises where the status is an error, else returns it: 0, or positive."""
    status = function(*arguments)
    if status < 0:
        raise failure(status)
    return status


def get_text(call, function, *arguments) -> str:
    """The text that a getter writes into the caller's buffer. Some texts are made for each call and cost time, and the next may be
    longer."""
    length, capacity = ffi.new("int64_t *"), 16384
    while True:
        buffer = ffi.new("char[]", capacity)
        call(function, *arguments, buffer, capacity, length)
        if length[0] < capacity:
            return ffi.string(buffer).decode("utf-8", "replace")
        capacity = length[0] + 1


def name_bytes(what: str, name) -> bytes:
    """A name as C takes it; `what` says whose."""
    if not isinstance(name, str):
        raise error("SXT_E_ARGUMENT", f"{what} must be a name, not {name!r}")
    try:
        encoded = name.encode()
    except UnicodeEncodeError:
        raise error("SXT_E_ARGUMENT", f"{what} is no text: {name!r}") from None
    if b"\0" in encoded:
        raise error("SXT_E_ARGUMENT", f"{what} holds a zero character: {name!r}")
    return encoded


def path_bytes(path) -> bytes:
    """A file's name as C takes it."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise error("SXT_E_ARGUMENT", f"the path {path!r} holds a zero character")
    return name
