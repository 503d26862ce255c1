// SPDX-License-Identifier: BSD-3-Clause
// Generated matrices, each with another shape of rows: short, wide, very uneven, all of one length.
#include "commands/generate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "input/hints.hpp"
#include "names/names.hpp"
#include "report/error.hpp"

namespace tool {
namespace {

// f(begin, end) for parts of [0, n), one a thread.
template <class F>
void in_parts(std::int64_t n, const F &f) {
  constexpr std::int64_t worth_a_thread = 1 << 16;
  const auto threads = static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  const std::int64_t parts = std::clamp<std::int64_t>(n / worth_a_thread, 1, threads);
  std::vector<std::thread> others;
  for (std::int64_t part = 1; part < parts; ++part)
    others.emplace_back([&f, n, part, parts] { f(n * part / parts, n * (part + 1) / parts); });
  f(0, n / parts);
  for (std::thread &other : others) other.join();
}

// row(i, emit) calls emit(column, value) for the entries of row i, columns ascending: once to count them, once to put
// them where they belong.
template <class Row>
HostCsr filled_rows(std::string name, std::int64_t n, const Row &row) {
  HostCsr a;
  a.name = std::move(name);
  a.n = n;
  a.row_ptr.resize(static_cast<std::size_t>(n) + 1);
  std::int32_t *const ptr = a.row_ptr.data();
  in_parts(n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      ptr[i] = 0;
      row(i, [&](std::int64_t, double) { ++ptr[i]; });
    }
  });
  std::int64_t entries = 0;
  for (std::int64_t i = 0; i <= n; ++i) {
    const std::int64_t begin = entries;
    if (i < n) entries += ptr[i];
    ptr[i] = static_cast<std::int32_t>(begin);
  }
  if (entries > std::numeric_limits<std::int32_t>::max())
    fail(exit_usage, "{} would have {} entries; generated matrices have fewer than 2^31", a.name, entries);
  a.col.resize(static_cast<std::size_t>(entries));
  a.values.resize(static_cast<std::size_t>(entries));
  in_parts(n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int32_t k = ptr[i];
      row(i, [&](std::int64_t column, double value) {
        a.col[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(column);
        a.values[static_cast<std::size_t>(k++)] = value;
      });
    }
  });
  return a;
}

// Laplacian of a grid with extents nx, ny, nz; extent 1 drops the dimension.
HostCsr grid(std::string name, std::int64_t nx, std::int64_t ny, std::int64_t nz) {
  const double centre = nz > 1 ? 6 : 4;
  return filled_rows(std::move(name), nx * ny * nz, [=](std::int64_t i, auto &&emit) {
    const std::int64_t x = i % nx, y = i / nx % ny, z = i / (nx * ny);
    if (z > 0) emit(i - nx * ny, -1);
    if (y > 0) emit(i - nx, -1);
    if (x > 0) emit(i - 1, -1);
    emit(i, centre);
    if (x + 1 < nx) emit(i + 1, -1);
    if (y + 1 < ny) emit(i + nx, -1);
    if (z + 1 < nz) emit(i + nx * ny, -1);
  });
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
    // One end by the power law, the other uniform: hubs with many small neighbours.
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
  return grid(fmt::format("stencil-2d-5pt-{0}x{0}", side), side, side, 1);
}

HostCsr stencil_3d(std::int64_t rows) {
  const auto side = std::max<std::int64_t>(2, std::llround(std::cbrt(static_cast<double>(rows))));
  return grid(fmt::format("stencil-3d-7pt-{0}x{0}x{0}", side), side, side, side);
}

