#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests what cmake --install makes, from outside: installs a build, moves it elsewhere, and builds programs against it.

usage: install_test.py [options] STEP
steps: tree         install and move (the others need it)
       c-cmake, c-pkgconfig                                  a C program by find_package, by pkg-config
       cxx-cmake                                             a C++ program by find_package
       static       a C program that holds the library, by find_package and by pkg-config
       components   a component that is not there is named
       half-installed   what is missing, damaged, doubled or of another ABI is named
       fortran-cmake, fortran-source, fortran-pkgconfig      a Fortran program, by installed modules, by their source
       fortran-fpm      a Fortran program, by fpm
       generated, generated-fortran      the program of `sextant generate-solver`, unchanged
       python       the Python package, installed by pip
       plugin       a plugin folder of the tree, built outside, and checked by the sextant command
       folders      the folder of `sextant plugin new` of every kind, and kernels of the tree, built outside (--cuda)
       template     one of them, checked and tested (--template, --cuda)
       product      from `sextant plugin new` to a kernel that is chosen: docs/adding_a_kernel.md
       documents    links between documents, rooms of headers
       exports      SONAME, symbols, search paths        headers   every header alone, in every standard
       relocation   no file of the package names the place where it was built or installed first
Exit codes: 0 passed, 1 failed, 77 skipped because something is not there.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import half_installed
import headers
import plugin_folders
import shared_objects

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def fail(message):
    print(f"FAILED: {message}")
    sys.exit(1)


def skip(message):
    print(f"SKIPPED: {message}")
    sys.exit(SKIPPED)


def require_none(problems):
    for problem in problems:
        print(f"FAILED: {problem}")
    if problems:
        sys.exit(1)


def own_settings_aside():
    """The environment without what the user has set or installed for Sextant."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SEXTANT_")}
    return dict(kept, XDG_DATA_HOME="/nonexistent", XDG_STATE_HOME="/nonexistent")


def run(*command, **more):
    """Shows the command and its output; a failure ends the test."""
    words = [str(word) for word in command]
    print("+", shlex.join(words), flush=True)
    if subprocess.run(words, env=own_settings_aside(), **more).returncode != 0:
        fail(f"{words[0]} failed")


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


class Tree:
    """The moved tree, and where the programs are built. A blank in its path catches missing quotes."""

    def __init__(self, options):
        self.options = options
        self.staged = options.work / "installed first"
        self.prefix = options.work / "then moved"
        self.libdir = self.prefix / options.libdir
        self.library = self.libdir / "libsextant.so"
        self.plugins = self.libdir / "sextant" / "plugins-0"

    def build_folder(self, name):
        return fresh(self.options.work / name)

    def sanitizer(self):
        return [f"-fsanitize={self.options.sanitize}"] if self.options.sanitize else []

    def cmake(self, source, name, *definitions, parallel=1):
        """Configures and builds an outside project against the tree; returns its build folder."""
        folder = self.build_folder(name)
        flags = " ".join(self.sanitizer())
        options = self.options
        compilers = {"C": options.cc, "CXX": options.cxx, "Fortran": options.fc}
        run("cmake", "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Release",
            "--no-warn-unused-cli", *[f"-DCMAKE_{k}_COMPILER={v}" for k, v in compilers.items() if v],
            *[f"-DCMAKE_{kind}_LINKER_FLAGS={flags}" for kind in ("EXE", "MODULE") if flags],
            f"-DSEXTANT_SANITIZE={options.sanitize}", *definitions)  # fmt: skip
        run("cmake", "--build", folder, "--verbose", "--parallel", parallel)
        return folder

    def pkg_config(self, package):
        """Flags to compile and link with, the library's folder recorded as search path."""
        if not shutil.which("pkg-config"):
            skip("pkg-config is not installed")
        environment = dict(os.environ, PKG_CONFIG_PATH=str(self.libdir / "pkgconfig"))

        def ask(*what):
            words = ["pkg-config", *what, package]
            answer = subprocess.run(words, env=environment, capture_output=True, text=True)
            if answer.returncode != 0:
                fail(f"{shlex.join(words)}: {answer.stderr}")
            return shlex.split(answer.stdout)

        libdir = ask("--variable=libdir")[0]
        if pathlib.Path(libdir).resolve() != self.libdir.resolve():
            fail(f"pkg-config says libdir={libdir}, the tree has {self.libdir}")
        return [*ask("--cflags"), *self.sanitizer()], [*ask("--libs"), f"-Wl,-rpath,{libdir}"]


