# SPDX-License-Identifier: BSD-3-Clause
# `cmake --build build --target reference`: the public headers as HTML, in build/reference/html. It needs Doxygen, and says so.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_Interpreter_FOUND)
  add_custom_target(reference
    COMMAND Python3::Interpreter -B "${PROJECT_SOURCE_DIR}/docs/reference/make.py" "${PROJECT_SOURCE_DIR}"
      "${PROJECT_BINARY_DIR}/reference" "${PROJECT_VERSION}"
    VERBATIM)
endif()
