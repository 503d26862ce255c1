// SPDX-License-Identifier: BSD-3-Clause
// sextant bench published: headlines of published work beside the same comparisons here.
#pragma once

#include "commands/command.hpp"

namespace tool {

void add_bench_published(CLI::App &parent, Action &action);

}  // namespace tool
