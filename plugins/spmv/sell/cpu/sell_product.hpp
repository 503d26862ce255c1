// SPDX-License-Identifier: BSD-3-Clause
// Products with slices for the types and operations that have no SIMD code: complex numbers, transposes.
#pragma once

#include <cstdint>

#include "sell_isa.hpp"
#include "sextant/sdk/cpu/spmv.hpp"

namespace sextant::spmv_sell {

using plugin::product;
using plugin::Range;
using plugin::Vectors;

template <class M>
struct Sell {
  const std::int64_t *slice_ptr;
  const std::int32_t *col;
  const M *values;
  const std::int32_t *perm;  // NULL: the identity
  std::int64_t rows, cols, n_slices;

  std::int64_t row_of(std::int64_t slot) const { return perm ? perm[slot] : slot; }
  std::int64_t slots(std::int64_t slice) const { return std::min<std::int64_t>(slice_rows, rows - slice * slice_rows); }
};

// The types behind a call: f(Sell<M>, V tag).
template <class F>
sxt_status with_sell(const sxt_sell &a, sxt_value_type vectors, F &&f) {
  return plugin::with_matrix_types(vectors, a.s.value_type, [&](auto v, auto m) {
    using M = typename decltype(m)::type;
    return f(Sell<M>{static_cast<const std::int64_t *>(a.slice_ptr), static_cast<const std::int32_t *>(a.col),
                     static_cast<const M *>(a.values), static_cast<const std::int32_t *>(a.perm), a.s.rows, a.s.cols,
                     a.n_slices},
             v);
  });
}

// The rows of some slices of y = alpha A x + beta y, lane by lane: a row's products are added in the order of columns.
template <int R, class V, class M>
void multiply_slices(const Sell<M> &a, Range slices, const Vectors<V> &v) {
  for (std::int64_t s = slices.begin; s < slices.end; ++s)
    for (std::int64_t l = 0; l < a.slots(s); ++l) {
      V sum[R] = {};
      for (std::int64_t at = a.slice_ptr[s] + l; at < a.slice_ptr[s + 1] && a.col[at] >= 0; at += slice_rows) {
        const V value = V(a.values[at]);
        for (int r = 0; r < R; ++r) sum[r] += product(value, v.x[a.col[at] + r * v.ldx]);
      }
      const std::int64_t i = a.row_of(s * slice_rows + l);
      for (int r = 0; r < R; ++r) plugin::store(v.y[i + r * v.ldy], sum[r], v.alpha, v.beta);
    }
}

// sums[j] += alpha op(A)[j][i] x[i] for the rows i of some slices.
template <int R, bool conjugated, class V, class M>
void scatter_slices(const Sell<M> &a, Range slices, const Vectors<V> &v, V *sums, std::int64_t ld) {
  for (std::int64_t s = slices.begin; s < slices.end; ++s)
    for (std::int64_t l = 0; l < a.slots(s); ++l) {
      const std::int64_t i = a.row_of(s * slice_rows + l);
      V x[R];
      for (int r = 0; r < R; ++r) x[r] = product(v.alpha, v.x[i + r * v.ldx]);
      for (std::int64_t at = a.slice_ptr[s] + l; at < a.slice_ptr[s + 1] && a.col[at] >= 0; at += slice_rows) {
        const V value = conjugated ? plugin::conjugate(V(a.values[at])) : V(a.values[at]);
        for (int r = 0; r < R; ++r) sums[a.col[at] + r * ld] += product(value, x[r]);
      }
    }
}

}  // namespace sextant::spmv_sell
