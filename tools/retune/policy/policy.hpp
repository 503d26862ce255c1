// SPDX-License-Identifier: BSD-3-Clause
// Which block size a launch gets. All shapes of one launch have the same number of threads, and the same shared memory
// in all where it uses any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/sdk/launch_choice.hpp"

namespace sextant::retune {

enum class Policy { published, tiered, occupancy, measured };
std::optional<Policy> policy_of(std::string_view name);
const char *name_of(Policy policy);

struct Shape {
  std::uint32_t grid = 0, block = 0, shared = 0;  // blocks, threads a block, bytes of dynamic shared memory a block
  std::int64_t threads() const { return std::int64_t{grid} * block; }
  bool operator==(const Shape &) const = default;
};

// What the driver says of a function.
struct Facts {
  int registers = 0, most_threads = 0, static_shared = 0;
  bool operator==(const Facts &) const = default;
};

// The same launch in blocks of this size; none where the size does not divide it or the function cannot have it.
std::optional<Shape> reshaped(const Shape &original, std::uint32_t block, const Facts &facts,
                              const sxt_launch_limits &limits);
// The original, then every other shape that is tried.
std::vector<Shape> candidates(const Shape &original, const Facts &facts, const sxt_launch_limits &limits);

// The choice of every policy but `measured`, which is that of its trials; the original where nothing else is possible.
Shape choose(Policy policy, const Shape &original, const Facts &facts, const sxt_launch_limits &limits);

// Launches of similar size share what was measured: the power of two below the number of threads.
int class_of(std::int64_t threads);

}  // namespace sextant::retune
