# SPDX-License-Identifier: BSD-3-Clause
"""Where functions start and end, found with nothing but the text: C and C++ by braces, Fortran and shell by words."""

import re
from collections import namedtuple

import tree

# first and last are line numbers from 1; head is what stands before the opening brace.
Function = namedtuple("Function", "name first last head")

SCOPE = re.compile(r"(^|\s)(namespace|class|struct|union|enum|extern)\b[^()=]*$")
NAME = re.compile(r"([~\w:]+|operator\s*\S+?)\s*\(")


def without_preprocessor(text):
    """No directives, and of #if ... #else ... #endif the first branch alone, so that braces balance."""
    kept, skip_depths, depth = [], [], 0
    continued = False
    for line in text.split("\n"):
        directive = re.match(r"\s*#\s*(\w+)", line)
        if directive and not continued:
            word = directive.group(1)
            if word in ("if", "ifdef", "ifndef"):
                depth += 1
            elif word in ("else", "elif") and depth not in skip_depths:
                skip_depths.append(depth)
            elif word == "endif":
                if depth in skip_depths:
                    skip_depths.remove(depth)
                depth -= 1
        drop = directive or continued or skip_depths
        continued = bool(directive or continued) and line.endswith("\\")
        kept.append("" if drop else line)
    return "\n".join(kept)


def kind_of_brace(head, inside):
    """What an opening brace opens: a function, a scope (class, namespace), or other (initialiser, enclosed block)."""
    if inside == "function":
        return "other"
    if inside == "other":
        return "function" if re.search(r"\]\s*\(", head) else "other"
    if SCOPE.search(head):
        return "scope"
    return "function" if "(" in head and head.count("(") == head.count(")") else "other"


def continues(head):
    """Whether a body continues the function found last: its catch, or the next member that it initialises."""
    return bool(re.match(r"\s*(catch\b|,)", head))


def c_functions(text):
    """The functions of C, C++ or CUDA text. Nested lambdas count as lines of the function around them."""
    code = without_preprocessor(tree.without_comments_and_strings(text))
    found, stack = [], []
    head_start, parentheses = 0, 0
    for i, c in enumerate(code):
        if c in "()":
            parentheses += 1 if c == "(" else -1
        elif c == "{":
            head = re.sub(r"^\s*(public|private|protected)\s*:", "", code[head_start:i])
            inside = stack[-1][0] if stack else "scope"
            start = i - len(head.lstrip())
            stack.append((kind_of_brace(head, inside), head, start, head_start, parentheses))
            # Inside an argument list only the braces of that list have a head of their own.
            parentheses, head_start = 0, i + 1
        elif c == "}" and stack:
            kind, head, start, outer_head, parentheses = stack.pop()
            if kind == "function":
                before = found.pop() if continues(head) and found else None
                first = before.first if before else line_of(code, start)
                found.append(Function(before.name if before else name_of(head), first, line_of(code, i), head))
            # A default argument or an initialiser is part of the head it stands in.
            head_start = outer_head if parentheses > 0 else i + 1
        elif c == ";" and parentheses == 0:
            head_start = i + 1
    return found


def line_of(code, position):
    return code.count("\n", 0, position) + 1


def name_of(head):
    """The name before the first parenthesis that belongs to no attribute or template."""
    plain = re.sub(r"__attribute__\s*\(\(.*?\)\)|alignas\s*\(.*?\)|__launch_bounds__\s*\(.*?\)", "", head)
    match = NAME.search(plain)
    return match.group(1) if match else "a function"


def fortran_functions(text):
    """Subroutines and functions, up to their end; interfaces count as lines of what is around them."""
    begin = re.compile(r"^\s*(?!end\b)(?:[\w()=*, ]+\s)?(?:subroutine|function)\s+(\w+)", re.I)
    end = re.compile(r"^\s*end\s*(subroutine|function)\b", re.I)
    found, open_ones = [], []
    for number, line in enumerate(text.split("\n"), 1):
        code = line.split("!")[0]
        if end.match(code) and open_ones:
            name, first = open_ones.pop()
            found.append(Function(name, first, number, ""))
        elif begin.match(code) and "'" not in code and '"' not in code.split("bind")[0]:
            open_ones.append((begin.match(code).group(1), number))
    return found


def shell_functions(text):
    """name() { ... } with the closing brace in the first column, or all on one line."""
    found, current = [], None
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"([\w-]+)\(\) \{", line)
        if match and not line.rstrip().endswith("}"):
            current = (match.group(1), number)
        elif line.startswith("}") and current:
            found.append(Function(current[0], current[1], number, ""))
            current = None
    return found
