// SPDX-License-Identifier: BSD-3-Clause
#include "report/pattern.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tool {
namespace {

constexpr std::int64_t most_cells = 64;  // along the longer edge

// The canonical CSR as the library lends it.
struct Entries {
  const void *row_ptr = nullptr, *col = nullptr;
  sxt_index_type offset_type, index_type;
  static std::int64_t at(const void *array, sxt_index_type type, std::int64_t i) {
    return type == SXT_I64 ? static_cast<const std::int64_t *>(array)[i] : static_cast<const std::int32_t *>(array)[i];
  }
  std::int64_t begin(std::int64_t row) const { return at(row_ptr, offset_type, row); }
  std::int64_t column(std::int64_t k) const { return at(col, index_type, k); }
};

struct Grid {
  std::int64_t down, across;
  std::vector<std::int64_t> counts;
};

Grid grid_of(const Entries &entries, std::int64_t rows, std::int64_t cols) {
  const std::int64_t longer = std::max({rows, cols, std::int64_t{1}}), cells = std::min(most_cells, longer);
  const auto part = [&](std::int64_t n) { return std::max<std::int64_t>(1, (n * cells + longer - 1) / longer); };
  Grid grid{part(rows), part(cols), {}};
  grid.counts.resize(static_cast<std::size_t>(grid.down * grid.across));
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = entries.begin(row); k < entries.begin(row + 1); ++k)
      ++grid.counts[static_cast<std::size_t>(row * grid.down / rows * grid.across +
                                             entries.column(k) * grid.across / cols)];
  return grid;
}

Json cells_of(const Grid &grid, std::int64_t densest) {
  Json lines = Json::array();
  const double scale = std::log1p(static_cast<double>(std::max<std::int64_t>(1, densest)));
  for (std::int64_t i = 0; i < grid.down; ++i) {
    std::string line;
    for (std::int64_t j = 0; j < grid.across; ++j) {
      const auto count = static_cast<double>(grid.counts[static_cast<std::size_t>(i * grid.across + j)]);
      line += static_cast<char>('0' + std::lround(std::ceil(9 * std::log1p(count) / scale)));
    }
    lines.push_back(line);
  }
  return lines;
}

// Bins of lengths 0, 1, 2-3, 4-7, ...
Json row_lengths(const Entries &entries, std::int64_t rows) {
  std::vector<std::int64_t> bins(65, 0);
  for (std::int64_t row = 0; row < rows; ++row)
    ++bins[static_cast<std::size_t>(
        std::bit_width(static_cast<std::uint64_t>(entries.begin(row + 1) - entries.begin(row))))];
  while (!bins.empty() && bins.back() == 0) bins.pop_back();
  Json out = Json::array();
  for (std::size_t b = 0; b < bins.size(); ++b) {
    const std::int64_t least = b == 0 ? 0 : std::int64_t{1} << (b - 1);
    out.push_back({least, b == 0 ? 0 : 2 * least - 1, bins[b]});
  }
  return out;
}

}  // namespace

Json pattern_json(sxt_context *context, const LoadedMatrix &matrix) {
  Entries entries{nullptr, nullptr, matrix.info.offset_type, matrix.info.index_type};
  const void *values = nullptr;
  check(sxt_matrix_get_csr(matrix.handle.get(), &entries.row_ptr, &entries.col, &values), context);
  const Grid grid = grid_of(entries, matrix.info.rows, matrix.info.cols);
  const std::int64_t densest = grid.counts.empty() ? 0 : *std::max_element(grid.counts.begin(), grid.counts.end());
  return {{"cells", cells_of(grid, densest)},
          {"densest", densest},
          {"row_lengths", row_lengths(entries, matrix.info.rows)}};
}

}  // namespace tool
