// SPDX-License-Identifier: BSD-3-Clause
// Slices of eight rows, a lane a row, compiled once an instruction set. An entry costs sizeof(value) + 4 bytes and one
// gathered element of x; nothing is added across lanes. With several right-hand sides a slice is read from the
// first-level cache again. A row's products are added in the order of its columns, whatever slice it is in.
#include "sell_isa.hpp"
#include "sextant/plugin_lanes.hpp"

namespace sextant::spmv_sell::SXT_ISA {

namespace {

namespace lanes = plugin::SXT_ISA;
using lanes::Lanes;

// y of the slots of one slice; slots beyond the last row are skipped.
template <class V>
SXT_INLINE void put_slots(const SlicesCall &call, int64_t slice, Lanes<V> sums, V *y, V alpha, V beta) {
  const int64_t first = slice * slice_rows, n = call.rows - first;
  if (!call.perm)
    return n >= slice_rows ? lanes::put(y + first, sums, alpha, beta)
                           : lanes::put_some(y + first, n, sums, alpha, beta);
  if (n >= slice_rows) return lanes::put_at(y, call.perm + first, sums, alpha, beta);
  V some[slice_rows] = {};
  for (int64_t l = 0; l < n; ++l) some[l] = beta != V(0) ? y[call.perm[first + l]] : V(0);
  lanes::put(some, sums, alpha, beta);
  for (int64_t l = 0; l < n; ++l) y[call.perm[first + l]] = some[l];
}

template <class V, class M>
void slices(const SlicesCall &call, int64_t begin, int64_t end) {
  const V alpha = static_cast<V>(call.alpha), beta = static_cast<V>(call.beta);
  for (int64_t s = begin; s < end; ++s) {
    const int64_t stop = call.slice_ptr[s + 1];
    for (int32_t r = 0; r < call.n_rhs; ++r) {
      const V *x = static_cast<const V *>(call.x) + r * call.ldx;
      Lanes<V> sum;
      lanes::set_zero(sum);
      for (int64_t at = call.slice_ptr[s]; at < stop; at += slice_rows) {
        const auto columns = lanes::load_columns(call.col + at);
        lanes::add_products(sum, static_cast<const M *>(call.values) + at, x, columns, lanes::used(columns));
      }
      put_slots(call, s, sum, static_cast<V *>(call.y) + r * call.ldy, alpha, beta);
    }
  }
}

}  // namespace

extern const Table table;
const Table table = {{slices<double, double>, slices<double, float>, slices<float, float>}};

}  // namespace sextant::spmv_sell::SXT_ISA
