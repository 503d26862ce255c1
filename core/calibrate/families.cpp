// SPDX-License-Identifier: BSD-3-Clause
#include "core/calibrate/families.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace sextant {

namespace {

using Columns = std::vector<std::int32_t>;

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n)); }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

// Appends row i's columns, in any order, perhaps twice; the caller sorts them and drops what is beyond the sides.
struct Shape {
  std::int64_t n, side;
  Random &random;
};
using RowMaker = void (*)(const Shape &, std::int64_t i, Columns &out);

void add(const Shape &shape, std::int64_t column, Columns &out) {
  if (column >= 0 && column < shape.n) out.push_back(static_cast<std::int32_t>(column));
}

// All neighbours within `reach` on a square or cube; `star`: only along the axes.
template <int dimensions, bool star>
void stencil(const Shape &s, std::int64_t i, Columns &out) {
  const std::int64_t m = s.side, x = i % m, y = i / m % m, z = i / (m * m);
  const int depth = dimensions == 3 ? 1 : 0;
  for (int dz = -depth; dz <= depth; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        if (star && std::abs(dx) + std::abs(dy) + std::abs(dz) > 1) continue;
        const bool inside =
            x + dx >= 0 && x + dx < m && (dimensions == 2 || (y + dy >= 0 && y + dy < m)) && z + dz >= 0;
        if (inside) add(s, i + dx + dy * m + dz * m * m, out);
      }
}

// A full band: lumped masses, splines, one-dimensional high-order methods.
template <int reach>
void band(const Shape &s, std::int64_t i, Columns &out) {
  for (std::int64_t d = -reach; d <= reach; ++d) add(s, i + d, out);
}

// Entries at random places within a wide band: meshes numbered by locality.
void local_mesh(const Shape &s, std::int64_t i, Columns &out) {
  add(s, i, out);
  const std::int64_t width = std::max<std::int64_t>(50, static_cast<std::int64_t>(std::sqrt(static_cast<double>(s.n))));
  for (std::int64_t k = 0, count = 15 + s.random.below(30); k < count; ++k)
    add(s, i + s.random.below(2 * width + 1) - width, out);
}

template <int mean>
void uniform(const Shape &s, std::int64_t, Columns &out) {
  for (std::int64_t k = 0, count = 1 + s.random.below(2 * mean - 1); k < count; ++k) add(s, s.random.below(s.n), out);
}

// Lengths by a power law (exponent 2, at most a tenth of the columns); few columns are met by many rows.
void power_law(const Shape &s, std::int64_t, Columns &out) {
  const double most = std::max(4.0, 0.1 * static_cast<double>(s.n));
  const auto count = static_cast<std::int64_t>(std::min(most, 2.5 / (1e-9 + s.random.uniform())));
  for (std::int64_t k = 0; k < count; ++k) {
    const double u = s.random.uniform();
    add(s, static_cast<std::int64_t>(u * u * u * static_cast<double>(s.n)), out);
  }
}

// Dense blocks, eight of them a block row, around the diagonal: several unknowns a node.
template <int size>
void blocks(const Shape &s, std::int64_t i, Columns &out) {
  const std::int64_t block = i / size;
  Random same(static_cast<std::uint64_t>(block) + 17);  // the rows of a block agree
  for (int b = 0; b < 8; ++b) {
    const std::int64_t at = b == 0 ? block : block + same.below(401) - 200;
    for (std::int64_t c = 0; c < size; ++c) add(s, size * at + c, out);
  }
}

// Short rows, and now and then eight long ones together.
void bursts(const Shape &s, std::int64_t i, Columns &out) {
  add(s, i, out);
  const bool is_long = i / 8 % 128 == 77;
  const std::int64_t count = is_long ? std::min<std::int64_t>(600, s.n) : 2 + s.random.below(4);
  for (std::int64_t k = 0; k < count; ++k) add(s, s.random.below(s.n), out);
}

// Three unknowns a node, nodes with many and with few neighbours nearby: elasticity.
void nodes(const Shape &s, std::int64_t i, Columns &out) {
  const std::int64_t node = i / 3;
  Random same(static_cast<std::uint64_t>(node) + 29);  // the three rows of a node agree
  const std::int64_t reach =
      std::max<std::int64_t>(20, static_cast<std::int64_t>(std::sqrt(static_cast<double>(s.n)) / 4));
  for (std::int64_t k = 0, count = 5 + same.below(25); k < count; ++k) {
    const std::int64_t at = k == 0 ? node : node + same.below(2 * reach + 1) - reach;
    for (std::int64_t c = 0; c < 3; ++c) add(s, 3 * at + c, out);
  }
}

