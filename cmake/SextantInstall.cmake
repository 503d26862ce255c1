# SPDX-License-Identifier: BSD-3-Clause
# The installed files and their places. No absolute path is written: the tree may be moved, and libsextant finds its
# plugins relative to itself. Components: runtime (libsextant.so.0, its plugins), cuda (plugins), tools (the command),
# development, fortran.
include(CMakePackageConfigHelpers)

set(SEXTANT_CMAKE_INSTALL "${CMAKE_INSTALL_LIBDIR}/cmake/Sextant")

# Library and headers. Plugins and the command install themselves.
install(TARGETS sextant sextant_headers sextant_cxx EXPORT SextantTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/sextant" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# Profiles of machines that were measured.
install(FILES ${shipped_profiles} DESTINATION "${CMAKE_INSTALL_DATADIR}/sextant/profiles" COMPONENT runtime)

# The CMake package, with what plugins out of tree need. 0.x: only patch releases are drop-in.
configure_package_config_file(cmake/SextantConfig.cmake.in "${PROJECT_BINARY_DIR}/SextantConfig.cmake"
  INSTALL_DESTINATION "${SEXTANT_CMAKE_INSTALL}" PATH_VARS CMAKE_INSTALL_DATADIR NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/SextantConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/SextantConfig.cmake" "${PROJECT_BINARY_DIR}/SextantConfigVersion.cmake"
  cmake/SextantPlugin.cmake cmake/plugin.map cmake/SextantCudaToolkit.cmake
  DESTINATION "${SEXTANT_CMAKE_INSTALL}" COMPONENT development)
install(EXPORT SextantTargets NAMESPACE Sextant:: DESTINATION "${SEXTANT_CMAKE_INSTALL}" COMPONENT development)
if(SEXTANT_FORTRAN_ENABLED)
  install(EXPORT SextantFortranTargets NAMESPACE Sextant:: DESTINATION "${SEXTANT_CMAKE_INSTALL}" COMPONENT fortran)
endif()

if(SEXTANT_STATIC)
  install(TARGETS sextant_static EXPORT SextantStaticTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
  install(EXPORT SextantStaticTargets NAMESPACE Sextant:: DESTINATION "${SEXTANT_CMAKE_INSTALL}" COMPONENT development)
endif()

# A directory for .pc files: under the prefix where it is given as a relative path, so that the tree can be moved.
function(sextant_pkgconfig_path result directory)
  if(IS_ABSOLUTE "${directory}")
    set(${result} "${directory}" PARENT_SCOPE)
  else()
    set(${result} "\${prefix}/${directory}" PARENT_SCOPE)
  endif()
endfunction()

# pkg-config: the prefix is found from where the .pc file lies.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(pkgconfig_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(pkgconfig_prefix "\${pcfiledir}/${up}")
endif()
sextant_pkgconfig_path(pkgconfig_libdir "${CMAKE_INSTALL_LIBDIR}")
sextant_pkgconfig_path(pkgconfig_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
configure_file(cmake/sextant.pc.in "${PROJECT_BINARY_DIR}/sextant.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/sextant.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
if(SEXTANT_STATIC)
  set(static_libraries stdc++ ${OpenMP_CXX_LIB_NAMES} z m ${CMAKE_DL_LIBS})
  list(REMOVE_DUPLICATES static_libraries)
  list(TRANSFORM static_libraries PREPEND "-l")
  list(JOIN static_libraries " " pkgconfig_static_libraries)
  configure_file(cmake/sextant-static.pc.in "${PROJECT_BINARY_DIR}/sextant-static.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/sextant-static.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
endif()
if(SEXTANT_FORTRAN_ENABLED)
  sextant_pkgconfig_path(pkgconfig_modules "${SEXTANT_FORTRAN_INCLUDE}")
  configure_file(cmake/sextant-fortran.pc.in "${PROJECT_BINARY_DIR}/sextant-fortran.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/sextant-fortran.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT fortran)
endif()

# Documents: the licence always, others as far as this tree has them.
set(documents "${PROJECT_SOURCE_DIR}/LICENSE")
foreach(name README.md CHANGELOG.md CONTRIBUTING.md)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${name}")
    list(APPEND documents "${PROJECT_SOURCE_DIR}/${name}")
  endif()
endforeach()
install(FILES ${documents} DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT development)
# As they lie in the source tree, so that links between them lead somewhere.
file(GLOB_RECURSE plugin_documents CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" plugins/README.md plugins/*/README.md)
foreach(document IN LISTS plugin_documents)
  get_filename_component(folder "${document}" DIRECTORY)
  install(FILES "${document}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}" COMPONENT development)
endforeach()
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT development
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png" PATTERN "*.c" PATTERN "*.cpp" PATTERN "CMakeLists.txt")
install(DIRECTORY docs/examples DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs" COMPONENT development FILES_MATCHING PATTERN "*.py")
