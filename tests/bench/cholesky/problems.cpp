// SPDX-License-Identifier: BSD-3-Clause
#include "problems.hpp"

#include <sstream>

#include "core/io/matrix_market.hpp"

namespace bench_cholesky {
namespace {

// A stencil on a cube (or square) of `side` points with `unknowns` at each; corner: all 26 neighbours.
Problem stencil(int dimensions, std::int32_t side, bool corners, std::int32_t unknowns) {
  Problem a;
  const std::int32_t depth = dimensions == 3 ? side : 1;
  a.n = side * side * depth * unknowns;
  const auto point = [&](std::int32_t x, std::int32_t y, std::int32_t z) { return (z * side + y) * side + x; };
  for (std::int32_t z = 0; z < depth; ++z)
    for (std::int32_t y = 0; y < side; ++y)
      for (std::int32_t x = 0; x < side; ++x)
        for (std::int32_t u = 0; u < unknowns; ++u) {
          const std::int32_t row = point(x, y, z) * unknowns + u;
          for (std::int32_t dz = -1; dz <= 0; ++dz)
            for (std::int32_t dy = -1; dy <= 1; ++dy)
              for (std::int32_t dx = -1; dx <= 1; ++dx) {
                if (!corners && dx * dx + dy * dy + dz * dz > 1) continue;
                if (x + dx < 0 || x + dx >= side || y + dy < 0 || y + dy >= side || z + dz < 0) continue;
                for (std::int32_t v = 0; v < unknowns; ++v) {
                  const std::int32_t other = point(x + dx, y + dy, z + dz) * unknowns + v;
                  if (other > row) continue;
                  a.col.push_back(other);
                  const double most = corners ? 27.0 * unknowns : 2.0 * dimensions;
                  a.values.push_back(other == row ? most + 0.01 : u == v ? -1.0 : -0.3);
                }
              }
          a.row_ptr.push_back(static_cast<std::int32_t>(a.col.size()));
        }
  return a;
}

}  // namespace

Problem make_problem(const std::string &words) {
  std::istringstream in(words);
  std::string kind;
  std::int32_t side = 0, unknowns = 1;
  in >> kind >> side >> unknowns;
  Problem a;
  if (kind == "5-point") a = stencil(2, side, false, 1);
  else if (kind == "7-point") a = stencil(3, side, false, 1);
  else if (kind == "27-point") a = stencil(3, side, true, unknowns > 0 ? unknowns : 1);
  else {
    const auto read = sextant::io::read_matrix(words, {}, sextant::Allocator());
    const auto *row_ptr = static_cast<const std::int32_t *>(read.csr.row_ptr.data());
    const auto *col = static_cast<const std::int32_t *>(read.csr.col.data());
    const auto *values = static_cast<const double *>(read.csr.values.data());
    a.n = static_cast<std::int32_t>(read.info.rows);
    for (std::int32_t i = 0; i < a.n; ++i) {
      for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
        if (col[k] <= i) a.col.push_back(col[k]), a.values.push_back(values[k]);
      a.row_ptr.push_back(static_cast<std::int32_t>(a.col.size()));
    }
  }
  a.name = words.substr(words.rfind('/') + 1);
  return a;
}

}  // namespace bench_cholesky
