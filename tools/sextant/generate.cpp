// SPDX-License-Identifier: BSD-3-Clause
// Generated matrices, each with another shape of rows: short and regular, wide, very uneven.
#include "generate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "error.hpp"

namespace tool {
namespace {

HostCsr started(std::string name, std::int64_t n) {
  HostCsr a;
  a.name = std::move(name);
  a.n = n;
  a.row_ptr.reserve(static_cast<std::size_t>(n) + 1);
  a.row_ptr.push_back(0);
  return a;
}

void add(HostCsr &a, std::int64_t column, double value) {
  a.col.push_back(static_cast<std::int32_t>(column));
  a.values.push_back(value);
}

void end_row(HostCsr &a) { a.row_ptr.push_back(static_cast<std::int32_t>(a.col.size())); }

// Laplacian of a grid with extents nx, ny, nz; extent 1 drops the dimension. Columns come in ascending order.
void fill_grid(HostCsr &a, std::int64_t nx, std::int64_t ny, std::int64_t nz) {
  const double centre = nz > 1 ? 6 : 4;
  for (std::int64_t z = 0; z < nz; ++z) {
    for (std::int64_t y = 0; y < ny; ++y) {
      for (std::int64_t x = 0; x < nx; ++x) {
        const std::int64_t i = (z * ny + y) * nx + x;
        if (z > 0) add(a, i - nx * ny, -1);
        if (y > 0) add(a, i - nx, -1);
        if (x > 0) add(a, i - 1, -1);
        add(a, i, centre);
        if (x + 1 < nx) add(a, i + 1, -1);
        if (y + 1 < ny) add(a, i + nx, -1);
        if (z + 1 < nz) add(a, i + nx * ny, -1);
        end_row(a);
      }
    }
  }
}

// Knuth's linear congruential generator (MMIX): equal numbers everywhere, which std's distributions do not promise.
class Numbers {
 public:
  double next() {  // uniform in [0, 1)
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_ = 20240229;
};

using Edge = std::pair<std::int32_t, std::int32_t>;

// About four edges a node, ends drawn so that low numbers are drawn far more often; each edge in both directions, once.
std::vector<Edge> power_law_edges(std::int64_t n) {
  Numbers numbers;
  std::vector<Edge> edges;
  const auto draw = [&] {
    const auto node = static_cast<std::int64_t>(static_cast<double>(n) * std::pow(numbers.next(), 2.5));
    return static_cast<std::int32_t>(std::min(node, n - 1));
  };
  for (std::int64_t e = 0; e < 4 * n; ++e) {
    // One end by the law, the other anywhere: hubs with many small neighbours.
    const std::int32_t u = draw();
    const auto v =
        static_cast<std::int32_t>(std::min(static_cast<std::int64_t>(static_cast<double>(n) * numbers.next()), n - 1));
    if (u == v) continue;
    edges.emplace_back(u, v);
    edges.emplace_back(v, u);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

}  // namespace

HostCsr stencil_2d(std::int64_t rows) {
  const auto side = std::max<std::int64_t>(2, std::llround(std::sqrt(static_cast<double>(rows))));
  HostCsr a = started(fmt::format("stencil-2d-5pt-{0}x{0}", side), side * side);
  fill_grid(a, side, side, 1);
  return a;
}

HostCsr stencil_3d(std::int64_t rows) {
  const auto side = std::max<std::int64_t>(2, std::llround(std::cbrt(static_cast<double>(rows))));
  HostCsr a = started(fmt::format("stencil-3d-7pt-{0}x{0}x{0}", side), side * side * side);
  fill_grid(a, side, side, side);
  return a;
}

HostCsr stencil_27(std::int64_t rows) {
  const auto side = std::max<std::int64_t>(2, std::llround(std::cbrt(static_cast<double>(rows))));
  HostCsr a = started(fmt::format("stencil-3d-27pt-{0}x{0}x{0}", side), side * side * side);
  const auto inside = [side](std::int64_t v) { return v >= 0 && v < side; };
  for (std::int64_t i = 0; i < a.n; ++i) {
    const std::int64_t x = i % side, y = i / side % side, z = i / (side * side);
    // The neighbours in ascending order; 13 is the point itself.
    for (std::int64_t k = 0; k < 27; ++k) {
      const std::int64_t u = x + k % 3 - 1, v = y + k / 3 % 3 - 1, w = z + k / 9 - 1;
      if (inside(u) && inside(v) && inside(w)) add(a, (w * side + v) * side + u, k == 13 ? 26 : -1);
    }
    end_row(a);
  }
  return a;
}

HostCsr banded(std::int64_t rows) {
  constexpr std::int64_t kHalf = 20;
  HostCsr a = started(fmt::format("banded-41-{}", rows), rows);
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t first = std::max<std::int64_t>(0, i - kHalf), last = std::min(rows - 1, i + kHalf);
    // Off-diagonal sums stay below 2 * (1 + 1/2 + ... + 1/20) < 7.2, so the diagonal dominates.
    for (std::int64_t j = first; j <= last; ++j) add(a, j, j == i ? 7.2 : -1.0 / static_cast<double>(std::abs(i - j)));
    end_row(a);
  }
  return a;
}

HostCsr power_law(std::int64_t rows) {
  HostCsr a = started(fmt::format("power-law-{}", rows), rows);
  const std::vector<Edge> edges = power_law_edges(rows);
  auto edge = edges.begin();
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto end = std::find_if(edge, edges.end(), [i](const Edge &e) { return e.first != i; });
    const double diagonal = 1.0 + static_cast<double>(end - edge);
    for (; edge != end && edge->second < i; ++edge) add(a, edge->second, -1);
    add(a, i, diagonal);
    for (; edge != end; ++edge) add(a, edge->second, -1);
    end_row(a);
  }
  return a;
}

std::vector<Generator> generators(const std::string &names) {
  const std::map<std::string, Generator> known = {{"stencil-2d", stencil_2d},
                                                  {"stencil-3d", stencil_3d},
                                                  {"stencil-27pt", stencil_27},
                                                  {"banded", banded},
                                                  {"power-law", power_law}};
  if (names.empty()) return {stencil_2d, stencil_3d, banded, power_law};
  std::vector<Generator> wanted;
  for (std::size_t start = 0; start <= names.size();) {
    const std::size_t end = std::min(names.find(',', start), names.size());
    const auto found = known.find(names.substr(start, end - start));
    if (found == known.end()) {
      fail(kUsage, "--generate: '{}' is none of stencil-2d, stencil-3d, stencil-27pt, banded, power-law",
           names.substr(start, end - start));
    }
    wanted.push_back(found->second);
    start = end + 1;
  }
  return wanted;
}

}  // namespace tool
