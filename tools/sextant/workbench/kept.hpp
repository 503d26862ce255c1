// SPDX-License-Identifier: BSD-3-Clause
// Results in a file of the workbench's folder, so that a later workbench shows them.
#pragma once

#include <string>
#include <vector>

#include "workbench/result.hpp"

namespace tool {

// A JSON object a line, the oldest first; those that would make the file larger than can be read are left out.
void keep_results(const std::string &path, const std::vector<ResultPointer> &results);
// What such a file holds; nothing where there is none. Throws a ToolError with "path:line: what".
std::vector<ResultPointer> kept_results(const std::string &path);

}  // namespace tool
