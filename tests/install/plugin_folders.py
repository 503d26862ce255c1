# SPDX-License-Identifier: BSD-3-Clause
"""The folder of `sextant plugin new` of every kind, and kernels of the tree, as one project."""

import json
import pathlib
import shutil
import subprocess

TEMPLATES = pathlib.Path(__file__).resolve().parents[2] / "tools/sextant/templates/templates.json"


def requests(cuda):
    """{folder: what `plugin new` is asked for} of every kind that it knows for this device."""
    known = json.loads(TEMPLATES.read_text())
    return {name: [name, f"my-{name}", *(["--cuda"] if cuda else [])] for name in known if not cuda or "cuda" in known[name]}


def copied_kernels(given, source):
    """Copies kernels of the tree that no template copies, and plugins of one C file; returns their folders."""
    names = []
    for path in given:
        names.append("-".join(path.with_suffix("").parts[-3:]))
        if path.is_dir():
            shutil.copytree(path, source / names[-1])
        else:
            (source / names[-1]).mkdir()
            shutil.copy(path, source / names[-1])
            (source / names[-1] / "CMakeLists.txt").write_text(f"sextant_add_plugin(NAME {path.stem} DEVICE cpu)\n")
    return names


def project(made, kernels, cuda):
    """CMakeLists.txt of all of them. Their tests and benchmarks share one precompiled header."""
    programs = [f"{what}_my-{name}" for name in made for what in ("test", "bench")]
    lines = ["cmake_minimum_required(VERSION 3.25)", "set(CMAKE_CUDA_ARCHITECTURES 80-virtual)",
             f"project(folders LANGUAGES C CXX {'CUDA' if cuda else ''})", "find_package(Sextant REQUIRED COMPONENTS cxx)", "enable_testing()",
             *[f"add_subdirectory({name})" for name in [*made, *kernels]],
             *[f"target_precompile_headers({name} PRIVATE <sextant/sextant.hpp>)" for name in programs[:1]],
             *[f"target_precompile_headers({name} REUSE_FROM {programs[0]})" for name in programs[1:]]]  # fmt: skip
    return "\n".join(lines) + "\n"


def tridiagonal(path):
    """Writes a positive definite matrix of order 50."""
    entries = [f"{i} {j} {2 if i == j else -1}" for i in range(1, 51) for j in (i - 1, i) if j > 0]
    path.write_text(f"%%MatrixMarket matrix coordinate real symmetric\n50 50 {len(entries)}\n" + "\n".join(entries) + "\n")
    return path


def problems_on_the_fake_device(command, plugin, fake, environment):
    """The host's side of a kernel, over libraries that compute nothing (tests/fake_device): answers are wrong, but the file loads and
    every case comes back with its finding. A device plugin has no cases."""
    if not (fake / "libcuda.so.1").exists():
        print("this build has no fake device: not run there")
        return []
    is_device = plugin.stem == "my-device"
    device = ["my-device", "--plugin-path", plugin] if is_device else ["cuda"]
    answer = subprocess.run([command, "plugin", "check", "--no-stamp", "--json", "--device", *device, plugin],
                            env=dict(environment, LD_LIBRARY_PATH=str(fake)), capture_output=True, text=True)  # fmt: skip
    result = json.loads(answer.stdout or "{}")
    if result.get("stage", "nothing") not in (None, "self-test", "not proven") or not (result["checks"] or is_device):
        return [f"{plugin.name} on the fake device: {answer.stdout[-2000:]}{answer.stderr[-2000:]}"]
    print(f"{plugin.name} on the fake device: {len(result['checks'])} checks came back")
    return []
