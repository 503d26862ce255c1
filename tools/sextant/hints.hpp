// SPDX-License-Identifier: BSD-3-Clause
// "Did you mean": the nearest of what is known to a name that was mistyped.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tool {

// The known name with the least edit distance, "" where none is within half of the longer length.
std::string nearest(const std::string &wanted, const std::vector<std::string> &known);

// "no suite named 'spvm'; the nearest is 'spmv'; known: spmv, pcg"
std::string no_such(const std::string &what, const std::string &wanted, const std::vector<std::string> &known);

// Accepts one of these names.
CLI::Validator one_of(std::vector<std::string> names);

// What the first word of the command line that is no subcommand or no option was meant to be; "" when all are known.
std::string hint(const CLI::App &app, const std::vector<std::string> &arguments);

}  // namespace tool
