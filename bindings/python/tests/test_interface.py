# SPDX-License-Identifier: BSD-3-Clause
"""The package reaches all of the C interface, or docs/python.md says what it leaves out, and why."""

import dataclasses
import importlib.util
import pathlib
import re

import pytest
from conftest import run_python

import sextant
from sextant import _compare, _errors, _library, _options, _reports

ROOT = pathlib.Path(__file__).resolve().parents[3]
HEADERS = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "include/sextant").glob("*.h")))
SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "bindings/python/sextant").glob("*.py")))
GUIDE = (ROOT / "docs/python.md").read_text(encoding="utf-8")
# Structs that reports are made from.
REPORTS = {
    "sxt_pcg_report": _reports.Report,
    "sxt_analysis_info": _reports.AnalysisInfo,
    "sxt_cholesky_info": _reports.CholeskyInfo,
    "sxt_cholesky_solve_report": _reports.CholeskyReport,
    "sxt_cholesky_sets_info": _reports.CholeskySetsInfo,
    "sxt_hermitian_report": _reports.HermitianReport,
    "sxt_plugin_info": _reports.Plugin,
    "sxt_kernel_info": _reports.Kernel,
    "sxt_member_report": _reports.MemberReport,
    "sxt_refusal_info": _reports.Refusal,
}


def public_functions(headers):
    code = re.sub(r"/\*.*?\*/", " ", headers, flags=re.S)
    return set(re.findall(r"SXT_API[^;{]*?\b(sxt_\w+)\(", code))


def left_out(guide):
    """The functions in the first column of the table of what the package leaves out, each with a reason."""
    rows = re.findall(r"^\| (.*?) \| (.*?) \|$", guide.partition("## What the package leaves out")[2], flags=re.M)
    return {name: reason for cell, reason in rows for name in re.findall(r"`(sxt_\w+)`", cell)}


def reached(function, sources):
    """Whether the package calls it; set-up functions of options go by the names of their structs."""
    struct = function.removesuffix("_init")
    return bool(re.search(rf"\blib\.{function}\b", sources)) or (struct != function and f'"{struct}"' in sources)


def gaps(headers, sources, guide):
    excused = left_out(guide)
    for function in sorted(public_functions(headers)):
        if not reached(function, sources) and function not in excused:
            yield f"{function} is neither reached nor listed"
        if reached(function, sources) and function in excused:
            yield f"{function} is listed, and reached all the same"
    yield from (f"{function} is listed, and no header has it" for function in sorted(set(excused) - public_functions(headers)))
    yield from (f"{function} has no reason" for function, reason in sorted(excused.items()) if len(reason) < 8)


def test_every_function():
    assert len(public_functions(HEADERS)) > 90
    assert list(gaps(HEADERS, SOURCES, GUIDE)) == []


def test_gaps_are_found():
    header = "SXT_API int sxt_a(int x);\nSXT_API void sxt_o_options_init(int x); /* SXT_API int sxt_no(void); */"
    table = "## What the package leaves out\n\n| functions | reason |\n|---|---|\n| `sxt_a` | nothing in Python needs it |\n"
    sources = 'make("sxt_o_options")'
    assert list(gaps(header, sources, table)) == []
    assert list(gaps(header, sources, "")) == ["sxt_a is neither reached nor listed"]
    assert list(gaps(header, sources + "lib.sxt_a", table)) == ["sxt_a is listed, and reached all the same"]
    assert list(gaps(header, "lib.sxt_a", "")) == ["sxt_o_options_init is neither reached nor listed"]
    assert "sxt_b is listed, and no header has it" in gaps(header, sources, table + "| `sxt_b` | nothing in Python needs it |\n")
    assert "sxt_a has no reason" in gaps(header, sources, table.replace("nothing in Python needs it", "no"))


def test_every_status_has_a_class():
    statuses = set(re.findall(r"\bX\((SXT_(?:E_\w+|NOT_\w+)),", HEADERS))
    assert statuses == set(_errors.CLASSES) and len(statuses) > 20
    assert all(issubclass(each, sextant.SextantError) for each in _errors.CLASSES.values())
    assert all(_library.error(code, "x").status == getattr(_library.lib, code) for code in statuses)


@pytest.mark.parametrize("struct", REPORTS)
def test_every_member_of_a_report(struct):
    members = {name for name, _ in _library.ffi.typeof(struct).fields if name != "struct_size" and not name.startswith("reserved")}
    assert members <= {field.name for field in dataclasses.fields(REPORTS[struct])}


@pytest.mark.parametrize(("option", "prefix"), [
    ("norm", "SXT_NORM_"), ("pivot_policy", "SXT_PIVOT_"), ("step", "SXT_STEP_"), ("log_level", "SXT_LOG_"),
    ("duplicates", "SXT_DUPLICATES_"),
])  # fmt: skip
def test_every_named_value(option, prefix):
    constants = {name for name in dir(_library.lib) if name.startswith(prefix)}
    assert len(_options.NAMES[option]) == len(constants) > 1
    assert {getattr(_library.lib, name) for name in constants} == set(_options.NAMES[option].values())


