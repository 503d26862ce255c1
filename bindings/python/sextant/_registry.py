# SPDX-License-Identifier: BSD-3-Clause
"""What is loaded: the library, plugins, kernels, and what was refused. Empty before the first context."""

from __future__ import annotations

from . import _options
from ._library import call, lib, text
from ._reports import Kernel, Plugin, Refusal, from_struct


def _records(kind, struct, count, get):
    found = []
    for i in range(count()):
        filled = _options.answer(struct)
        call(get, i, filled)
        found.append(from_struct(kind, filled))
    return found


def plugins() -> list[Plugin]:
    """The plugins that are loaded."""
    return _records(Plugin, "sxt_plugin_info", lib.sxt_plugin_count, lib.sxt_plugin_get)


def kernels() -> list[Kernel]:
    """The kernels that are loaded."""
    return _records(Kernel, "sxt_kernel_info", lib.sxt_kernel_count, lib.sxt_kernel_get)


def refusals() -> list[Refusal]:
    """Files and kernels that were refused."""
    return _records(Refusal, "sxt_refusal_info", lib.sxt_refusal_count, lib.sxt_refusal_get)


def library_version() -> str:
    """The version of the library that runs, such as "0.1.0"."""
    return text(lib.sxt_version_string())
