// SPDX-License-Identifier: BSD-3-Clause
// Slices of eight rows, a lane a row, compiled once an instruction set. An entry costs sizeof(value) + 4 bytes and one
// gathered element of x; nothing is added across lanes. With several right-hand sides a slice is read from the
// first-level cache again. A row's products are added in the order of its columns, in any slice.
#include "sell_isa.hpp"
#include "sextant/sdk/cpu/lanes.hpp"

namespace sextant::spmv_sell::SXT_ISA {

namespace {

namespace lanes = plugin::SXT_ISA;
using lanes::Lanes;

// y of the slots of one slice; slots beyond the last row are skipped.
template <class V>
SXT_INLINE void put_slots(const int32_t *perm, int64_t first, int64_t n, Lanes<V> sums, V *y, V alpha, V beta) {
  if (!perm)
    return n >= slice_rows ? lanes::put(y + first, sums, alpha, beta)
                           : lanes::put_some(y + first, n, sums, alpha, beta);
  if (n >= slice_rows) return lanes::put_at(y, perm + first, sums, alpha, beta);
  V some[slice_rows] = {};
  for (int64_t l = 0; l < n; ++l) some[l] = beta != V(0) ? y[perm[first + l]] : V(0);
  lanes::put(some, sums, alpha, beta);
  for (int64_t l = 0; l < n; ++l) y[perm[first + l]] = some[l];
}

template <bool streamed, class V, class M>
SXT_INLINE void multiply(const SlicesCall &call, int64_t begin, int64_t end) {
  // In registers: for the compiler, a store to y could change the call's members.
  const int64_t *const slice_ptr = call.slice_ptr;
  const int32_t *const col = call.col, *const perm = call.perm;
  const M *const values = static_cast<const M *>(call.values);
  const V alpha = static_cast<V>(call.alpha), beta = static_cast<V>(call.beta);
  const int64_t rows = call.rows, ldx = call.ldx, ldy = call.ldy;
  const int32_t n_rhs = call.n_rhs;
  for (int64_t s = begin; s < end; ++s) {
    const int64_t start = slice_ptr[s], stop = slice_ptr[s + 1], first = s * slice_rows;
    for (int32_t r = 0; r < n_rhs; ++r) {
      const V *const x = static_cast<const V *>(call.x) + r * ldx;
      Lanes<V> sum;
      lanes::set_zero(sum);
      for (int64_t at = start; at < stop; at += slice_rows) {
        lanes::prefetch<streamed>(values + at);
        lanes::prefetch<streamed>(col + at);
        const auto columns = lanes::load_columns(col + at);
        lanes::add_products(sum, values + at, x, columns, lanes::used(columns));
      }
      put_slots(perm, first, rows - first, sum, static_cast<V *>(call.y) + r * ldy, alpha, beta);
    }
  }
}

template <class V, class M>
void slices(const SlicesCall &call, int64_t begin, int64_t end) {
  const int64_t entries = call.slice_ptr[end] - call.slice_ptr[begin];
  if (entries * static_cast<int64_t>(sizeof(M) + sizeof(int32_t)) > lanes::streamed_bytes)
    multiply<true, V, M>(call, begin, end);
  else
    multiply<false, V, M>(call, begin, end);
}

}  // namespace

extern const Table table;
const Table table = {{slices<double, double>, slices<double, float>, slices<float, float>}};

}  // namespace sextant::spmv_sell::SXT_ISA