def test_a_text_that_grows_is_whole():
    """Texts are made for each call; none is made twice without need."""
    texts, calls = iter(["a" * 20000, "b" * 50000, "c" * 50000]), []

    def getter(buffer, capacity, length):
        made = next(texts).encode()
        calls.append(len(made))
        length[0] = len(made)
        cut = made[: capacity - 1]
        _library.ffi.buffer(buffer, capacity)[: len(cut) + 1] = cut + b"\0"
        return 0

    assert _library.get_text(_library.call, getter) == "c" * 50000 and len(calls) == 3
    texts = iter(["short"])
    assert _library.get_text(_library.call, getter) == "short"


def test_the_wheel_has_all_kernels():
    """Every component that plugins are installed in."""
    project = (ROOT / "bindings/python/pyproject.toml").read_text(encoding="utf-8")
    components = re.findall(r'"(\w+)"', re.search(r"install\.components = \[(.*?)\]", project).group(1))
    plugins = re.findall(r"set\(component (\w+)\)", (ROOT / "cmake/SextantPlugin.cmake").read_text(encoding="utf-8"))
    assert set(plugins) == {"runtime", "cuda"} and set(plugins) | {"python"} == set(components)


def test_declarations_are_the_public_headers(tmp_path):
    """Not those of other headers, whatever the folders above either are called."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "bindings/python/generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    include = tmp_path / "sextant" / "include"
    lines = [f'# 1 "{include}/sextant/pcg.h" 1', "int ours;", f'# 1 "{include}/stdint.h" 1 3', "int theirs;",
             f'# 2 "{include}/other/../sextant/plugin/kinds/spmv.h" 2', "int also;"]  # fmt: skip
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\ncat <<'END'\n" + "\n".join(lines) + "\nEND\n")
    compiler.chmod(0o755)
    assert generate.declarations(str(compiler), include) == "int ours;\nint also;"


def test_solve_compares_as_the_command():
    """Both take an analysis for as long, and the same options for those of conjugate gradients."""
    tool = (ROOT / "tools/sextant/commands/solve_auto.cpp").read_text(encoding="utf-8")
    constants = re.search(r"analysis_s = ([^,]+), analysis_s_an_entry = ([^;]+);", tool).groups()
    assert tuple(map(float, constants)) == (_compare._ANALYSIS_SECONDS, _compare._ANALYSIS_SECONDS_AN_ENTRY)
    names = {name.replace("-", "_") for name in re.findall(r'"--([a-z-]+)"\}', tool)} - {"plan", "save_plan", "history"}
    assert names - {"precond"} | {"preconditioner"} == set(_compare._OF_PCG)


def test_everything_public_is_documented():
    for name in sextant.__all__:
        each = getattr(sextant, name)
        if callable(each):
            assert each.__doc__ and not each.__doc__.startswith(name + "("), name
            for member, value in vars(each).items() if isinstance(each, type) else ():
                public = callable(value) or isinstance(value, (property, staticmethod, classmethod))
                assert member.startswith("_") or not public or getattr(value, "__doc__", None), f"{name}.{member}"


@pytest.mark.parametrize("library", ["/nonexistent/libsextant.so.0", "libm.so.6"])
def test_a_library_that_is_none(library):
    run = run_python("import sextant", check=False, SEXTANT_LIBRARY=library)
    assert run.returncode == 1 and "ImportError: libsextant was not found; SEXTANT_LIBRARY may name its file" in run.stderr
    assert library in run.stderr


def test_a_library_that_is_too_old(tmp_path):
    """Of an older minor version than the headers that the package was made from."""
    for module in pathlib.Path(sextant.__file__).parent.glob("*.py"):
        (tmp_path / "sextant").mkdir(exist_ok=True)
        (tmp_path / "sextant" / module.name).write_bytes(module.read_bytes())
    location = tmp_path / "sextant/_location.py"
    location.write_text(re.sub(r"VERSION = .*", "VERSION = (0, 99, 0)", location.read_text()))
    run = run_python("import sextant", check=False, PYTHONPATH=str(tmp_path))
    assert run.returncode == 1 and "older than 0.99.0, which this package was built for" in run.stderr


def test_what_is_loaded(cpu):
    assert sextant.library_version() == sextant.__version__ and sextant.__version__.startswith("0.")
    assert "spmv.csr.rows.cpu" in {kernel.name for kernel in sextant.kernels()}
    assert sum(plugin.kernels for plugin in sextant.plugins()) >= len(sextant.kernels())
    assert all(refusal.reason for refusal in sextant.refusals())
