# SPDX-License-Identifier: BSD-3-Clause
"""Recipe for Spack, from sources that lie in a folder: docs/install.md."""

from spack.package import CMakePackage, depends_on, license, requires, variant, version


class Sextant(CMakePackage):
    """Sparse and batched dense linear algebra that picks its kernels by model."""

    license("BSD-3-Clause")
    version("0.1.0")  # from a folder: there is no archive to fetch

    variant("tools", default=True, description="The command sextant")
    variant("fortran", default=True, description="The Fortran module")
    variant("cuda", default=False, description="Kernels for NVIDIA GPUs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build", when="+tools")
    depends_on("zlib-api")
    depends_on("tomlplusplus", type="build")
    depends_on("nlohmann-json", type="build", when="+tools")
    depends_on("cli11", type="build", when="+tools")
    depends_on("fmt", when="+tools")
    depends_on("libmicrohttpd", when="+tools")
    depends_on("openblas", type="run")  # loaded by the kernels that use it
    depends_on("cuda@13:", when="+cuda")

    requires("platform=linux", msg="Sextant is for Linux")

    def cmake_args(self):
        return [
            self.define("SEXTANT_TESTS", False),
            self.define_from_variant("SEXTANT_TOOLS", "tools"),
            self.define_from_variant("SEXTANT_FORTRAN", "fortran"),
            self.define_from_variant("SEXTANT_CUDA", "cuda"),
        ]
