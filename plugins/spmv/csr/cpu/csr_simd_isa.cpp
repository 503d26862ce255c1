// SPDX-License-Identifier: BSD-3-Clause
// CSR rows in eight lanes, compiled once an instruction set. Eight rows at a time: each is summed into its own lanes,
// eight entries a step with the last step masked, and one tree adds the lanes of all eight rows. A short row is one
// step without a branch that depends on its length. The order of a row's sum depends only on its length.
//
// An entry costs sizeof(value) + 4 bytes and one gathered element of x; a row one masked step, an offset and 1/8 of the
// tree. With several right-hand sides the eight rows are read from the first-level cache again.
#include "csr_isa.hpp"
#include "sextant/sdk/cpu/lanes.hpp"

namespace sextant::spmv_csr::SXT_ISA {

namespace {

namespace lanes = plugin::SXT_ISA;
using lanes::Lanes;

template <bool streamed, class V, class M>
SXT_INLINE void add_row(Lanes<V> &sum, const int32_t *col, const M *values, int64_t k, int64_t end, const V *x) {
  for (; end - k > 8; k += 8) {
    lanes::prefetch<streamed>(values + k);
    lanes::prefetch<streamed>(col + k);
    lanes::add_products(sum, values + k, x, lanes::load_columns(col + k));
  }
  lanes::prefetch<streamed>(values + k);
  lanes::prefetch<streamed>(col + k);
  const auto rest = lanes::first_lanes(end - k);
  lanes::add_products(sum, values + k, x, lanes::load_columns(col + k, rest), rest);
}

template <bool streamed, class V, class M, class Offset>
SXT_INLINE void multiply(const RowsCall &call, int64_t begin, int64_t end) {
  // In registers: for the compiler, a store to y could change the call's members.
  const Offset *const row_ptr = static_cast<const Offset *>(call.row_ptr);
  const int32_t *const col = call.col;
  const M *const values = static_cast<const M *>(call.values);
  const V alpha = static_cast<V>(call.alpha), beta = static_cast<V>(call.beta);
  const int64_t ldx = call.ldx, ldy = call.ldy;
  const int32_t n_rhs = call.n_rhs;
  Lanes<V> row[8];
  for (int64_t i = begin; i < end; i += 8) {
    const int64_t n = end - i < 8 ? end - i : 8;
    for (int32_t r = 0; r < n_rhs; ++r) {
      const V *x = static_cast<const V *>(call.x) + r * ldx;
      V *y = static_cast<V *>(call.y) + r * ldy + i;
      if (n == 8) {
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j) {
          lanes::set_zero(row[j]);
          add_row<streamed>(row[j], col, values, row_ptr[i + j], row_ptr[i + j + 1], x);
        }
        lanes::put(y, lanes::sums_of(row), alpha, beta);
      } else {
        for (int j = 0; j < 8; ++j) lanes::set_zero(row[j]);
        for (int64_t j = 0; j < n; ++j) add_row<streamed>(row[j], col, values, row_ptr[i + j], row_ptr[i + j + 1], x);
        lanes::put_some(y, n, lanes::sums_of(row), alpha, beta);
      }
    }
  }
}

template <class V, class M, class Offset>
void rows(const RowsCall &call, int64_t begin, int64_t end) {
  const Offset *const row_ptr = static_cast<const Offset *>(call.row_ptr);
  const int64_t entries = row_ptr[end] - row_ptr[begin];
  if (entries * static_cast<int64_t>(sizeof(M) + sizeof(int32_t)) > lanes::streamed_bytes)
    multiply<true, V, M, Offset>(call, begin, end);
  else
    multiply<false, V, M, Offset>(call, begin, end);
}

template <class V, class M>
void run(const RowsCall &call, int64_t begin, int64_t end, void *sums) {
  for (int32_t r = 0; r < call.n_rhs; ++r) {
    Lanes<V> row[8];
    for (int j = 0; j < 8; ++j) lanes::set_zero(row[j]);
    add_row<true>(row[0], call.col, static_cast<const M *>(call.values), begin, end,
                  static_cast<const V *>(call.x) + r * call.ldx);
    V sum[8];
    lanes::store(sum, lanes::sums_of(row));
    static_cast<V *>(sums)[r] = sum[0];
  }
}

}  // namespace

extern const Table table;
const Table table = {{{rows<double, double, int32_t>, rows<double, double, int64_t>},
                      {rows<double, float, int32_t>, rows<double, float, int64_t>},
                      {rows<float, float, int32_t>, rows<float, float, int64_t>}},
                     {run<double, double>, run<double, float>, run<float, float>}};

}  // namespace sextant::spmv_csr::SXT_ISA