// A netlist: short rows of neighbours, and three nets that a twentieth of all rows hang on.
void circuit(const Shape &s, std::int64_t i, Columns &out) {
  add(s, i, out);
  const std::int64_t part = std::max<std::int64_t>(1, s.n / 3), share = s.n / 20;
  if (i % part == part / 2)
    for (std::int64_t k = 0; k < share; ++k) add(s, s.random.below(s.n), out);
  if (s.random.below(20) == 0) add(s, s.random.below(3) * part + part / 2, out);
  for (std::int64_t k = 0, count = 1 + s.random.below(6); k < count; ++k)
    add(s, s.random.below(4) ? i + s.random.below(101) - 50 : s.random.below(s.n), out);
}

// A network: lengths by a power law up to a quarter of the columns; columns that many rows meet lie scattered.
void network(const Shape &s, std::int64_t, Columns &out) {
  const double most = std::max(4.0, 0.25 * static_cast<double>(s.n));
  const auto count = static_cast<std::int64_t>(std::min(most, 3 / std::pow(1e-9 + s.random.uniform(), 0.8)));
  for (std::int64_t k = 0; k < count; ++k) {
    const auto rank = static_cast<std::uint64_t>(std::pow(s.random.uniform(), 2.5) * static_cast<double>(s.n));
    Random place(rank + 41);
    add(s, place.below(s.n), out);
  }
}

// Rows of equal length with columns anywhere: a regular mesh in random order.
void shuffled(const Shape &s, std::int64_t i, Columns &out) {
  add(s, i, out);
  for (int k = 0; k < 7; ++k) add(s, s.random.below(s.n), out);
}

// Short rows first, a quarter of long ones last: parts of one kind each.
void regions(const Shape &s, std::int64_t i, Columns &out) {
  const std::int64_t count = i < s.n - s.n / 4 ? 3 : 60;
  for (std::int64_t k = 0; k < count; ++k) add(s, i + (count == 3 ? k - 1 : s.random.below(301) - 150), out);
}

// Three diagonals, a full first row and column.
void arrow(const Shape &s, std::int64_t i, Columns &out) {
  if (i > 1) add(s, 0, out);
  for (std::int64_t c = i == 0 ? 0 : i - 1; c < (i == 0 ? s.n : i + 2); ++c) add(s, c, out);
}

// A diagonal, and one more entry in every other row: mass matrices and permutations.
void sparse_diagonal(const Shape &s, std::int64_t i, Columns &out) {
  add(s, i, out);
  if (i % 2) add(s, s.random.below(s.n), out);
}

// Lengths that scatter by a factor of ten around 40, columns within an eighth of the matrix.
void scattered(const Shape &s, std::int64_t i, Columns &out) {
  const auto count = static_cast<std::int64_t>(13 * std::pow(10.0, s.random.uniform()));
  const std::int64_t reach = std::max<std::int64_t>(40, s.n / 16);
  for (std::int64_t k = 0; k < count; ++k) add(s, i + s.random.below(2 * reach + 1) - reach, out);
}

// Several unknowns a node, most nodes with few neighbours, some with a hundred: shells with stiffeners.
template <int unknowns>
void shells(const Shape &s, std::int64_t i, Columns &out) {
  const std::int64_t node = i / unknowns;
  Random same(static_cast<std::uint64_t>(node) + 53);  // the rows of a node agree
  const double u = same.uniform();
  const auto count = 3 + static_cast<std::int64_t>(97 * u * u * u * u * u * u * u * u);
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t at = k == 0 ? node : node + same.below(401) - 200;
    for (std::int64_t c = 0; c < unknowns; ++c) add(s, unknowns * at + c, out);
  }
}

// Diagonals in clusters, as numbered grids of elements have them, each filled in stretches of a third of its rows.
void clusters(const Shape &s, std::int64_t i, Columns &out) {
  add(s, i, out);
  const std::int64_t apart = std::max<std::int64_t>(11, s.n / 20);
  for (std::int64_t cluster = -3; cluster <= 3; ++cluster)
    for (std::int64_t d = -5; d <= 5; ++d) {
      const std::int64_t offset = cluster * apart + d, upper = std::min(i, i + offset);
      Random same(static_cast<std::uint64_t>(std::abs(offset) * 1021 + upper / 32));  // both triangles agree
      if (same.below(3) == 0) add(s, i + offset, out);
    }
}

