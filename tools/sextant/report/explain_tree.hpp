// SPDX-License-Identifier: BSD-3-Clause
// sextant explain --op OPERATION --tree: decision trees over the vector length.
#pragma once

#include <string>
#include <vector>

#include "input/context_options.hpp"

namespace tool {

struct TreeOptions {
  bool wanted = false;            // --tree
  std::string type = "f64", svg;  // svg: a file, "" for none
};

// Prints the tree of an operation, as a table or as JSON, and draws it where a file is named.
int explain_tree(const ContextOptions &context, const std::string &operation, const TreeOptions &options, bool json);

}  // namespace tool
