#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files have at most 500 lines, functions at most 60 lines, kernel bodies at most 150.

A kernel body is a __global__ or __device__ function, or a function under plugins/ that holds an OpenMP pragma.
"""

import ast
import re

import functions
import tree

FILE_LINES = 500
FUNCTION_LINES = 60
KERNEL_LINES = 150
CODE_SUFFIXES = tree.C_SUFFIXES | tree.FORTRAN_SUFFIXES | {".py", ".sh", ".cmake", ".in"}


def is_code(path, text):
    return path.suffix in CODE_SUFFIXES or path.name == "CMakeLists.txt" or text.startswith("#!")


def python_functions(text):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        functions.Function(node.name, node.lineno, node.end_lineno, "")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, kinds)
    ]


def functions_of(path, text):
    if path.suffix in tree.C_SUFFIXES:
        return functions.c_functions(text)
    if path.suffix in tree.FORTRAN_SUFFIXES:
        return functions.fortran_functions(text)
    if path.suffix == ".py" or tree.is_script(text, "python"):
        return python_functions(text)
    if path.suffix == ".sh" or tree.is_script(text, "sh"):
        return functions.shell_functions(text)
    return []


def limit_of(path, text, function):
    """150 lines for a kernel's body, 60 for all else."""
    if "__global__" in function.head or "__device__" in function.head:
        return KERNEL_LINES
    body = text.splitlines()[function.first - 1 : function.last]
    in_plugin = path.parts[0] == "plugins" and not path.name.startswith("test_")
    if in_plugin and any(re.match(r"\s*#\s*pragma omp", line) for line in body):
        return KERNEL_LINES
    return FUNCTION_LINES


def check_file(path, text):
    problems = []
    lines = text.count("\n")
    if lines > FILE_LINES:
        problems.append(f"{path} has {lines} lines, at most {FILE_LINES} are allowed")
    for function in functions_of(path, text):
        size, limit = function.last - function.first + 1, limit_of(path, text, function)
        if size > limit:
            problems.append(f"{path}:{function.first} {function.name} has {size} lines, at most {limit} are allowed")
    return problems


def check(root):
    problems, checked = [], 0
    for path in tree.project_files(root):
        text = tree.read_text(root / path)
        if text is not None and is_code(path, text):
            checked += 1
            problems += check_file(path, text)
    return problems, checked


if __name__ == "__main__":
    tree.main("sizes", check)
