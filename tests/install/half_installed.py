# SPDX-License-Identifier: BSD-3-Clause
"""Trees from which something is missing, in which something is damaged, or beside which another one lies: each is told in a
sentence that names the file or the folder."""

import os
import shutil
import subprocess

PROBLEM = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4\n2 1 -1\n2 2 4\n"
PROJECT = "cmake_minimum_required(VERSION 3.25)\nproject(consumer LANGUAGES C)\nfind_package(Sextant REQUIRED)\n"


def without_devices(tree, plugins):
    shutil.rmtree(plugins / "device")
    return ["solve"], f"no device plugin was loaded from {plugins}"


def without_plugins(tree, plugins):
    shutil.rmtree(plugins)
    return ["solve"], f"no device plugin was loaded from {plugins}"


def without_the_judge(tree, plugins):
    for path in plugins.glob("cpu/residual-*.so"):
        path.unlink()
    return ["solve"], "is a plugin named residual-* missing beside the library?"


def cut_short(tree, plugins):
    path = next(plugins.glob("cpu/spmv-csr.so"))
    begin = path.read_bytes()[:3000]
    path.unlink()  # linked to the whole one
    path.write_bytes(begin)
    return ["plugins"], f"{path}' (open): the file is cut short"


def beside_another(tree, plugins):
    other = tree.parent / "another tree"
    other.mkdir()
    twin = shutil.copy(next(plugins.glob("cpu/spmv-csr.so")), other)
    return ["plugins", "--plugin-path", other], f"{twin}' (duplicate): plugin 'spmv-csr'"


def without_the_library(tree, plugins):
    for path in plugins.parent.parent.glob("libsextant.so*"):
        path.unlink()
    return ["version"], "libsextant.so.0: cannot open shared object file"


CASES = [without_devices, without_plugins, without_the_judge, cut_short, beside_another, without_the_library]


def answer_of(tree, words, environment):
    command = [tree / "bin" / "sextant", *words]
    if words == ["solve"]:
        problem = tree.parent / "problem.mtx"
        problem.write_text(PROBLEM)
        command += ["--device", "cpu", problem]
    run = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True, timeout=120)
    return run.stdout + run.stderr


def of_another_abi(t, tree, environment):
    """A plugin that exports the entry of another ABI alone."""
    source, plugin = tree.parent / "abi1.c", tree.parent / "abi1.so"
    source.write_text("int sxt_plugin_entry_1(void) { return 0; }\n")
    subprocess.run([t.options.cc, "-shared", "-fPIC", source, "-o", plugin], check=True)
    return answer_of(tree, ["plugins", "--plugin-path", plugin], environment), f"{plugin}' (entry): it has no symbol 'sxt_plugin_entry_0'"


def for_cmake(t, tree, environment):
    """The package that outside projects find, without the library."""
    source = tree.parent / "consumer"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(PROJECT)
    command = ["cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={tree}", f"-DCMAKE_C_COMPILER={t.options.cc}"]
    said = subprocess.run(command, env=environment, capture_output=True, text=True).stderr
    return said, f"{tree / t.options.libdir / 'libsextant.so.0'}"


def problems(t, folder, environment):
    """Why an answer is not the sentence that is due. folder(name): an empty one, on the disk of the tree."""
    environment = {name: value for name, value in environment.items() if name != "LD_LIBRARY_PATH"}
    found = []
    for case in CASES:
        tree = folder(f"half installed {case.__name__}") / "tree"
        shutil.copytree(t.prefix, tree, copy_function=os.link, symlinks=True)
        words, sentence = case(tree, tree / t.options.libdir / "sextant" / "plugins-0")
        answer = answer_of(tree, words, environment)
        if sentence not in answer:
            found.append(f"{case.__name__}: expected '{sentence}', found\n{answer}")
    whole = t.prefix
    tree = folder("half installed whole") / "tree"
    os.symlink(whole, tree)
    answer, sentence = of_another_abi(t, tree, environment)
    found += [] if sentence in answer else [f"another ABI: expected '{sentence}', found\n{answer}"]
    tree = folder("half installed cmake") / "tree"
    shutil.copytree(whole, tree, copy_function=os.link, symlinks=True)
    without_the_library(tree, tree / t.options.libdir / "sextant" / "plugins-0")
    answer, sentence = for_cmake(t, tree, environment)
    found += [] if sentence in answer else [f"find_package: expected '{sentence}', found\n{answer}"]
    return found
