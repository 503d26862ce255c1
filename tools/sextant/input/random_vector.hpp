// SPDX-License-Identifier: BSD-3-Clause
// A right-hand side that makes no system trivial.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

#include "input/matrix_input.hpp"

namespace tool {

// Numbers in [-1, 1), the same ones every time; of complex vectors in both parts.
inline HostVector random_vector(sxt_value_type type, std::int64_t n) {
  HostVector vector(type, n);
  std::mt19937_64 random(1);  // whose numbers the standard lays down, unlike those of its distributions
  for (double &value : vector.values) value = std::ldexp(static_cast<double>(random() >> 11), -52) - 1;
  return vector;
}

}  // namespace tool
