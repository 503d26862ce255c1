// SPDX-License-Identifier: BSD-3-Clause
// A segment of coordinates, compiled once an instruction set: runs of eight entries of one row and more go in lanes. An
// entry costs sizeof(value) + 8 bytes and one gathered element of x.
#include "coo_isa.hpp"
#include "plugins/formats/ell_lanes.hpp"

namespace sextant::spmv_coo::SXT_ISA {

namespace {

namespace lanes = plugin::SXT_ISA;

template <class V, class M>
void segment(const SegmentCall &call, int64_t begin, int64_t end, void *first, void *last) {
  const int32_t *row = call.a.row, *col = call.a.col;
  const M *values = static_cast<const M *>(call.a.values);
  const V *x = static_cast<const V *>(call.x);
  V *y = static_cast<V *>(call.y);
  const V alpha = static_cast<V>(call.alpha);
  *static_cast<V *>(first) = *static_cast<V *>(last) = 0;
  if (begin == end) return;
  int64_t k = begin;
  *static_cast<V *>(first) = lanes::run_sum(row, col, values, k, end, x);
  while (k < end) {
    const int32_t i = row[k];
    const V sum = lanes::run_sum(row, col, values, k, end, x);
    if (k == end)
      *static_cast<V *>(last) = sum;
    else
      y[i] += alpha * sum;
  }
}

}  // namespace

extern const Table table;
const Table table = {{segment<double, double>, segment<double, float>, segment<float, float>}};

}  // namespace sextant::spmv_coo::SXT_ISA
