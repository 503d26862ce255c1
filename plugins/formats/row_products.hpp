// SPDX-License-Identifier: BSD-3-Clause
// Rows of y = alpha A x + beta y for kernels that use them again while they are in the first cache: CSR and slices in
// eight lanes, diagonals in blocks. The order of a row's sum depends only on the row (DIA: on its block), so that bits
// depend neither on threads nor on where a range of rows begins. The loops are for ISA_SOURCES (sdk/cpu/simd.hpp);
// other files see only their arguments.
#pragma once

#include "plugins/formats/dia.hpp"
#ifdef SXT_ISA
#include "plugins/formats/dia_rows.hpp"
#include "sextant/sdk/cpu/lanes.hpp"
#endif

namespace sextant::plugin {

// A in CSR (start: row pointers) or in slices of eight rows (start: slice pointers, where perm gives the row of a slot;
// NULL: its own). Columns are 32 bits wide. begin and end of a range are multiples of eight, but for the last row;
// those of slices count slots.
struct RowsCall {
  const void *start;
  const int32_t *col, *perm;
  const void *values, *x;
  void *y;
  double alpha[2], beta[2];
};
using Rows = void (*)(const RowsCall &, int64_t begin, int64_t end);

struct RowsTable {
  Rows csr[6][2];  // [type pair][offsets of 64 bits]
  Rows sell[6];    // real types; NULL for complex ones
  DiaRows dia[6];
};

#ifdef SXT_ISA
namespace SXT_ISA {

// One row in eight lanes; the last step is masked.
template <class V, class M>
SXT_INLINE void add_row(Lanes<V> &sum, const int32_t *col, const M *values, int64_t k, int64_t end, const V *x) {
  set_zero(sum);
  for (; end - k > 8; k += 8) add_products(sum, values + k, x, load_columns(col + k));
  const auto rest = first_lanes(end - k);
  add_products(sum, values + k, x, load_columns(col + k, rest), rest);
}

// Eight rows at a time: one tree adds the lanes of all of them.
template <class V, class M, class Offset>
void csr_rows(const RowsCall &call, int64_t begin, int64_t end) {
  const Offset *row_ptr = static_cast<const Offset *>(call.start);
  const M *values = static_cast<const M *>(call.values);
  const V *x = static_cast<const V *>(call.x);
  const V alpha = from_parts<V>(call.alpha), beta = from_parts<V>(call.beta);
  V *y = static_cast<V *>(call.y);
  if constexpr (is_pair<V>) {  // complex: one chain a row
    for (int64_t i = begin; i < end; ++i) {
      V sum{};
      for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) sum = multiply_add<false>(sum, values[k], x[call.col[k]]);
      y[i] = is_zero(beta) ? times(alpha, sum) : multiply_add<false>(times(beta, y[i]), alpha, sum);
    }
  } else {
    Lanes<V> row[8];
    for (int64_t i = begin; i < end; i += 8) {
      const int64_t n = end - i < 8 ? end - i : 8;
      if (n == 8) {
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j) add_row(row[j], call.col, values, row_ptr[i + j], row_ptr[i + j + 1], x);
        put(y + i, sums_of(row), alpha, beta);
      } else {
        for (int j = 0; j < 8; ++j) set_zero(row[j]);
        for (int64_t j = 0; j < n; ++j) add_row(row[j], call.col, values, row_ptr[i + j], row_ptr[i + j + 1], x);
        put_some(y + i, n, sums_of(row), alpha, beta);
      }
    }
  }
}

// Slices of eight rows, a lane a row. Rows of a leaf fill whole slices and are sorted among themselves only.
template <class V, class M>
void sell_rows(const RowsCall &call, int64_t begin, int64_t end) {
  const int64_t *slice_ptr = static_cast<const int64_t *>(call.start);
  const V *x = static_cast<const V *>(call.x);
  const V alpha = from_parts<V>(call.alpha), beta = from_parts<V>(call.beta);
  V *y = static_cast<V *>(call.y);
  for (int64_t s = begin / 8; s < (end + 7) / 8; ++s) {
    Lanes<V> sum;
    set_zero(sum);
    for (int64_t at = slice_ptr[s]; at < slice_ptr[s + 1]; at += 8) {
      const auto columns = load_columns(call.col + at);
      add_products(sum, static_cast<const M *>(call.values) + at, x, columns, used(columns));
    }
    const int64_t first = 8 * s, n = end - first < 8 ? end - first : 8;
    if (n == 8 && !call.perm) {
      put(y + first, sum, alpha, beta);
    } else if (!call.perm) {
      put_some(y + first, n, sum, alpha, beta);
    } else if (n == 8) {
      put_at(y, call.perm + first, sum, alpha, beta);
    } else {
      V some[8] = {};
      for (int64_t l = 0; l < n; ++l) some[l] = beta != V(0) ? y[call.perm[first + l]] : V(0);
      put(some, sum, alpha, beta);
      for (int64_t l = 0; l < n; ++l) y[call.perm[first + l]] = some[l];
    }
  }
}

// All of them, for a file's table.
constexpr RowsTable row_products() {
  return {{
#define SXT_X(V, M) {&csr_rows<V, M, int32_t>, &csr_rows<V, M, int64_t>},
              SXT_FOR_TYPE_PAIRS(SXT_X)
#undef SXT_X
          },
          {&sell_rows<double, double>, &sell_rows<float, float>, &sell_rows<double, float>, nullptr, nullptr, nullptr},
          {
#define SXT_X(V, M) &dia_rows<V, M>,
              SXT_FOR_TYPE_PAIRS(SXT_X)
#undef SXT_X
          }};
}

}  // namespace SXT_ISA
#endif

}  // namespace sextant::plugin
