# SPDX-License-Identifier: BSD-3-Clause
"""Structs of options from keywords: names are those of the C members, None keeps the library's default."""

from __future__ import annotations

import difflib
import re

import numpy

from ._library import error, ffi, lib, name_bytes

# Members that the package fills in: sizes, types, addresses, and what has an argument of its own.
OWN = re.compile(r"struct_size|reserved\d+|\w+_user|\w+_type|n_\w+|\w+_size|ownership|space|pointer_array|leading_vary|history\w*|cancel|"
                 r"use_initial_guess|progress|null_space|permutation|schur_rows|orders|shifts|shortcuts|batch|n")  # fmt: skip
# Options whose values have names.
NAMES = {
    "norm": {"2": lib.SXT_NORM_2, "max": lib.SXT_NORM_MAX},
    "symmetry": {"general": lib.SXT_GENERAL, "symmetric": lib.SXT_SYMMETRIC, "hermitian": lib.SXT_HERMITIAN, "skew": lib.SXT_SKEW},
    "triangle": {"full": lib.SXT_FULL, "lower": lib.SXT_LOWER, "upper": lib.SXT_UPPER},
    "duplicates": {"sum": lib.SXT_DUPLICATES_SUM, "refuse": lib.SXT_DUPLICATES_REFUSE},
    "factorization": {"llh": lib.SXT_LLH, "ldlh": lib.SXT_LDLH},
    "factor_precision": {"working": lib.SXT_PRECISION_WORKING, "single": lib.SXT_PRECISION_SINGLE, "auto": lib.SXT_PRECISION_AUTO,
                         "rounded": lib.SXT_PRECISION_ROUNDED},
    "pivot_policy": {"fail": lib.SXT_PIVOT_FAIL, "perturb": lib.SXT_PIVOT_PERTURB, "replace": lib.SXT_PIVOT_REPLACE},
    "step": {"all": lib.SXT_STEP_ALL, "forward": lib.SXT_STEP_FORWARD, "diagonal": lib.SXT_STEP_DIAGONAL, "backward": lib.SXT_STEP_BACKWARD},
    "definiteness": {"definite": lib.SXT_DEFINITE, "indefinite": lib.SXT_INDEFINITE, "try": lib.SXT_TRY_DEFINITE},
    "log_level": {"silent": lib.SXT_LOG_SILENT, "error": lib.SXT_LOG_ERROR, "misbehaving": lib.SXT_LOG_MISBEHAVING,
                  "warning": lib.SXT_LOG_WARNING, "info": lib.SXT_LOG_INFO, "debug": lib.SXT_LOG_DEBUG},
}  # fmt: skip


def value_of(option: str, name, owner: str) -> int:
    """The number of a named value."""
    try:
        return NAMES[option][name]
    except (KeyError, TypeError):
        known = ", ".join(repr(each) for each in NAMES[option])
        raise error("SXT_E_ARGUMENT", f"{owner}: {option} must be one of {known}, not {name!r}") from None


def name_of(option: str, value: int) -> str:
    return next(name for name, each in NAMES[option].items() if each == value)


def _string(option, value, owner):
    return ffi.new("char[]", name_bytes(f"{owner}: {option}", value))


def make(struct: str, owner: str, given: dict, **own):
    """The struct with its defaults, and what the caller (given) and the package (own) set in place of them; what it points
    to, to be kept beside it."""
    fields = dict(ffi.typeof(struct).fields)
    known = [name for name in fields if not OWN.fullmatch(name)]
    options, keep = ffi.new(struct + " *"), []
    getattr(lib, struct + "_init")(options, ffi.sizeof(struct))
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{owner} has no option {name!r}{hint}")
    for name, value in {**given, **own}.items():
        if value is None:
            continue
        if name in NAMES:
            value = value_of(name, value, owner)
        elif fields[name].type is ffi.typeof("char *"):
            value = _string(name, value, owner)
            keep.append(value)
        _set(options, name, value, owner)
    return options, keep


def _number(value, real):
    """cffi takes what converts to a number: NumPy's types would lose an imaginary part or a fraction."""
    if isinstance(value, numpy.ndarray):
        if value.ndim:
            raise TypeError
        value = value[()]
    if isinstance(value, numpy.complexfloating if real else numpy.inexact):
        raise TypeError
    return value


def _set(options, name, value, owner):
    member = dict(ffi.typeof(options).item.fields)[name].type
    try:
        if member.kind == "primitive":
            value = _number(value, member.cname in ("float", "double"))
        setattr(options, name, value)
    except TypeError:
        raise error("SXT_E_ARGUMENT", f"{owner}: {name} has a value of a wrong type: {value!r}") from None
    except OverflowError:
        raise error("SXT_E_OVERFLOW", f"{owner}: {name} = {value!r} does not fit its integer type") from None


def answer(struct: str):
    """An empty struct for the library to fill, with its size set."""
    filled = ffi.new(struct + " *")
    filled.struct_size = ffi.sizeof(struct)
    return filled
