// SPDX-License-Identifier: BSD-3-Clause
// What the page can start: each action is a command line, made from the fields of a form and from nothing else.
#pragma once

#include <string>
#include <vector>

#include "report/output.hpp"

namespace tool {

struct ActionPlace {
  std::string folder;                // uploads lie here, and programs are written here
  std::vector<std::string> context;  // --device and the like, of the whole workbench
  int number = 0;                    // of the job: programs get a folder each
};

struct ActionLine {
  std::string view;
  std::vector<std::string> arguments;  // without the program's name, --json among them
};

// Throws a ToolError that names the action or field that is not known, or the value that is not allowed there.
ActionLine action_line(const std::string &action, const Json &fields, const ActionPlace &place);
// "sextant machine --measure --json", quoted for a shell.
std::string command_text(const std::vector<std::string> &arguments);
// A file name without folders that is safe to create; throws for others.
std::string safe_name(const std::string &name);

}  // namespace tool
