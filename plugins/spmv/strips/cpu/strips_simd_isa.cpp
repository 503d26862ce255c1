// SPDX-License-Identifier: BSD-3-Clause
// Slices of eight rows, a lane a row, compiled once an instruction set. A strip reads eight adjacent elements of x at
// once, the rest of a slice is gathered as in SELL. Two sums a row, because a strip takes less time than an addition;
// they are always added in the same order.
#include "sextant/sdk/cpu/lanes.hpp"
#include "strips_isa.hpp"

namespace sextant::spmv_strips::SXT_ISA {

namespace {

namespace lanes = plugin::SXT_ISA;
using lanes::Lanes;

// The arrays of a call in registers: for the compiler, a store to y could change the call's members.
template <class M>
struct Arrays {
  const int64_t *strip_ptr, *gather_ptr;
  const int32_t *base, *col;
  const uint8_t *mask;
  const M *values, *rest;
};

template <bool streamed, class V, class M>
SXT_INLINE Lanes<V> slice_sums(const Arrays<M> &a, int64_t slice, const V *x) {
  Lanes<V> even, odd;
  lanes::set_zero(even);
  lanes::set_zero(odd);
  int64_t k = a.strip_ptr[slice];
  const int64_t stop = a.strip_ptr[slice + 1];
  for (; k + 1 < stop; k += 2) {
    lanes::prefetch<streamed>(a.values + k * slice_rows);
    lanes::prefetch<streamed>(a.values + (k + 1) * slice_rows);
    lanes::add_strip(even, a.values + k * slice_rows, x + a.base[k], lanes::mask_of(a.mask[k]));
    lanes::add_strip(odd, a.values + (k + 1) * slice_rows, x + a.base[k + 1], lanes::mask_of(a.mask[k + 1]));
  }
  if (k < stop) lanes::add_strip(even, a.values + k * slice_rows, x + a.base[k], lanes::mask_of(a.mask[k]));
  const int64_t end = a.gather_ptr[slice + 1];
  for (int64_t g = a.gather_ptr[slice]; g < end; g += slice_rows) {
    lanes::prefetch<streamed>(a.rest + g);
    lanes::prefetch<streamed>(a.col + g);
    const auto columns = lanes::load_columns(a.col + g);
    lanes::add_products(odd, a.rest + g, x, columns, lanes::used(columns));
  }
  return lanes::sum_of(even, odd);
}

template <bool streamed, class V, class M>
SXT_INLINE void multiply(const StripsCall &call, int64_t begin, int64_t end) {
  const M *const values = static_cast<const M *>(call.values);
  const Arrays<M> a = {
      call.strip_ptr, call.gather_ptr, call.base, call.col, call.mask, values, values + call.n_strips * slice_rows};
  const V *const x = static_cast<const V *>(call.x);
  V *const y = static_cast<V *>(call.y);
  const V alpha = static_cast<V>(call.alpha), beta = static_cast<V>(call.beta);
  const int64_t rows = call.rows, ldx = call.ldx, ldy = call.ldy;
  const int32_t n_rhs = call.n_rhs;
  for (int64_t s = begin; s < end; ++s) {
    const int64_t first = s * slice_rows;
    for (int32_t r = 0; r < n_rhs; ++r) {
      const Lanes<V> sums = slice_sums<streamed>(a, s, x + r * ldx);
      if (rows - first >= slice_rows)
        lanes::put(y + r * ldy + first, sums, alpha, beta);
      else
        lanes::put_some(y + r * ldy + first, rows - first, sums, alpha, beta);
    }
  }
}

template <class V, class M>
void slices(const StripsCall &call, int64_t begin, int64_t end) {
  const int64_t strips = call.strip_ptr[end] - call.strip_ptr[begin];
  const int64_t gathered = call.gather_ptr[end] - call.gather_ptr[begin];
  const int64_t values = slice_rows * strips + gathered;
  if (values * static_cast<int64_t>(sizeof(M)) + gathered * static_cast<int64_t>(sizeof(int32_t)) >
      lanes::streamed_bytes)
    multiply<true, V, M>(call, begin, end);
  else
    multiply<false, V, M>(call, begin, end);
}

}  // namespace

extern const Table table;
const Table table = {{slices<double, double>, slices<double, float>, slices<float, float>}};

}  // namespace sextant::spmv_strips::SXT_ISA
