# SPDX-License-Identifier: BSD-3-Clause
# Writes a C++ source that holds files as text: cmake -DOUTPUT=out.cpp "-DFILES=name=path;name=path" -P embed.cmake
set(table "")
foreach(pair IN LISTS FILES)
  string(FIND "${pair}" "=" at)
  string(SUBSTRING "${pair}" 0 ${at} name)
  math(EXPR after "${at} + 1")
  string(SUBSTRING "${pair}" ${after} -1 path)
  file(READ "${path}" content)
  string(APPEND table "    {\"${name}\", R\"embedded(${content})embedded\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by embed.cmake from the files named below.
#include \"report/embedded.hpp\"

namespace tool {

const std::vector<EmbeddedFile> &embedded_files() {
  static const std::vector<EmbeddedFile> files = {
${table}  };
  return files;
}

}  // namespace tool
")
