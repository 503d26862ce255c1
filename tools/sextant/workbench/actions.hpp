// SPDX-License-Identifier: BSD-3-Clause
// What the page can start: each action is a command line, made from the fields of a form and from nothing else.
#pragma once

#include <string>
#include <vector>

#include "report/output.hpp"

namespace tool {

struct ActionPlace {
  std::string folder;                // programs and the last model are written here
  std::string uploads;               // those lie here, where no command writes
  std::vector<std::string> context;  // --device and the like, of the whole workbench
  int number = 0;                    // of the job: programs get a folder each
};

// Names in the folder: the model that was built last, and programs by the numbers of their jobs.
inline constexpr const char *last_model = "model.toml", *program_folder = "solver-";

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
// The front of what a request says, for a sentence that repeats it: without characters that would cut it.
std::string printable(const std::string &text);

}  // namespace tool