// Two unknowns a node, some neighbours nearby and some anywhere: poses in a graph.
void pairs(const Shape &s, std::int64_t i, Columns &out) {
  const std::int64_t node = i / 2, nodes = s.n / 2 + 1;
  Random same(static_cast<std::uint64_t>(node) + 61);  // both rows of a node agree
  for (std::int64_t k = 0, count = 1 + same.below(8); k < count; ++k) {
    const std::int64_t at = k == 0 ? node : k % 2 ? node + same.below(41) - 20 : same.below(nodes);
    for (std::int64_t c = 0; c < 2; ++c) add(s, 2 * at + c, out);
  }
}

// Vertices of a triangulation with four to ten neighbours, numbered with some locality.
void triangles(const Shape &s, std::int64_t i, Columns &out) {
  add(s, i, out);
  const auto reach = std::max<std::int64_t>(20, static_cast<std::int64_t>(std::sqrt(static_cast<double>(s.n))));
  for (std::int64_t k = 0, count = 4 + s.random.below(4) + s.random.below(4); k < count; ++k)
    add(s, i + s.random.below(2 * reach + 1) - reach, out);
}

// A third of the rows empty, some of them in a row: constraints and graphs with loose ends.
void gaps(const Shape &s, std::int64_t i, Columns &out) {
  Random same(static_cast<std::uint64_t>(i / 7) + 71);
  if (same.below(6) == 0 || i % 5 == 2) return;
  for (std::int64_t k = 0, count = 2 + s.random.below(14); k < count; ++k) add(s, i + s.random.below(801) - 400, out);
}

// Equations of motion and the constraints on them: two thirds of the rows with neighbours and one multiplier each, a
// third that only point back.
void saddle(const Shape &s, std::int64_t i, Columns &out) {
  const std::int64_t motions = 2 * (s.n / 3);
  if (i < motions) {
    for (std::int64_t c = i - 2; c <= i + 2; ++c)
      if (c < motions) add(s, c, out);
    return add(s, motions + i / 2, out);
  }
  for (std::int64_t c = 0; c < 2; ++c) add(s, 2 * (i - motions) + c, out);
}

// A recursive graph (Chakrabarti, Zhan and Faloutsos, SDM 2004; 0.57, 0.19, 0.19, 0.05): lengths from none to
// thousands.
void recursive(const Shape &s, std::int64_t i, Columns &out) {
  int bits = 0;
  while ((std::int64_t{2} << bits) <= s.n) ++bits;
  double expected = 16;
  for (int b = 0; b < bits; ++b) expected *= 2 * (i >> b & 1 ? 0.24 : 0.76);
  const auto count = static_cast<std::int64_t>(std::min(expected, 0.5 * static_cast<double>(s.n)) + s.random.uniform());
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t column = 0;
    std::uint64_t drawn = 0;
    for (int b = 0; b < bits; ++b, drawn >>= 8) {
      if (b % 8 == 0) drawn = s.random.next();  // a byte a bit
      if ((drawn & 255) >= (i >> b & 1 ? 202 : 192)) column |= std::int64_t{1} << b;
    }
    add(s, column, out);
  }
}

