# SPDX-License-Identifier: BSD-3-Clause
# Debian packages by CPack: `cpack --config CPackConfig.cmake` in a build for /usr (preset debian). A package for each group of
# install components:
#   libsextant0      library  runtime               the library and its CPU plugins, by architecture
#   libsextant-dev   dev      development, fortran  headers, CMake and pkg-config files, documents, the Fortran module
#   libsextant-cuda  cuda     cuda                  plugins for CUDA, where they are built
#   sextant-tools    tools    tools                 the command, its manual page and completions
#   python3-sextant  python   python                the Python package, where the system's Python has cffi
# A further binding adds its component to CPACK_COMPONENTS_ALL and a call of sextant_debian_package.
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  message(FATAL_ERROR "SEXTANT_DEBIAN: packages are built for /usr, but CMAKE_INSTALL_PREFIX is ${CMAKE_INSTALL_PREFIX}; "
    "use the preset debian, in a build folder of its own")
endif()
find_program(GZIP_COMMAND gzip)
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(NOT GZIP_COMMAND OR NOT DPKG_SHLIBDEPS)
  message(FATAL_ERROR "SEXTANT_DEBIAN needs gzip and dpkg-shlibdeps (packages gzip and dpkg-dev)")
endif()

set(SEXTANT_MAINTAINER "The Sextant authors <sextant@debian.invalid>" CACHE STRING "Maintainer of the Debian packages")
set(SEXTANT_DEBIAN_REVISION 1 CACHE STRING "Revision of the Debian packages of one version")
set(debian_version "${PROJECT_VERSION}-${SEXTANT_DEBIAN_REVISION}")
string(TIMESTAMP debian_date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH, where it is set
file(READ "${PROJECT_SOURCE_DIR}/LICENSE" licence)
string(REGEX REPLACE "^.*(Redistribution and use)" "\\1" licence "${licence}")
string(STRIP "${licence}" licence)
string(REGEX REPLACE "\n\n" "\n.\n" licence "${licence}")
string(REPLACE "\n" "\n " debian_licence "${licence}")

# What policy wants in share/doc/<package>, for the component that the package is made of, and overrides for lintian: those
# of all packages, and those of the package that cmake/debian/ has.
function(sextant_debian_documents package component)
  set(folder "${PROJECT_BINARY_DIR}/debian/${package}")
  set(debian_package "${package}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/debian/copyright.in" "${folder}/copyright" @ONLY)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/debian/changelog.in" "${folder}/changelog.Debian" @ONLY)
  execute_process(COMMAND "${GZIP_COMMAND}" -9nf "${folder}/changelog.Debian" COMMAND_ERROR_IS_FATAL ANY)
  install(FILES "${folder}/copyright" "${folder}/changelog.Debian.gz"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${package}" COMPONENT ${component})
  configure_file("${PROJECT_SOURCE_DIR}/cmake/debian/lintian-overrides.in" "${folder}/overrides" @ONLY)
  set(own "${PROJECT_SOURCE_DIR}/cmake/debian/${package}.lintian-overrides")
  if(EXISTS "${own}")
    file(READ "${own}" lines)
    file(APPEND "${folder}/overrides" "${lines}")
  endif()
  install(FILES "${folder}/overrides" DESTINATION "${CMAKE_INSTALL_DATADIR}/lintian/overrides" RENAME "${package}"
    COMPONENT ${component})
endfunction()

# One package: its group, its section, what it depends on beside what dpkg-shlibdeps finds, and its description.
macro(sextant_debian_package package)
  cmake_parse_arguments(DEB "" "GROUP;SECTION;ARCHITECTURE;DEPENDS;RECOMMENDS;SUGGESTS;MULTIARCH;SUMMARY;DESCRIPTION" "COMPONENTS" ${ARGN})
  string(TOUPPER "${DEB_GROUP}" group)
  list(GET DEB_COMPONENTS 0 first)
  sextant_debian_documents(${package} ${first})
  list(APPEND CPACK_COMPONENTS_ALL ${DEB_COMPONENTS})
  set(CPACK_DEBIAN_${group}_PACKAGE_NAME "${package}")
  set(CPACK_DEBIAN_${group}_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_${group}_PACKAGE_SECTION "${DEB_SECTION}")
  set(CPACK_DEBIAN_${group}_PACKAGE_ARCHITECTURE "${DEB_ARCHITECTURE}")  # empty: this machine's
  set(CPACK_DEBIAN_${group}_PACKAGE_DEPENDS "${DEB_DEPENDS}")
  set(CPACK_DEBIAN_${group}_PACKAGE_RECOMMENDS "${DEB_RECOMMENDS}")
  set(CPACK_DEBIAN_${group}_PACKAGE_SUGGESTS "${DEB_SUGGESTS}")
  set(CPACK_DEBIAN_${group}_PACKAGE_MULTIARCH "${DEB_MULTIARCH}")  # CPack writes the field from 3.31 on
  set(CPACK_COMPONENT_${group}_DESCRIPTION "${DEB_SUMMARY}\n${DEB_DESCRIPTION}")
  foreach(component IN LISTS DEB_COMPONENTS)
    string(TOUPPER "${component}" upper)
    set(CPACK_COMPONENT_${upper}_GROUP "${DEB_GROUP}")
  endforeach()
endmacro()

set(about "Sextant predicts what each of its kernels would cost on a matrix and a machine,\ntakes the cheapest, and says why.")
set(dev_components development)
if(SEXTANT_FORTRAN_ENABLED)
  list(APPEND dev_components fortran)
endif()
# BLAS and LAPACK are loaded at run time, by the kernels that use them.
sextant_debian_package(libsextant0 GROUP library COMPONENTS runtime SECTION libs MULTIARCH same
  RECOMMENDS "libopenblas0" SUGGESTS "libmetis5"
  SUMMARY "sparse and batched dense linear algebra that picks its kernels by model"
  DESCRIPTION "${about}\n.\nThis package has the library and its kernels for CPUs.")
sextant_debian_package(libsextant-dev GROUP dev COMPONENTS ${dev_components} SECTION libdevel
  DEPENDS "libsextant0 (= ${debian_version})" SUGGESTS "libeigen3-dev, gfortran, cmake"
  SUMMARY "sparse and batched dense linear algebra - development files"
  DESCRIPTION "${about}\n.\nThis package has the headers for C, C++ and authors of kernels, the Fortran\nmodule, and the documents.")
if(SEXTANT_TOOLS)
  sextant_debian_package(sextant-tools GROUP tools COMPONENTS tools SECTION math
    DEPENDS "libsextant0 (= ${debian_version})"
    SUMMARY "sparse and batched dense linear algebra - command"
    DESCRIPTION "${about}\n.\nThis package has the command sextant, which solves systems in Matrix Market\nfiles, explains choices and calibrates predictions.")
endif()
if(SEXTANT_CUDA_ENABLED)
  # The CUDA runtime comes from NVIDIA's packages, whose names differ from version to version.
  sextant_debian_package(libsextant-cuda GROUP cuda COMPONENTS cuda SECTION contrib/libs
    DEPENDS "libsextant0 (= ${debian_version})"
    SUMMARY "sparse and batched dense linear algebra - kernels for CUDA"
    DESCRIPTION "${about}\n.\nThis package has the kernels for NVIDIA GPUs. They need the CUDA runtime of\nversion ${CUDAToolkit_VERSION_MAJOR}, which is not in Debian.")
endif()
if(TARGET sextant_python)
  sextant_debian_package(python3-sextant GROUP python COMPONENTS python SECTION python ARCHITECTURE all
    DEPENDS "libsextant0 (>= ${PROJECT_VERSION}), python3 (>= 3.9), python3-cffi-backend (>= 1.15), python3-numpy (>= 1:1.22)"
    RECOMMENDS "python3-scipy" SUGGESTS "python3-matplotlib, python3-pandas"
    SUMMARY "sparse and batched dense linear algebra - Python 3 package"
    DESCRIPTION "${about}\n.\nThis package has the Python package sextant, for arrays of NumPy and sparse\nmatrices of SciPy.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    "${PROJECT_SOURCE_DIR}/cmake/debian/python3/postinst" "${PROJECT_SOURCE_DIR}/cmake/debian/python3/prerm")
endif()

# By hand: CPack would look for a SONAME in every plugin, too.
file(WRITE "${PROJECT_BINARY_DIR}/debian/triggers" "activate-noawait ldconfig\n")
file(WRITE "${PROJECT_BINARY_DIR}/debian/shlibs" "libsextant 0 libsextant0 (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/debian/triggers" "${PROJECT_BINARY_DIR}/debian/shlibs")
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_PACKAGE_NAME sextant)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # it would become the first line of every description
set(CPACK_PACKAGE_CONTACT "${SEXTANT_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_RELEASE "${SEXTANT_DEBIAN_REVISION}")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/lib")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
include(CPack)
