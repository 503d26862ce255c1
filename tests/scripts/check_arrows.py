#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the one-way arrows of docs/design.md: bindings, tools -> include <- abi -> core -> include <- plugins;
core, tools -> plot, files, names, which see nothing of the rest. tools/retune sees its own folder, the SDK and files only. Within include: sdk -> plugin -> the programs' headers in C, and the
C++ interface -> those.
Within plugins: a folder -> its kind's shared/ -> formats/. Within core: a folder -> those that docs/design.md lists before
it, so that no two see each other, however long the way round.

Read from the includes of every C, C++ and CUDA file; CUDA stays under plugins/ and in include/sextant/sdk/cuda/, which
only plugins may include; core and abi name no plugin and no kernel. Tests may see everything;
one tool, named below, also sees abi and core.
"""

import pathlib
import re

import tree

# Which folder may include which. For plugins see PLUGINS_SEE.
MAY_SEE = {
    "include": {"include"},
    "core": {"core", "include", "plot", "files", "names"},
    "plot": {"plot"},
    "files": {"files"},
    "names": {"names"},
    "abi": {"abi", "core", "include"},
    "plugins": {"include"},
    "bindings": {"bindings", "include"},
    "tools": {"tools", "include", "plot", "files", "names"},
}
# Measure what no public call shows: every candidate of every kernel, and the trees that choose between them; schedulers
# of a factorisation on values that lie on the device.
MEASURES_CORE = {pathlib.PurePath("tools/measure") / name for name in ("regret", "cholesky_peers", "cholesky_models")}
# The fit of a model is pure functions of samples: the model builder of the command uses the one that core uses, and the
# same hash of a text.
BUILDS_MODELS = {pathlib.PurePath("tools/sextant/model"), pathlib.PurePath("tools/sextant/commands/model.cpp")}
FITS = {pathlib.PurePath("core/model") / name for name in ("fit.hpp", "fit_text.hpp", "quantile.hpp")}
FITS.add(pathlib.PurePath("core/base/hash.hpp"))
# The launch retuner is preloaded into other programs: it sees its own folder, headers without ABI or context, and the writer of files.
RETUNER = pathlib.PurePath("tools/retune")
RETUNER_SEES = re.compile(r"^(tools/retune|include/sextant/sdk|files)/")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
CUDA_HEADER = re.compile(r"^(cuda|cub/|thrust/|cooperative_groups|cublas|cusparse|cusolver|nvml|nvrtc|curand|cufft)")
# Tries out a CUDA toolkit before anything is built with it: no part of the product.
CUDA_PROGRAMS = {pathlib.Path("tools/lib/cuda-check/check.cu")}
# Texts of plugins, which the command holds and does not compile.
PLUGIN_TEMPLATE = re.compile(r"^tools/sextant/templates/[^/]+/\w+\.cu$")
# Header-only helpers for kernels in CUDA.
CUDA_HELPER = re.compile(r"^(include/)?sextant/sdk/cuda/")
# What each folder of the headers may include of the others.
ROOMS_SEE = {"programs": {"programs"}, "cpp": {"programs", "cpp"}, "plugin": {"programs", "plugin"},
             "sdk": {"programs", "plugin", "sdk"}}  # fmt: skip
# The document that lists core's folders, and the heading of the table whose first column does, the lowest first.
CORE_ORDER, CORE_HEADING = "docs/design.md", "### Core, from the ground up"
CORE_ROW = re.compile(r"^\| `core/([a-z_]+)/` \|", re.M)
PLUGINS_SEE = "plugins see include, plugins/formats/, the shared/ of their kind and their own folder only"
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# spmv.csr.vector.cuda, or a shared object by its name (a bare ".so" is the suffix every plugin has).
KERNEL_NAME = re.compile(r"^[a-z_]+(\.[a-z0-9_-]+)*\.(cpu|cuda)$")
PLUGIN_FILE = re.compile(r"[\w-]\.so$")
VENDOR_OK = re.compile(r"^libsextant")


def may_see(path):
    """The folders that a file outside of plugins may include from."""
    seen = MAY_SEE[path.parts[0]]
    return seen | {"abi", "core"} if MEASURES_CORE & set(path.parents) else seen


def is_test(path):
    return path.parts[0] == "tests" or path.name.startswith("test_") or "tests" in path.parts


def resolve(root, path, name):
    """The project's file an include means, relative to root; None for a header from elsewhere."""
    for base in (path.parent, pathlib.Path("."), pathlib.Path("include"), *map(pathlib.Path, MAY_SEE)):
        target = pathlib.Path(*collapse(base / name))
        if (root / target).is_file():
            return target
    # Not built yet, or generated: the first folder still says where it belongs.
    first = pathlib.PurePath(name).parts[0]
    return pathlib.Path(name) if first in MAY_SEE and "/" in name else None


