#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The recipes for conda and Spack and the manifest for fpm agree with the sources: recipes.py SOURCE

Their version is the header's, each CMake option that they set exists, and Spack's compiles as Python. Where the Python
package rattler_build is installed, it also reads the recipe for conda."""

import importlib.util
import pathlib
import re
import sys


def problems_of(recipe, version, options):
    """Why a recipe's text does not agree with the version and the options of the sources."""
    stated = re.search(r'version(?:: |\()"([^"]+)"', recipe)
    found = [] if stated and stated[1] == version else [f"its version is {stated and stated[1]}, the header's {version}"]
    used = re.findall(r'-D(SEXTANT_\w+)=|define(?:_from_variant)?\("(SEXTANT_\w+)"', recipe)
    names = [first or second for first, second in used]
    found += [f"CMakeLists.txt has no option {name}" for name in names if name not in options]
    return found + ([] if names else ["it sets no option"])


def manifest_problems(manifest, version):
    """The same of the manifest for fpm."""
    stated = re.search(r'^version = "([^"]+)"$', manifest, flags=re.MULTILINE)
    found = [] if stated and stated[1] == version else [f"its version is {stated and stated[1]}, the header's {version}"]
    return found + ([] if re.search(r'^link = "sextant"$', manifest, flags=re.MULTILINE) else ["it does not link sextant"])


def sources(root):
    """The version of the header and the options of CMakeLists.txt."""
    header = (root / "include/sextant/sextant.h").read_text()
    version = ".".join(re.search(rf"#define SXT_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))
    return version, set(re.findall(r"^(?:option|set)\((SEXTANT_\w+)", (root / "CMakeLists.txt").read_text(), flags=re.MULTILINE))


def main():
    root = pathlib.Path(sys.argv[1])
    conda = root / "cmake/recipes/conda/recipe.yaml"
    spack = root / "cmake/recipes/spack/packages/sextant/package.py"
    version, options = sources(root)
    problems = [f"{path.name}: {problem}" for path in (conda, spack) for problem in problems_of(path.read_text(), version, options)]
    manifest = root / "bindings/fortran/fpm.toml"
    problems += [f"{manifest.name}: {problem}" for problem in manifest_problems(manifest.read_text(), version)]
    compile(spack.read_text(), str(spack), "exec")
    if importlib.util.find_spec("rattler_build"):
        import rattler_build

        variants = rattler_build.VariantConfig.from_file(str(conda.with_name("variants.yaml")))
        for package in rattler_build.Stage0Recipe.from_file(str(conda)).render(variants):
            print(f"rattler_build: {package.recipe.to_dict()['package']}")
    else:
        print("rattler_build is not installed: the recipe for conda is only compared with the sources")
    print("\n".join(f"FAILED: {problem}" for problem in problems) or "2 recipes, 1 manifest")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
