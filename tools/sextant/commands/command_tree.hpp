// SPDX-License-Identifier: BSD-3-Clause
// The subcommands and options as data, read off the parser: what completions and the manual page are written from, so
// that they say what --help says.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tool {

struct OptionEntry {
  std::vector<std::string> names;    // "-o", "--output"; of a positional its name alone
  std::string value;                 // "FILE", "TEXT"; empty for a flag
  std::vector<std::string> choices;  // the values it takes, where they are known
  std::string default_value, description;
  bool positional = false, required = false;
};

struct CommandEntry {
  std::string words;  // "bench spmv"; empty for sextant itself
  std::string name, description;
  std::vector<OptionEntry> options;
  std::vector<CommandEntry> subcommands;
};

CommandEntry command_tree(const CLI::App &app);

// The command and all below it, each before what it holds.
std::vector<const CommandEntry *> all_commands(const CommandEntry &top);

std::string joined(const std::vector<std::string> &words, const std::string &between);

}  // namespace tool
