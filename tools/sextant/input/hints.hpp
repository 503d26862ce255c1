// SPDX-License-Identifier: BSD-3-Clause
// What a mistyped word of the command line was meant to be.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tool {

// Accepts one of these names.
CLI::Validator one_of(std::vector<std::string> names);

// What the first word of the command line that is no subcommand or no option was meant to be; "" when all are known.
std::string hint(const CLI::App &app, const std::vector<std::string> &arguments);

}  // namespace tool
