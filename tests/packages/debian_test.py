#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the Debian packages and looks into them: debian_test.py SOURCE FOLDER [--cuda] [-DNAME=VALUE...]

With --cuda libsextant-cuda is among them. Exit code 77 (skipped) without SEXTANT_TEST_PACKAGES in the environment, and where
cpack, dpkg-deb, dpkg-shlibdeps or, with --cuda, nvcc is not there. Where lintian is installed it must accept the packages, too."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

TOOLS = ("cmake", "cpack", "dpkg-deb", "dpkg-shlibdeps", "gzip")
# What each package must have (patterns of paths), and what its fields must match.
WANTED = {
    "libsextant0": ([r"/usr/lib/[^/]+/libsextant\.so\.0", r"/usr/lib/[^/]+/libsextant\.so\.0\.\d+\.\d+",
                     r"/usr/lib/[^/]+/sextant/plugins-0/cpu/spmv-\w+\.so", r"/usr/lib/[^/]+/sextant/plugins-0/device/\S+\.so",
                     r"/usr/share/sextant/profiles/\S+"],
                    {"Section": "libs", "Depends": r"libc6 .*libgomp1", "Recommends": "libopenblas0"}),
    "libsextant-dev": ([r"/usr/include/sextant/sextant\.h", r"/usr/include/sextant/sextant\.hpp", r"/usr/include/sextant/cpp/pcg\.hpp",
                        r"/usr/include/sextant/plugin/plugin\.h", r"/usr/lib/[^/]+/libsextant\.so",
                        r"/usr/lib/[^/]+/pkgconfig/sextant\.pc", r"/usr/lib/[^/]+/cmake/Sextant/SextantConfig\.cmake"],
                       {"Section": "libdevel", "Depends": r"libsextant0 \(= "}),
    "sextant-tools": ([r"/usr/bin/sextant", r"/usr/lib/[^/]+/sextant/libsextant-retune\.so",
                       r"/usr/share/man/man1/sextant\.1\.gz", r"/usr/share/bash-completion/completions/sextant",
                       r"/usr/share/zsh/vendor-completions/_sextant", r"/usr/share/fish/vendor_completions\.d/sextant\.fish"],
                      {"Section": "math", "Depends": r"libsextant0 \(= "}),
    "python3-sextant": ([r"/usr/lib/python3/dist-packages/sextant/__init__\.py", r"/usr/lib/python3/dist-packages/sextant/_declarations\.py",
                         r"/usr/lib/python3/dist-packages/sextant/_location\.py", r"/usr/lib/python3/dist-packages/sextant/py\.typed",
                         r"/usr/lib/python3/dist-packages/sextant-[0-9.]+\.dist-info/METADATA"],
                        {"Section": "python", "Architecture": "all", "Depends": r"libsextant0 \(>= .*python3-cffi-backend.*python3-numpy"}),
}  # fmt: skip
WANTED_WITH_CUDA = {
    "libsextant-cuda": ([r"/usr/lib/[^/]+/sextant/plugins-0/device/device-cuda\.so", r"/usr/lib/[^/]+/sextant/plugins-0/cuda/spmv-\S+\.so",
                         r"/usr/lib/[^/]+/sextant/plugins-0/cuda/pcg-\S+\.so", r"/usr/lib/[^/]+/sextant/plugins-0/cuda/hermitian-\S+\.so"],
                        {"Section": "contrib/libs", "Depends": r"libc6 .*libsextant0 \(= |libsextant0 \(= .*libc6 ", "Description": "CUDA runtime"}),
}  # fmt: skip
# The plugins are built for the package's contents alone: machine code of one architecture, soon compiled.
CUDA_DEFINITIONS = ("-DSEXTANT_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=90-real", "-DCMAKE_CUDA_FLAGS_RELEASE=-O1 -DNDEBUG")


