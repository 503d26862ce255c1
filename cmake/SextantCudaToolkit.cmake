# SPDX-License-Identifier: BSD-3-Clause
# Finds the CUDA toolkit, with its imported targets CUDA::cudart and the others.
#
# CMake 3.25 insists on a library nvToolsExt, which CUDA 13 no longer has, once a project requires CMake 3.25 itself.
# An empty target of that name, made first, satisfies it; nothing links it.
if(CMAKE_VERSION VERSION_LESS 3.26 AND NOT TARGET CUDA::nvToolsExt)
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
endif()
find_package(CUDAToolkit REQUIRED)
