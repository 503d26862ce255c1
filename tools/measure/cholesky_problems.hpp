// SPDX-License-Identifier: BSD-3-Clause
// Problems that direct solves are measured on: both triangles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace gpu_test {

struct Problem {
  std::string name;
  std::vector<std::int32_t> ptr{0}, col;
  std::vector<double> values;
  std::vector<std::int64_t> order;  // found once
  std::int64_t n() const { return static_cast<std::int64_t>(ptr.size()) - 1; }
  void put(std::int64_t j, double value) { col.push_back(static_cast<std::int32_t>(j)), values.push_back(value); }
  void end_row() { ptr.push_back(static_cast<std::int32_t>(col.size())); }
};

// corners: all 26 neighbours; `unknowns` at each point.
inline Problem stencil(const char *name, std::int64_t side, std::int64_t depth, bool corners, std::int64_t unknowns) {
  Problem a;
  a.name = name;
  const double most = corners ? 27.0 * static_cast<double>(unknowns) : depth > 1 ? 6 : 4;
  for (std::int64_t point = 0; point < side * side * depth; ++point)
    for (std::int64_t u = 0; u < unknowns; ++u) {
      const std::int64_t x = point % side, y = point / side % side, z = point / side / side;
      for (std::int64_t k = std::max<std::int64_t>(z - 1, 0); k <= std::min(z + 1, depth - 1); ++k)
        for (std::int64_t j = std::max<std::int64_t>(y - 1, 0); j <= std::min(y + 1, side - 1); ++j)
          for (std::int64_t i = std::max<std::int64_t>(x - 1, 0); i <= std::min(x + 1, side - 1); ++i) {
            if (!corners && std::abs(i - x) + std::abs(j - y) + std::abs(k - z) > 1) continue;
            const std::int64_t other = (k * side + j) * side + i;
            for (std::int64_t v = 0; v < unknowns; ++v)
              a.put(other * unknowns + v, other == point && u == v ? most + 0.01 : u == v ? -1.0 : -0.3);
          }
      a.end_row();
    }
  return a;
}

}  // namespace gpu_test