def tree(t):
    for old in (t.staged, t.prefix):
        shutil.rmtree(old, ignore_errors=True)
    t.options.work.mkdir(parents=True, exist_ok=True)
    run("cmake", "--install", t.options.build, "--prefix", t.staged, stdout=subprocess.DEVNULL)
    os.rename(t.staged, t.prefix)
    if not t.library.exists():
        fail(f"there is no {t.library}")
    # The examples that the documents walk through, whole.
    examples = HERE.parent.parent / "docs" / "examples"
    wanted = sorted(str(path.relative_to(examples)) for path in examples.rglob("*") if path.is_file())
    installed = [str(path) for path in (t.prefix / "share").rglob("examples/*/*")]
    require_none([f"the example {name} is not installed" for name in wanted
                  if not any(path.endswith("examples/" + name) for path in installed)])  # fmt: skip


def c_cmake(t):
    folder = t.cmake(HERE / "c", "c by cmake")
    run(folder / "consumer", t.prefix)


def c_pkgconfig(t):
    compile_flags, link_flags = t.pkg_config("sextant")
    program = t.build_folder("c by pkg-config") / "consumer"
    run(t.options.cc, "-std=c11", *compile_flags, HERE / "c" / "consumer.c", "-o", program, *link_flags)
    run(program, t.prefix)


def cxx_cmake(t):
    """The example of the documents, as it is installed."""
    [source] = (t.prefix / "share").rglob("examples/cpp-heat")
    run(t.cmake(source, "cxx by cmake") / "heat")


def static(t):
    """The program lies in the tree's bin, from where it finds the plugins."""
    if not (t.libdir / "libsextant.a").exists():
        skip("this build has no static library (SEXTANT_STATIC)")
    tree = t.build_folder("static") / "tree"
    shutil.copytree(t.prefix, tree, copy_function=os.link, symlinks=True)
    (tree / "bin").mkdir(exist_ok=True)
    shutil.copy(t.cmake(HERE / "c", "static by cmake", "-DSEXTANT_STATIC=ON") / "consumer", tree / "bin" / "by cmake")
    compile_flags, link_flags = t.pkg_config("sextant-static")
    run(t.options.cc, "-std=c11", *compile_flags, HERE / "c" / "consumer.c", "-o", tree / "bin" / "by pkg-config", *link_flags)
    for name in ("by cmake", "by pkg-config"):
        needed = shared_objects.dynamic(tree / "bin" / name, "NEEDED")
        require_none([f"the program '{name}' needs {each}" for each in needed if each.startswith("libsextant")])
        run(tree / "bin" / name, tree)


def ask_for_component(t, component, name, *definitions, **settings):
    """How find_package ends, which shows what it found for Python."""
    source = t.build_folder(f"component {name}")
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(consumer LANGUAGES C)\n"
        f"find_package(Sextant REQUIRED COMPONENTS {component})\n"
        'message("found in ${Sextant_PYTHON_PACKAGE}")\n')  # fmt: skip
    command = ["cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={t.prefix}", f"-DCMAKE_C_COMPILER={t.options.cc}"]
    return subprocess.run([*command, *definitions], env=dict(own_settings_aside(), **settings), capture_output=True, text=True)


