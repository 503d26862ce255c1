// SPDX-License-Identifier: BSD-3-Clause
// Block rows for one instruction set and every block size. A column of a block is one vector times one element of x;
// even and odd columns have separate accumulators, so that few additions wait for one another.
#include "bsr_table.hpp"
#include "sextant/sdk/cpu/isa_values.hpp"

namespace spmv_bsr::SXT_ISA {

using namespace sextant::plugin::SXT_ISA;

template <int K, class V, class M>
void block_rows(const Call &call, int64_t begin, int64_t end) {
  const M *values = static_cast<const M *>(call.values);
  const V *x = static_cast<const V *>(call.x);
  const V alpha = from_parts<V>(call.alpha), beta = from_parts<V>(call.beta);
  // Where the last block column reaches beyond x, a copy with zeros is used.
  const int64_t whole = call.cols / K;
  V rest[K] = {};
  for (int64_t j = whole * K; j < call.cols; ++j) rest[j - whole * K] = x[j];

  for (int64_t i = begin; i < end; ++i) {
    V even[K] = {}, odd[K] = {};
    for (int64_t b = call.row_ptr[i]; b < call.row_ptr[i + 1]; ++b) {
      const M *v = values + b * K * K;
      const V *from = call.col[b] < whole ? x + static_cast<int64_t>(call.col[b]) * K : rest;
#pragma GCC unroll 8
      for (int c = 0; c < K; ++c) {
        V *sum = c % 2 ? odd : even;
#pragma GCC unroll 8
        for (int r = 0; r < K; ++r) sum[r] = multiply_add<false>(sum[r], v[c * K + r], from[c]);
      }
    }
    V *y = static_cast<V *>(call.y) + i * K;
    const int64_t n = call.rows - i * K < K ? call.rows - i * K : K;
    for (int64_t r = 0; r < n; ++r) {
      const V sum = multiply_add<false>(times(alpha, even[r]), alpha, odd[r]);
      if (is_zero(beta))
        y[r] = sum;
      else
        y[r] = multiply_add<false>(sum, beta, y[r]);
    }
  }
}

extern const Table table;
const Table table = {{
#define SXT_X(V, M)                                                                        \
  {&block_rows<2, V, M>, &block_rows<3, V, M>, &block_rows<4, V, M>, &block_rows<5, V, M>, \
   &block_rows<6, V, M>, &block_rows<7, V, M>, &block_rows<8, V, M>},
    SXT_FOR_TYPE_PAIRS(SXT_X)
#undef SXT_X
}};

}  // namespace spmv_bsr::SXT_ISA
