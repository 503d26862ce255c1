// SPDX-License-Identifier: BSD-3-Clause
// Array files: values by columns, all of them or one triangle, to a CSR matrix in which every entry is stored.
#include <cstdint>

#include "core/io/mm_entries.hpp"

namespace sextant::io::detail {

namespace {

using sextant::detail::make_csr;
using sextant::detail::mirror_value;
using sextant::detail::parallel_ranges;

// Where entry (i, j) stands in the file; for one triangle i >= j (i > j when skew).
struct ArrayLayout {
  std::int64_t rows;
  sxt_symmetry symmetry;

  std::int64_t place(std::int64_t i, std::int64_t j) const {
    if (symmetry == SXT_GENERAL) return j * rows + i;
    // Columns before j hold rows, rows - 1, ... entries; one less each without the diagonal.
    const std::int64_t diagonal = symmetry == SXT_SKEW ? 0 : 1;
    return j * (rows - 1 + diagonal) - j * (j - 1) / 2 + i - j - 1 + diagonal;
  }
};

template <class C, class P, class V>
void fill_rows(const V *in, const ArrayLayout &layout, CsrArrays &csr, int threads) {
  P *start = csr.row_ptr.as<P>();
  C *col = csr.col.as<C>();
  V *value = csr.values.as<V>();
  const bool skew = layout.symmetry == SXT_SKEW;
  const std::int64_t per_row = csr.rows ? csr.nnz / csr.rows : 0;
  for (std::int64_t i = 0; i <= csr.rows; ++i) start[i] = static_cast<P>(i * per_row);
  // Tiles of rows: consecutive rows read the same cache lines of a column.
  constexpr std::int64_t kTile = 32;
  parallel_ranges((csr.rows + kTile - 1) / kTile, threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i0 = first * kTile; i0 < std::min(last * kTile, csr.rows); i0 += kTile)
      for (std::int64_t j = 0; j < csr.cols; ++j)
        for (std::int64_t i = i0; i < std::min(i0 + kTile, csr.rows); ++i) {
          if (skew && i == j) continue;
          const bool mirror = layout.symmetry != SXT_GENERAL && i < j;
          const V stored = mirror ? in[layout.place(j, i)] : in[layout.place(i, j)];
          // A skew row lacks its diagonal entry: what follows moves up by one.
          const std::int64_t at = i * per_row + j - (skew && j > i);
          col[at] = static_cast<C>(j);
          value[at] = mirror ? mirror_value(stored, layout.symmetry) : stored;
        }
  });
}

}  // namespace

CsrArrays array_to_csr(sextant::detail::OwnedEntries &entries, sxt_symmetry symmetry, int threads,
                       const Allocator &allocator) {
  const std::int64_t missing = symmetry == SXT_SKEW ? entries.rows : 0;
  const std::int64_t nnz = entries.rows * entries.cols - missing;
  CsrArrays csr = make_csr(entries.rows, entries.cols, nnz, entries.value_type, allocator);
  const ArrayLayout layout{entries.rows, symmetry};
  with_index_type(csr.index_type, [&](auto index) {
    with_index_type(csr.offset_type, [&](auto offset) {
      with_value_type(csr.value_type, [&](auto value) {
        using V = typename decltype(value)::type;
        fill_rows<typename decltype(index)::type, typename decltype(offset)::type>(entries.values.as<V>(), layout, csr,
                                                                                   threads);
      });
    });
  });
  entries.values.reset();
  return csr;
}

}  // namespace sextant::io::detail