def python_component(t):
    """Component python, with packages that only say their version."""
    python = f"-DPython3_EXECUTABLE={sys.executable}"
    version = re.search(r'PACKAGE_VERSION "([^"]+)"', (t.libdir / "cmake/Sextant/SextantConfigVersion.cmake").read_text())[1]
    cases = {version: f"found in {t.options.work}", "0.0.9": "uses Sextant 0.0.9, and this is", "": "does not import the package sextant: "}
    for of_package, sentence in cases.items():
        package = t.build_folder("python package") / "sextant"
        package.mkdir()
        body = f"__version__ = {of_package!r}\n" if of_package else "raise ImportError('libsextant was not found')\n"
        (package / "__init__.py").write_text(body)
        answer = ask_for_component(t, "python", "python", python, PYTHONPATH=str(package.parent))
        said = " ".join(answer.stderr.split())
        if (answer.returncode == 0) != (of_package == version) or sentence not in said:
            fail(f"component python over a package of version '{of_package}': expected '{sentence}', found\n{answer.stderr}")


def components(t):
    """What find_package says of components that cannot be given, and of the Python package."""
    python_component(t)
    cases = {"cobol": "installed without component cobol", "fortran": "enable the language Fortran", "cxx": "enable the language CXX"}
    for component, sentence in cases.items():
        answer = ask_for_component(t, component, component)
        if answer.returncode == 0 or sentence not in " ".join(answer.stderr.split()):
            fail(f"component {component}: expected an error with '{sentence}', found\n{answer.stderr}")


def half(t):
    """Trees that are not whole."""
    if not (t.prefix / "bin" / "sextant").exists():
        skip("this build has no sextant command")
    require_none(half_installed.problems(t, t.build_folder, own_settings_aside()))
    print(f"{len(half_installed.CASES) + 2} trees")


def need_fortran(t):
    if not t.options.fc:
        skip("this build has no Fortran module")


def fortran_cmake(t):
    need_fortran(t)
    run(t.cmake(HERE / "fortran", "fortran by cmake") / "consumer")


def fortran_source(t):
    need_fortran(t)
    run(t.cmake(HERE / "fortran", "fortran by source", "-DSEXTANT_FORTRAN_FROM_SOURCE=ON") / "consumer")


def fortran_pkgconfig(t):
    need_fortran(t)
    compile_flags, link_flags = t.pkg_config("sextant-fortran")
    folder = t.build_folder("fortran by pkg-config")
    program = folder / "consumer"
    run(t.options.fc, *compile_flags, HERE / "fortran" / "consumer.f90", "-o", program, *link_flags, cwd=folder)
    run(program)


def fortran_fpm(t):
    need_fortran(t)
    if not shutil.which("fpm"):
        skip("fpm is not installed")
    folder = t.build_folder("fortran_by_fpm")  # fpm gives the linker paths without quotes
    sources, library = folder / "sextant", folder / "lib"
    shutil.copytree(t.prefix / "share" / "sextant" / "fortran", sources)
    library.symlink_to(t.libdir)
    (folder / "app").mkdir()
    shutil.copy(HERE / "fortran" / "consumer.f90", folder / "app" / "main.f90")
    (folder / "fpm.toml").write_text('name = "consumer"\n[dependencies]\nsextant = { path = "sextant" }\n')
    flags = " ".join([f"-L{library}", f"-Wl,-rpath,{library}", *t.sanitizer()])
    run("fpm", "run", "--compiler", t.options.fc, "--link-flag", flags, cwd=folder)


def python(t):
    missing = [name for name in ("pip", "scikit_build_core", "cffi", "numpy") if importlib.util.find_spec(name) is None]
    if missing or t.options.sanitize:
        skip(f"Python has no module {', '.join(missing)}" if missing else "Python runs without the sanitizer's runtime")
    folder = t.build_folder("python by pip")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", folder,
        "-C", f"cmake.define.CMAKE_PREFIX_PATH={t.prefix}", "-C", "cmake.define.SEXTANT_PYTHON_BUNDLE=OFF",
        HERE.parent.parent / "bindings" / "python")  # fmt: skip
    run(sys.executable, HERE / "python" / "consumer.py", folder, t.prefix)


