// SPDX-License-Identifier: BSD-3-Clause
// Suggestions for a mistyped word of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tool {

// Accepts one of these names.
CLI::Validator one_of(std::vector<std::string> names);

// A suggestion for the first word of the command line that is no subcommand or option; "" when all are known.
std::string hint(const CLI::App &app, const std::vector<std::string> &arguments);

}  // namespace tool
