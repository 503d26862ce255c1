// SPDX-License-Identifier: BSD-3-Clause
// What `sextant plugin new` writes: templates/templates.json names, for each kind and device, the files that a folder
// begins with (some are kernels of the library, of which there is no second copy) and what is replaced in them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/output.hpp"

namespace tool {

// What the user asked for.
struct PluginRequest {
  std::string kind;    // "spmv", "sxt.spmv/1", "own"
  std::string name;    // "mine"
  std::string domain;  // "com.example"
  bool cuda = false;
};

struct PluginFolder {
  std::string kind, kernel, origin;          // the kernel's kind and name; what the folder begins as
  std::map<std::string, std::string> files;  // name and text
};

// The folder's files. Throws ToolError for a kind that has no template, or none for CUDA.
PluginFolder plugin_folder(const PluginRequest &request);

// name, kind, about, devices of each template, in the order in which they are listed.
std::vector<std::vector<std::string>> plugin_templates();

}  // namespace tool