def generate_and_run(t, language):
    """The program builds with no edit, and takes the iterations that the command took; it says so by its exit code."""
    command = t.prefix / "bin" / "sextant"
    if not command.exists():
        skip("this build has no sextant command")
    folder = t.build_folder(f"generated in {language}")
    run(command, "generate-solver", "--generate", "stencil-2d", "--n", "900", "--language", language, "-o", folder)
    run(t.cmake(folder, f"generated in {language}, built") / "solve", folder)


def generated(t):
    generate_and_run(t, "c")


def generated_fortran(t):
    need_fortran(t)
    generate_and_run(t, "fortran")


def plugin(t):
    """A folder of the tree is copied out, so that nothing beside it can help."""
    source = t.options.work / "plugin outside"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(t.options.plugin, source)
    folder = t.cmake(source, "plugin built outside")
    built = sorted(folder.rglob("*.so"))
    if len(built) != 1:
        fail(f"expected one plugin under {folder}, found {built}")
    require_none(shared_objects.plugin_problems(built[0], "sxt_plugin_entry_0"))
    if not (t.prefix / "bin" / "sextant").exists():
        skip("built, but not checked: this build has no sextant command")
    # It must not be loaded twice: a second plugin of the same name is refused.
    without = t.options.work / "tree without it"
    shutil.rmtree(without, ignore_errors=True)
    shutil.copytree(t.prefix, without, copy_function=os.link, symlinks=True)
    twins = sorted(without.rglob(built[0].name))
    if len(twins) != 1:
        fail(f"expected one installed {built[0].name}, found {twins}")
    twins[0].unlink()
    run(without / "bin" / "sextant", "plugin", "check", "--device", "cpu", "--no-stamp", built[0])


def command_of(t):
    command = t.prefix / "bin" / "sextant"
    if not command.exists():
        skip("this build has no sextant command")
    return command


def new_folder(t, kind, name, *options):
    folder = t.build_folder(f"new {kind}{' for CUDA' if options else ''}") / name
    run(command_of(t), "plugin", "new", kind, name, "-o", folder, *options)
    return folder


def run_line_of_readme(t, folder, built):
    [line] = re.findall(r"(?m)^sextant (?!plugin check)(.*)$", (folder / "README.md").read_text())
    matrix = plugin_folders.tridiagonal(folder / "tridiagonal.mtx")
    run(command_of(t), *[str(matrix) if word == "MATRIX.mtx" else word.replace("build/", f"{built}/") for word in shlex.split(line)])


def explained_candidates(t, words, state):
    return json.loads(subprocess.check_output([command_of(t), *words, "--device", "cpu", "--json"], env=state))["candidates"]


def never_cheaper_than(t, mine, own, plugin):
    """The model of a kernel that does what one of the library does: no launch of it is predicted to be faster, where rows differ most."""
    found = explained_candidates(t, ["explain", "--generate", "power-law", "--op", "spmv", "--threads", "4", "--plugin-path", plugin], own_settings_aside())
    seconds = {(each["kernel"], each["launch"][0]): each["predicted_run_s"] for each in found if each["launch"]}
    launches = [launch for kernel, launch in seconds if kernel == mine]
    if not launches or any(seconds[mine, launch] < seconds[own, launch] * (1 - 1e-9) for launch in launches):
        fail(f"{mine} is not predicted, or faster than {own}: {seconds}")


def folders_root(t):
    if t.options.cuda and not (shutil.which("nvcc") and list(t.prefix.rglob("device-cuda.so"))):
        skip("there is no CUDA compiler (nvcc), or this build has no CUDA plugins")
    return t.options.work / ("plugin folders for CUDA" if t.options.cuda else "plugin folders")


