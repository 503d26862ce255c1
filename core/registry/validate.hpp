// SPDX-License-Identifier: BSD-3-Clause
// Checks of what a plugin hands out, made once at load so that nothing needs checking when kernels are called. Each
// returns a sentence saying what is wrong, "" when nothing is.
#pragma once

#include <string>

#include "sextant/plugin/plugin.h"

namespace sextant::registry {

std::string abi_problem(const sxt_plugin &plugin);     // magic, versions, size: nothing else may be read before
std::string plugin_problem(const sxt_plugin &plugin);  // names and arrays, once the ABI is right
std::string kernel_problem(const sxt_kernel *kernel);
std::string kind_problem(const sxt_kind *kind);

// Negative, zero or positive as version a is older than, as old as, or newer than b: dotted numbers, missing ones are
// 0.
int compare_versions(const std::string &a, const std::string &b);

}  // namespace sextant::registry