def output_of(*command, **more):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if result.returncode != 0:
        sys.exit(f"FAILED: {' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def problems_of(name, paths, fields, control):
    """Why a package is not as it should be. paths: of its files; fields: by name; control: its control files."""
    wanted, values = {**WANTED, **WANTED_WITH_CUDA}[name]
    documents = [rf"/usr/share/doc/{name}/{document}" for document in ("copyright", r"changelog\.Debian\.gz")]
    found = [f"{name} has no {pattern}" for pattern in wanted + documents
             if not any(re.fullmatch(pattern, path) for path in paths)]  # fmt: skip
    found += [f"{name}: {field} is '{fields.get(field)}', not '{value}'" for field, value in values.items()
              if not re.search(value, fields.get(field, ""))]  # fmt: skip
    if not re.search(r"\S.*\n .*\S", fields.get("Description", "")):
        found.append(f"{name}: the description is not a line and a text")
    outside = [path for path in paths if not path.startswith("/usr/")]
    found += [f"{name} has {path}, which is not below /usr" for path in outside]
    # Plugins that need CUDA stand in their own package, and no library of NVIDIA's in any.
    found += [f"{name} has {path}" for path in paths
              if "libcuda" in path or (re.search(r"/plugins-\d+/(cuda/|device/device-cuda)", path) and name != "libsextant-cuda")]  # fmt: skip
    trigger = "activate-noawait ldconfig" in control.get("triggers", "")
    if trigger != (name == "libsextant0"):
        found.append(f"{name}: the trigger of ldconfig is {'there' if trigger else 'missing'}")
    return found


def read_package(path):
    listing = output_of("dpkg-deb", "--contents", path).splitlines()
    paths = [line.split(None, 5)[5].split(" -> ")[0].lstrip(".") for line in listing if not line.startswith("d")]
    text = output_of("dpkg-deb", "--field", path)
    fields = {match[1]: match[2] for match in re.finditer(r"^([A-Z][\w-]*): (.*(?:\n .*)*)", text, flags=re.M)}
    folder = path.with_suffix(".control")
    shutil.rmtree(folder, ignore_errors=True)
    output_of("dpkg-deb", "--control", path, folder)
    return paths, fields, {file.name: file.read_text() for file in folder.iterdir()}


def build(source, folder, definitions):
    """The packages by name."""
    output = folder / "packages"
    shutil.rmtree(output, ignore_errors=True)
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    output_of("cmake", *generator, "--preset", "debian", "-B", folder, *definitions, cwd=source)
    output_of("cmake", "--build", folder, "--parallel", "2")
    output_of("cpack", "--config", folder / "CPackConfig.cmake", "-B", output)
    return {path.name.split("_")[0]: path for path in sorted(output.glob("*.deb"))}


# Run with the package and the library laid out in a folder.
PROGRAM = "import sextant; print(sextant.solve(([2.0, 4.0], [0, 1], [0, 1, 2]), [2.0, 4.0]), sextant.__file__)"


def python_has(module):
    """Whether the Python that the package is for has a module."""
    return subprocess.run(["/usr/bin/python3", "-c", f"import {module}"], capture_output=True).returncode == 0


def problems_of_python(packages, folder):
    """Whether the package runs on the library."""
    root = folder / "root"
    shutil.rmtree(root, ignore_errors=True)
    for name in ("libsextant0", "python3-sextant"):
        output_of("dpkg-deb", "--extract", packages[name], root)
    libraries = next(root.glob("usr/lib/*/libsextant.so.0")).parent
    environment = {**os.environ, "PYTHONPATH": str(root / "usr/lib/python3/dist-packages"), "LD_LIBRARY_PATH": str(libraries)}
    run = subprocess.run(["/usr/bin/python3", "-B", "-c", PROGRAM], env=environment, capture_output=True, text=True)
    answer = f"[1. 1.] {root}/usr/lib/python3/dist-packages/sextant/__init__.py\n"
    return [] if run.stdout == answer else [f"python3-sextant printed:\n{run.stdout}{run.stderr}"]


def main():
    cuda = "--cuda" in sys.argv
    missing = [tool for tool in (*TOOLS, *(("nvcc",) if cuda else ())) if not shutil.which(tool)]
    if missing:
        print(f"SKIPPED: {', '.join(missing)} not installed")
        return 77
    if not os.environ.get("SEXTANT_TEST_PACKAGES"):
        print("SKIPPED: it builds everything once more; SEXTANT_TEST_PACKAGES=1 asks for it")
        return 77
    source, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    packages = build(source, folder, [*(CUDA_DEFINITIONS if cuda else ("-DSEXTANT_CUDA=OFF",)), *(each for each in sys.argv[3:] if each != "--cuda")])
    if cuda:
        WANTED.update(WANTED_WITH_CUDA)
    if not python_has("cffi"):
        print("/usr/bin/python3 has no cffi: python3-sextant is left out")
        del WANTED["python3-sextant"]
    problems = [f"{name} was not built" for name in WANTED if name not in packages]
    problems += [f"{name} was built, and this test does not know it" for name in packages if name not in WANTED]
    for name, path in packages.items():
        if name in WANTED:
            problems += problems_of(name, *read_package(path))
    if "python3-sextant" in packages and python_has("numpy"):
        problems += problems_of_python(packages, folder)
    if shutil.which("lintian"):
        run = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", *packages.values()], capture_output=True, text=True)
        print(run.stdout)
        problems += [f"lintian:\n{run.stdout}{run.stderr}"] if run.returncode != 0 else []
    else:
        print("lintian is not installed: its checks are left out")
    print("\n".join(f"FAILED: {problem}" for problem in problems) or f"{len(packages)} packages")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
