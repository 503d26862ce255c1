# SPDX-License-Identifier: BSD-3-Clause
"""What a shared object exports, needs and looks for, by nm and readelf; and the rules Sextant's own must keep."""

import pathlib
import re
import subprocess

# Output, end of process, signals and children: a library must not use them. (abort and friends are called by the C++
# runtime itself, which is another shared object, or by its inline code for impossible states.)
FORBIDDEN = {
    "printf", "vprintf", "puts", "putchar", "fputs", "fputc", "fprintf", "vfprintf", "perror", "__printf_chk",
    "__fprintf_chk", "__vprintf_chk", "__vfprintf_chk", "_ZSt4cout", "_ZSt4cerr", "_ZSt4clog", "exit", "_exit", "_Exit",
    "quick_exit", "__assert_fail", "signal", "sigaction", "raise", "kill", "fork", "vfork", "system", "popen",
    "posix_spawn", "setlocale", "_ZNSt6locale6globalERKS_", "chdir", "atexit",
}  # fmt: skip

# What the C++ runtime itself uses; it is part of the file where the runtime is linked statically.
RUNTIME_OWN = {"chdir", "fputc", "fputs", "setlocale"}


# Bytes of thread-local storage. A program that opens the library while it runs (Python) has some hundred left for all that
# it opens.
MOST_THREAD_STORAGE = 1024


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(path):
    """{name: version node or ''} of what the file defines for others; version nodes themselves left out."""
    symbols = {}
    for line in output_of("nm", "-D", "--defined-only", "--with-symbol-versions", path).splitlines():
        kind, symbol = line.split()[-2:]
        name, _, node = symbol.partition("@")
        if kind != "A":
            symbols[name] = node.lstrip("@")
    return symbols


def needed_symbols(path):
    lines = output_of("nm", "-D", "--undefined-only", path).splitlines()
    return {line.split()[-1].partition("@")[0] for line in lines}


def dynamic(path, tag):
    """Values of one tag of the dynamic section: SONAME, RUNPATH, RPATH, NEEDED."""
    text = output_of("readelf", "-dW", path)
    return re.findall(rf"\({tag}\)[^\[]*\[([^\]]*)\]", text)


def thread_storage(path):
    """Bytes that each thread of a program holds for the file."""
    return sum(int(line.split()[5], 16) for line in output_of("readelf", "-lW", path).splitlines() if line.split()[:1] == ["TLS"])


def declared(headers):
    """Names of the functions that headers mark SXT_API."""
    text = re.sub(r"/\*.*?\*/", "", "".join(header.read_text() for header in headers), flags=re.S)
    return set(re.findall(r"^SXT_API\b[^;(]*?(\w+)\(", text, flags=re.M))


def library_problems(path, headers, node, allowed=frozenset()):
    """Why a libsextant breaks its promises; empty when it keeps them. allowed: forbidden symbols to pass over."""
    symbols, wanted = exported(path), declared(headers)
    if not any(name.startswith("libstdc++") for name in dynamic(path, "NEEDED")):
        allowed = frozenset(allowed) | RUNTIME_OWN
    problems = [f"{name} is declared SXT_API but not exported" for name in sorted(wanted - symbols.keys())]
    problems += [f"{name} is exported but not declared SXT_API" for name in sorted(symbols.keys() - wanted)]
    problems += [f"{name} has version '{v}', not {node}" for name, v in sorted(symbols.items()) if v != node]
    problems += [f"{name} is used: the library never prints, exits or touches the process"
                 for name in sorted(needed_symbols(path) & (FORBIDDEN - allowed))]  # fmt: skip
    if thread_storage(path) > MOST_THREAD_STORAGE:
        problems.append(f"it has {thread_storage(path)} bytes of thread-local storage, more than {MOST_THREAD_STORAGE}")
    if not wanted:
        problems.append(f"no SXT_API function was found in {headers[0]}")
    return problems


def plugin_problems(path, entry):
    symbols = sorted(exported(path))
    return [] if symbols == [entry] else [f"{path.name} exports {symbols}, only {entry} is allowed"]


def path_problems(path):
    """No absolute search paths, because the tree is movable. Only files that use the CUDA runtime may name the folder of
    the CUDA toolkit."""
    paths = dynamic(path, "RUNPATH") + dynamic(path, "RPATH")
    entries = [entry for value in paths for entry in value.split(":")]
    if any(name.startswith("libcudart.") for name in dynamic(path, "NEEDED")):
        entries = [entry for entry in entries if not list(pathlib.Path(entry).glob("libcudart.so*"))]
    return [f"{path.name} looks in {entry}" for entry in entries if not entry.startswith("$ORIGIN")]