def folders(t):
    """Their speed is not tested here: they are compiled for a short build. Without the command there are kernels of the tree alone."""
    cuda, root = t.options.cuda, folders_root(t)
    command = command_of(t) if cuda else t.prefix / "bin" / "sextant"
    source, made = fresh(root), plugin_folders.requests(cuda) if command.exists() else {}
    for name, request in made.items():
        run(command, "plugin", "new", *request, "-o", source / name, stdout=subprocess.DEVNULL)
    kernels = [] if cuda else plugin_folders.copied_kernels(t.options.kind, source)
    (source / "CMakeLists.txt").write_text(plugin_folders.project(made, kernels, cuda))
    built = t.cmake(source, f"{source.name}, built", "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DCMAKE_C_FLAGS_RELEASE=-O1", parallel=2)
    plugins = sorted(built.rglob("*.so"))
    if len(plugins) != len(made) + len(kernels):
        fail(f"expected {len(made)} and {len(kernels)} plugins, found {plugins}")
    for path in plugins:
        require_none(shared_objects.plugin_problems(path, "sxt_plugin_entry_0"))
    print(f"{len(plugins)} plugins")


def template(t):
    """The tests of one of these folders pass: the cases of its kind, and test_kernel.cpp."""
    command_of(t)
    kind, root = t.options.template, folders_root(t)
    built = t.options.work / f"{root.name}, built" / kind
    run("ctest", "--test-dir", built, "--output-on-failure", "--no-tests=error")
    if t.options.cuda:
        fake = t.options.build / "tests" / "mocks" / "fake_device"
        return require_none(plugin_folders.problems_on_the_fake_device(command_of(t), built / f"my-{kind}.so", fake, own_settings_aside()))
    run_line_of_readme(t, root / kind, built)
    if kind == "spmv":
        never_cheaper_than(t, "com.example.my-spmv", "spmv.csr.rows.cpu", built / "my-spmv.so")


def product(t):
    """The walk of docs/adding_a_kernel.md, with its change and its last command: at most twelve lines of one's own, to a product that is chosen."""
    guide = (HERE.parent.parent / "docs" / "adding_a_kernel.md").read_text()
    change = re.search(r"^```diff\n(.*?)^```$", guide, re.M | re.S)[1]
    own = [line for line in change.splitlines() if line.startswith("+") and not line.startswith("+++")]
    if len(own) > 12:
        fail(f"the change has {len(own)} lines, 12 are promised")
    if not shutil.which("patch"):
        skip("the program patch is not installed")
    folder = new_folder(t, "spmv", "even")
    run("patch", "-d", folder, "-p1", input=change, text=True)
    plugin = t.cmake(folder, "even, built") / "even.so"
    run("ctest", "--test-dir", plugin.parent, "--output-on-failure", "--no-tests=error")
    run("cmake", "--build", plugin.parent, "--target", "bench")
    state = {**own_settings_aside(), "XDG_STATE_HOME": str(folder)}
    subprocess.run([command_of(t), "plugin", "check", "--device", "cpu", plugin], env=state, check=True, stdout=subprocess.DEVNULL)
    explain = re.search(r"^sextant (explain .*?) +#", guide, re.M)[1].replace("even/build/even.so", shlex.quote(str(plugin)))
    chosen = [each["kernel"] for each in explained_candidates(t, shlex.split(explain), state) if each.get("chosen")]
    if chosen != ["com.example.even"]:
        fail(f"{chosen} was chosen, not com.example.even")


