// SPDX-License-Identifier: BSD-3-Clause
// What can be said about a file before the loader is let at it.
#pragma once

#include <sys/stat.h>

#include <string>

namespace sextant::registry {

// Why this open file is no shared object for this machine, in a sentence; "" when it looks like one. Reads the headers
// only: the dynamic loader itself says less, and a file cut short can end the process inside it.
std::string elf_problem(int file, const struct stat &status);

}  // namespace sextant::registry