def collapse(path):
    """a/b/../c -> a, c: by text, so that the file need not exist."""
    parts = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return parts


def room_of(path):
    """The room of a header below include/sextant: programs (C), cpp (what is beside those in C++, too), plugin or sdk."""
    beside = "cpp" if path.suffix == ".hpp" else "programs"
    return path.parts[2] if len(path.parts) > 3 else beside


def plugin_may_see(path, target):
    """Whether a file of a plugin may include another below plugins/."""
    if target.parts[:2] == ("plugins", "formats"):
        return True
    if path.parts[:2] == ("plugins", "formats"):
        return False
    return target.parent == path.parent or target.parts[:3] == ("plugins", path.parts[1], "shared")


def core_folders(root):
    """Core's folders in their order, from the table of CORE_ORDER."""
    document = tree.read_text(root / CORE_ORDER) or ""
    return CORE_ROW.findall(document.partition(CORE_HEADING)[2].partition("\n#")[0])


def core_folder(path):
    """The folder of core that a file is in; None for one beside the folders, or elsewhere."""
    return path.parts[1] if path.parts[0] == "core" and len(path.parts) > 2 else None


def check_core_folders(root, order):
    """Folders that the table lacks, and rows without a folder."""
    there = {core_folder(path) for path in tree.project_files(root) if path.suffix in tree.C_SUFFIXES} - {None}
    problems = [f"core/{name} is not in the table of {CORE_ORDER}" for name in sorted(there - set(order))]
    return problems + [f"{CORE_ORDER} lists core/{name}, which is not there" for name in order if name not in there]


def check_core_include(order, path, name, target):
    """The sentence that says why a file of core may not include another file of core, or None."""
    own, other = core_folder(path), core_folder(target)
    if own == other or own not in order or other not in order or order.index(other) < order.index(own):
        return None
    return f"includes {name} ({target}): core/{own} sees only folders that {CORE_ORDER} lists before it"


def check_include(root, path, name, order=()):
    """The sentence that says why path may not include name, or None."""
    area = path.parts[0]
    may_see_cuda = area == "plugins" or path in CUDA_PROGRAMS or CUDA_HELPER.match(path.as_posix()) or PLUGIN_TEMPLATE.match(path.as_posix())
    if (CUDA_HEADER.match(name) or CUDA_HELPER.match(name)) and not may_see_cuda:
        return f"includes {name}: CUDA stays under plugins/"
    target = resolve(root, path, name)
    if target is None:
        return None
    if area == "plugins" and target.parts[0] == "plugins":
        return None if plugin_may_see(path, target) else f"includes {name} ({target}): {PLUGINS_SEE}"
    if area == "include" and target.parts[0] == "include":
        room, other = room_of(path), room_of(target)
        if other in ROOMS_SEE.get(room, set()):
            return None
        return f"includes {name} ({target}): {room} headers do not see {other}"
    if RETUNER in path.parents and not RETUNER_SEES.match(target.as_posix()):
        return f"includes {name} ({target}): tools/retune sees its own folder, the SDK and files only"
    if area == "core" and target.parts[0] == "core":
        return check_core_include(order, path, name, target)
    if target.parts[0] in may_see(path):
        return None
    if target in FITS and BUILDS_MODELS & {path, *path.parents}:
        return None
    if area == "plugins":
        return f"includes {name} ({target}): {PLUGINS_SEE}"
    return f"includes {name} ({target}): {area} sees {', '.join(sorted(may_see(path)))} only"


def check_names(text):
    """The kernels and shared objects that a file names in its strings."""
    problems = []
    for string in STRING.findall(tree.without_comments(text)):
        if KERNEL_NAME.match(string):
            problems.append(f'names the kernel "{string}": core and abi name none')
        elif PLUGIN_FILE.search(string) and not VENDOR_OK.match(string):
            problems.append(f'names the shared object "{string}": core and abi name none')
    return problems


def check(root):
    order, checked = core_folders(root), 0
    problems = check_core_folders(root, order)
    for path in tree.project_files(root):
        if path.parts[0] not in MAY_SEE or path.suffix not in tree.C_SUFFIXES or is_test(path):
            continue
        checked += 1
        text = tree.read_text(root / path) or ""
        for match in INCLUDE.finditer(tree.without_comments(text)):
            problem = check_include(root, path, match.group(2), order)
            if problem:
                problems.append(f"{path} {problem}")
        if path.parts[0] in ("core", "abi"):
            problems += [f"{path} {problem}" for problem in check_names(text)]
    return problems, checked


if __name__ == "__main__":
    tree.main("arrows", check)
