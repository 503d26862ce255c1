// SPDX-License-Identifier: BSD-3-Clause
// What `sextant retune` saw of a program's launches, for people: the text of its report.
#pragma once

#include <string>

#include "report/output.hpp"

namespace tool {

// {policy, dry_run, processes[]}: docs/retune.md lists the keys.
std::string launches_text(const Json &report);
// One cell each for a kernel: "refused, line 12: it uses shared memory"; "32 -> 256 (900), 128 (4)".
std::string verdict_text(const Json &kernel);
std::string shapes_text(const Json &kernel);

}  // namespace tool
