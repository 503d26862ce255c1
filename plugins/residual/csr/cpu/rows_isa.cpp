// SPDX-License-Identifier: BSD-3-Clause
// b - A x on CSR in twice the working precision, blocks of rows at a time, each with its norms: 12 operations an entry
// of f64 (product, its rounding, the sum, its rounding, the magnitudes), 3 of f32. A block is read once for each
// right-hand side, from the cache after the first.
#include "rows_table.hpp"
#include "sextant/sdk/cpu/isa_values.hpp"

namespace sextant_residual_csr::SXT_ISA {

using namespace sextant::residual;

// Row i of one column: parts of b - A x, complex numbers as pairs. The operations of a row's sum depend on each other,
// those of adjacent rows do not.
template <class R, int parts, class Offset, class Index>
SXT_ALWAYS_INLINE void add_entries(Sum *sum, const R *values, const Index *col, Offset from, Offset to, const R *x) {
  constexpr bool single = sizeof(R) == 4;
  for (Offset k = from; k < to; ++k) {
    const int64_t j = col[k];
    if constexpr (parts == 1) {
      add_product<single>(sum[0], -static_cast<double>(values[k]), static_cast<double>(x[j]));
    } else {
      const double re = values[2 * static_cast<int64_t>(k)], im = values[2 * static_cast<int64_t>(k) + 1];
      const double x_re = x[2 * j], x_im = x[2 * j + 1];
      add_product<single>(sum[0], -re, x_re);
      add_product<single>(sum[0], im, x_im);
      add_product<single>(sum[1], -re, x_im);
      add_product<single>(sum[1], -im, x_re);
    }
  }
}

template <class R, int parts, class Offset, class Index>
void block_of(const Call &c, int64_t begin, int64_t end, int32_t column, Norms &norms) {
  constexpr bool single = sizeof(R) == 4;
  const auto *row_ptr = static_cast<const Offset *>(c.row_ptr);
  const R *x = static_cast<const R *>(c.x) + column * c.ldx * parts;
  const R *b = static_cast<const R *>(c.b) + column * c.ldb * parts;
  R *r = c.r ? static_cast<R *>(c.r) + column * c.ldr * parts : nullptr;
  for (int64_t i = begin; i < end; ++i) {
    Sum sum[parts];
    double rhs[parts];
    for (int p = 0; p < parts; ++p) {
      rhs[p] = b[i * parts + p];
      sum[p] = {rhs[p], 0, magnitude(rhs[p])};
    }
    const Offset from = row_ptr[i], to = row_ptr[i + 1];
    add_entries<R, parts>(sum, static_cast<const R *>(c.values), static_cast<const Index *>(c.col), from, to, x);
    add_row<single, parts>(norms, sum, rhs, static_cast<double>(parts) * static_cast<double>(to - from));
    for (int p = 0; r && p < parts; ++p) r[i * parts + p] = static_cast<R>(rounded_sum(sum[p].high, sum[p].low));
  }
}

template <class R, int parts, class Offset, class Index>
void blocks(const Call &c, int64_t first, int64_t last) {
  for (int64_t block = first; block < last; ++block) {
    const int64_t begin = block * block_rows, end = c.rows - begin < block_rows ? c.rows : begin + block_rows;
    for (int32_t column = 0; column < c.n_rhs; ++column) {
      Norms norms = {};
      block_of<R, parts, Offset, Index>(c, begin, end, column, norms);
      c.norms[block * c.n_rhs + column] = norms;
    }
  }
}

#define ROW(R, parts)                                                             \
  {                                                                               \
    {&blocks<R, parts, int32_t, int32_t>, &blocks<R, parts, int32_t, int64_t>}, { \
      &blocks<R, parts, int64_t, int32_t>, &blocks<R, parts, int64_t, int64_t>    \
    }                                                                             \
  }
extern const Table table;
const Table table = {{ROW(float, 1), ROW(double, 1), ROW(float, 2), ROW(double, 2)}};
#undef ROW

}  // namespace sextant_residual_csr::SXT_ISA
