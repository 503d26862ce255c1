// SPDX-License-Identifier: BSD-3-Clause
// Describes this machine: its name, instruction sets, caches and the threads this process may use.
#pragma once

#include <cstdint>
#include <string>

namespace sextant::device_cpu {

struct Caches {
  std::uint64_t unit = 0;  // private to a core, largest level
  std::uint64_t last = 0;  // last level
};

std::string processor_name();
Caches caches(int online_processors);
int online_processors();

// Threads the process may use: its processors, the limits of OpenMP and of its control groups. asked > 0 lowers that.
int usable_threads(int asked);

// The parsers behind these, on text so that they can be tested.
std::uint64_t parse_cache_size(const std::string &text);  // "48K", "2M", "36608K", "1G"; 0 when it is none of these
int parse_cpu_quota(const std::string &cpu_max);          // "150000 100000" -> 1; "max 100000" -> 0: no limit
int count_cpu_list(const std::string &list);              // "0-3,8" -> 5

}  // namespace sextant::device_cpu