struct Family {
  const char *name;
  RowMaker row;
  double mean;       // entries a row, about
  int dimensions;    // of the grid whose side the shape states; 0: none
  double depth = 1;  // of three dimensions, in sides
};
constexpr Family families[] = {
    {"stencil-2d-5", stencil<2, true>, 5, 2},
    {"power-law", power_law, 20, 0},
    {"stencil-3d-27", stencil<3, false>, 27, 3},
    {"uniform-12", uniform<12>, 12, 0},
    {"band-21", band<10>, 21, 0},
    {"bursts", bursts, 9.5, 0},
    {"local-mesh", local_mesh, 29, 0},
    {"uniform-3", uniform<3>, 3, 0},
    {"stencil-3d-7", stencil<3, true>, 7, 3},
    {"blocks-4", blocks<4>, 31, 0},
    {"stencil-2d-9", stencil<2, false>, 9, 2},
    {"uniform-150", uniform<150>, 150, 0},
    {"nodes-3", nodes, 48, 0},
    {"circuit", circuit, 5, 0},
    {"network", network, 13, 0},
    {"shuffled-8", shuffled, 8, 0},
    {"regions", regions, 16, 0},
    {"arrow", arrow, 5, 0},
    {"sparse-diagonal", sparse_diagonal, 1.5, 0},
    {"scattered", scattered, 48, 0},
    {"shells-6", shells<6>, 78, 0},
    {"clusters", clusters, 25, 0},
    {"pairs-2", pairs, 9, 0},
    {"triangles", triangles, 8, 0},
    {"blocks-6", blocks<6>, 46, 0},
    {"diagonal", band<0>, 1, 0},
    {"tridiagonal", band<1>, 3, 0},
    {"gaps", gaps, 5.6, 0},
    {"saddle", saddle, 4.7, 0},
    {"recursive", recursive, 13, 0},
    {"stencil-3d-7-long", stencil<3, true>, 7, 3, 8},
    {"stencil-3d-7-flat", stencil<3, true>, 7, 3, 0.125},
    {"shells-3", shells<3>, 39, 0},
    {"shells-4", shells<4>, 52, 0},
    {"blocks-5", blocks<5>, 39, 0},
    {"blocks-8", blocks<8>, 62, 0},
};

// Symmetric in i and j for the symmetric families; never tiny, so that no product is slowed by denormal numbers.
double value_at(std::int64_t i, std::int64_t j) {
  return i == j ? 64 : -0.5 - 0.0625 * static_cast<double>((i ^ j) & 7);
}

}  // namespace

int family_count() noexcept { return static_cast<int>(std::size(families)); }
const char *family_name(int family) noexcept { return families[family].name; }
bool family_symmetric(int family) noexcept {
  const RowMaker row = families[family].row;
  return families[family].dimensions > 0 || row == band<0> || row == band<1> || row == band<10> || row == clusters;
}

Assembled make_family_matrix(int family, std::int64_t nnz, sxt_value_type type, const Allocator &allocator) {
  const Family &f = families[family];
  Random random(static_cast<std::uint64_t>(family) + 1);
  std::int64_t n = std::max<std::int64_t>(8, std::llround(static_cast<double>(nnz) / f.mean)), side = 0;
  if (f.dimensions) {
    const double equal = static_cast<double>(n) / f.depth;
    side = std::max<std::int64_t>(2, std::llround(std::pow(equal, 1.0 / f.dimensions)));
    const std::int64_t depth = std::max<std::int64_t>(2, std::llround(f.depth * static_cast<double>(side)));
    n = f.dimensions == 2 ? side * side : side * side * depth;
  }
  const Shape shape{n, side, random};
  std::vector<std::int32_t> row_ptr{0}, col, row;
  row_ptr.reserve(static_cast<std::size_t>(n) + 1);
  col.reserve(static_cast<std::size_t>(static_cast<double>(n) * f.mean * 1.1));
  for (std::int64_t i = 0; i < n; ++i) {
    row.clear();
    f.row(shape, i, row);
    if (!std::is_sorted(row.begin(), row.end())) std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    col.insert(col.end(), row.begin(), row.end());
    require(col.size() < std::numeric_limits<std::int32_t>::max(), SXT_E_OVERFLOW, "a synthetic matrix of ", nnz,
            " entries has too many");
    row_ptr.push_back(static_cast<std::int32_t>(col.size()));
  }
  Assembled made;
  CsrArrays &csr = made.csr;
  csr.rows = csr.cols = n;
  csr.nnz = static_cast<std::int64_t>(col.size());
  csr.value_type = type;
  csr.row_ptr = Buffer(row_ptr.size() * sizeof(std::int32_t), allocator);
  csr.col = Buffer(col.size() * sizeof(std::int32_t), allocator);
  csr.values = Buffer(col.size() * static_cast<std::uint64_t>(value_bytes(type)), allocator);
  std::memcpy(csr.row_ptr.data(), row_ptr.data(), csr.row_ptr.bytes());
  std::memcpy(csr.col.data(), col.data(), csr.col.bytes());
  with_value_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *values = csr.values.as<T>();
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) values[k] = static_cast<T>(value_at(i, col[k]));
  });
  made.order.input_nnz = csr.nnz;
  return made;
}

}  // namespace sextant