def exports(t):
    soname = shared_objects.dynamic(t.library, "SONAME")
    problems = [] if soname == ["libsextant.so.0"] else [f"SONAME is {soname}, not libsextant.so.0"]
    folder = t.prefix / "include" / "sextant"
    allowed = {"__assert_fail"} if t.options.assertions else set()
    headers = sorted(folder.glob("*.h"))
    problems += shared_objects.library_problems(t.library, headers, "SEXTANT_0", allowed)
    problems += shared_objects.path_problems(t.library)
    plugins = sorted(t.plugins.rglob("*.so"))
    if not plugins:
        problems.append(f"no plugin under {t.plugins}")
    for path in plugins:
        problems += shared_objects.plugin_problems(path, "sxt_plugin_entry_0")
        # CUDA plugins may look for the toolkit they were built with.
        problems += [] if path.parent.name == "cuda" else shared_objects.path_problems(path)
    command = t.prefix / "bin" / "sextant"
    problems += shared_objects.path_problems(command) if command.exists() else []
    require_none(problems)
    print(f"{len(shared_objects.exported(t.library))} functions, {len(plugins)} plugins")


def documents(t):
    """Links between installed documents lead somewhere, and headers stand in the rooms that docs/design.md names."""
    folder = t.prefix / "share" / "doc" / "sextant"
    problems, checked = [], 0
    for path in sorted(folder.rglob("*.md")):
        text = re.sub(r"```.*?```", "", path.read_text(), flags=re.S)
        for target in re.findall(r"\]\(([^)#\s]+)", text):
            checked += 1
            if "://" not in target and not (path.parent / target).exists():
                problems.append(f"{path.relative_to(folder)} links to {target}, which is not there")
    if checked == 0:
        fail(f"no links in {folder}")
    rooms = {entry.name for entry in (t.prefix / "include" / "sextant").iterdir() if entry.is_dir()} - {"fortran"}
    if rooms != {"cpp", "plugin", "sdk"}:
        problems.append(f"include/sextant has the folders {sorted(rooms)}, expected cpp, plugin and sdk")
    require_none(problems)
    print(f"{checked} links")


def check_headers(t):
    include = t.prefix / "include"
    require_none(headers.problems(include, t.build_folder("headers"), t.options.cc, t.options.cxx))
    print(f"{len(list(include.rglob('*.h')))} headers")


def relocation(t):
    """The package's text files name neither the build, nor the source, nor the first prefix."""
    places = [str(t.staged), str(t.options.build), str(HERE.parent.parent)]
    problems, files = [], 0
    for path in sorted([*t.libdir.rglob("*.cmake"), *t.libdir.rglob("*.pc")]):
        files += 1
        text = path.read_text()
        problems += [f"{path.name} names {place}" for place in places if place in text]
    require_none(problems if files else [f"no package files under {t.libdir}"])
    print(f"{files} package files")


STEPS = {
    "tree": tree, "c-cmake": c_cmake, "c-pkgconfig": c_pkgconfig, "cxx-cmake": cxx_cmake, "static": static, "components": components, "half-installed": half,
    "fortran-cmake": fortran_cmake, "fortran-source": fortran_source, "fortran-pkgconfig": fortran_pkgconfig,
    "fortran-fpm": fortran_fpm,
    "generated": generated, "generated-fortran": generated_fortran, "python": python, "plugin": plugin, "folders": folders, "template": template,
    "product": product, "documents": documents, "exports": exports,
    "headers": check_headers, "relocation": relocation,
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build that is installed")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for everything made here")
    parser.add_argument("--libdir", default="lib", help="where the build installs libraries, below its prefix")
    parser.add_argument("--plugin", type=pathlib.Path, required=True, help="plugin folder to build outside")
    parser.add_argument("--kind", type=pathlib.Path, action="append", default=[], help="folder or C file of one more")
    parser.add_argument("--template", default="spmv", help="the kind of step template")
    parser.add_argument("--cuda", action="store_true", help="steps folders and template: for CUDA devices")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--fc", default="", help="empty: no Fortran module was built")
    parser.add_argument("--sanitize", default="", help="sanitizers the build was made with")
    parser.add_argument("--assertions", action="store_true", help="a build for debugging: it may assert")
    options = parser.parse_args()
    STEPS[options.step](Tree(options))


if __name__ == "__main__":
    main()
