// SPDX-License-Identifier: BSD-3-Clause
// Products with ELL arrays and with runs of coordinates in eight lanes, for the ISA sources of kernels that have
// either. It includes no C++ standard header.
#pragma once

#include "plugins/formats/ell_call.hpp"
#include "sextant/sdk/cpu/lanes.hpp"

namespace sextant::plugin::SXT_ISA {

// Rows begin .. end-1 of y = alpha A x + beta y; begin is a multiple of eight. A block of rows is summed in the
// first-level cache, so that each array of A is read in runs of `ell_rows_block` entries and not in as many streams as
// A is wide.
inline constexpr int64_t ell_rows_block = 256;

template <bool streamed, class V, class M>
SXT_INLINE void ell_multiply(const EllCall &a, int64_t begin, int64_t end) {
  // In registers: for the compiler, a store could change the call's members.
  const M *const values = static_cast<const M *>(a.values);
  const int32_t *const col = a.col;
  const int64_t width = a.width, ld = a.ld;
  const V alpha = static_cast<V>(a.alpha), beta = static_cast<V>(a.beta);
  alignas(64) V sums[ell_rows_block];
  for (int64_t first = begin; first < end; first += ell_rows_block) {
    const int64_t n = end - first < ell_rows_block ? end - first : ell_rows_block;
    for (int32_t r = 0; r < a.n_rhs; ++r) {
      const V *x = static_cast<const V *>(a.x) + r * a.ldx;
      V *y = static_cast<V *>(a.y) + r * a.ldy + first;
      for (int64_t i = 0; i < ell_rows_block; ++i) sums[i] = 0;
      for (int64_t k = 0; k < width; ++k)
        for (int64_t i = 0; i < n; i += 8) {  // padding makes the last eight whole
          const int64_t at = k * ld + first + i;
          if constexpr (streamed) {  // the same rows' next entries: a run is too short for hardware to see
            __builtin_prefetch(values + at + ld);
            __builtin_prefetch(col + at + ld);
          }
          Lanes<V> sum = load(sums + i);
          const Columns columns = load_columns(col + at);
          add_products(sum, values + at, x, columns, used(columns));
          store(sums + i, sum);
        }
      for (int64_t i = 0; i < n; i += 8) {
        if (n - i >= 8)
          put(y + i, load(sums + i), alpha, beta);
        else
          put_some(y + i, n - i, load(sums + i), alpha, beta);
      }
    }
  }
}

template <class V, class M>
void ell_rows(const EllCall &a, int64_t begin, int64_t end) {
  if ((end - begin) * a.width * static_cast<int64_t>(sizeof(M) + sizeof(int32_t)) > streamed_bytes)
    ell_multiply<true, V, M>(a, begin, end);
  else
    ell_multiply<false, V, M>(a, begin, end);
}

// All lanes added, always by the same tree.
template <class V>
SXT_INLINE V total(Lanes<V> a) {
  V v[8];
  spill(v, a);
  return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

// Sum of the run of coordinates of one row that starts at k, and moves k behind it. Runs of eight and more go in lanes.
template <class V, class M>
SXT_INLINE V run_sum(const int32_t *row, const int32_t *col, const M *values, int64_t &k, int64_t end, const V *x) {
  const int32_t i = row[k];
  V sum = 0;
  if (end - k >= 8 && row[k + 7] == i) {
    Lanes<V> lanes;
    set_zero(lanes);
    for (; end - k >= 8 && row[k + 7] == i; k += 8) add_products(lanes, values + k, x, load_columns(col + k));
    sum = total(lanes);
  }
  for (; k < end && row[k] == i; ++k) sum += V(values[k]) * x[col[k]];
  return sum;
}

}  // namespace sextant::plugin::SXT_ISA