HostCsr stencil_27(std::int64_t rows) {
  const auto side = std::max<std::int64_t>(2, std::llround(std::cbrt(static_cast<double>(rows))));
  const auto inside = [side](std::int64_t v) { return v >= 0 && v < side; };
  return filled_rows(fmt::format("stencil-3d-27pt-{0}x{0}x{0}", side), side * side * side,
                     [=](std::int64_t i, auto &&emit) {
                       const std::int64_t x = i % side, y = i / side % side, z = i / (side * side);
                       // The neighbours in ascending order; 13 is the point itself.
                       for (std::int64_t k = 0; k < 27; ++k) {
                         const std::int64_t u = x + k % 3 - 1, v = y + k / 3 % 3 - 1, w = z + k / 9 - 1;
                         if (inside(u) && inside(v) && inside(w)) emit((w * side + v) * side + u, k == 13 ? 26 : -1);
                       }
                     });
}

HostCsr banded(std::int64_t rows) {
  constexpr std::int64_t half = 20;
  return filled_rows(fmt::format("banded-41-{}", rows), rows, [=](std::int64_t i, auto &&emit) {
    const std::int64_t first = std::max<std::int64_t>(0, i - half), last = std::min(rows - 1, i + half);
    // Off-diagonal sums stay below 2 * (1 + 1/2 + ... + 1/20) < 7.2, so the diagonal dominates.
    for (std::int64_t j = first; j <= last; ++j) emit(j, j == i ? 7.2 : -1.0 / static_cast<double>(std::abs(i - j)));
  });
}

HostCsr power_law(std::int64_t rows) {
  const std::vector<Edge> edges = power_law_edges(rows);
  return filled_rows(fmt::format("power-law-{}", rows), rows, [&](std::int64_t i, auto &&emit) {
    const auto node = static_cast<std::int32_t>(i);
    auto edge = std::lower_bound(edges.begin(), edges.end(), Edge(node, 0));
    const auto end = std::find_if(edge, edges.end(), [=](const Edge &e) { return e.first != node; });
    const double diagonal = 1.0 + static_cast<double>(end - edge);
    for (; edge != end && edge->second < node; ++edge) emit(edge->second, -1);
    emit(i, diagonal);
    for (; edge != end; ++edge) emit(edge->second, -1);
  });
}

// Point i has the neighbours c - i (modulo n) for three odd numbers c. n is even: then no point is its own neighbour,
// and as c - i differs for each c, no two are the same. Column minus row takes thousands of values: no format by
// diagonals suits it.
HostCsr regular_graph(std::int64_t rows) {
  const std::int64_t n = std::max<std::int64_t>(8, rows + rows % 2);
  const auto odd = [n](std::int64_t eighths) { return n * eighths / 8 / 2 * 2 + 1; };
  return filled_rows(fmt::format("regular-graph-3-{}", n), n, [=](std::int64_t i, auto &&emit) {
    std::array<std::int64_t, 4> columns = {i};
    for (int k = 1; k <= 3; ++k) columns[static_cast<std::size_t>(k)] = (odd(2 * k) + n - i) % n;
    std::sort(columns.begin(), columns.end());
    for (const std::int64_t j : columns) emit(j, j == i ? 4.0 : -1.0);
  });
}

std::vector<Generator> generators(const std::string &names) {
  const std::map<std::string, Generator> known = {{"stencil-2d", stencil_2d},   {"stencil-3d", stencil_3d},
                                                  {"stencil-27pt", stencil_27}, {"banded", banded},
                                                  {"power-law", power_law},     {"regular-graph", regular_graph}};
  if (names.empty()) return {stencil_2d, stencil_3d, banded, power_law};
  std::vector<Generator> wanted;
  for (std::size_t start = 0; start <= names.size();) {
    const std::size_t end = std::min(names.find(',', start), names.size());
    const auto found = known.find(names.substr(start, end - start));
    if (found == known.end()) {
      std::vector<std::string> all;
      for (const auto &each : known) all.push_back(each.first);
      fail(exit_usage, "--generate: {}", sextant::unknown_name("matrix", names.substr(start, end - start), all));
    }
    wanted.push_back(found->second);
    start = end + 1;
  }
  return wanted;
}

}  // namespace tool
