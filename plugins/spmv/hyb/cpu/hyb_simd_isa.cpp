// SPDX-License-Identifier: BSD-3-Clause
// The regular part and the coordinates of HYB, compiled once an instruction set. A regular entry, padding included,
// costs sizeof(value) + 4 bytes, a coordinate sizeof(value) + 8, each one gathered element of x.
#include "hyb_isa.hpp"
#include "plugins/formats/ell_lanes.hpp"

namespace sextant::spmv_hyb::SXT_ISA {

namespace {

namespace lanes = plugin::SXT_ISA;

template <class V, class M>
void rest(const plugin::EllCall &call, const plugin::CooArrays &a, int64_t begin, int64_t end) {
  const V alpha = static_cast<V>(call.alpha);
  for (int32_t r = 0; r < call.n_rhs; ++r) {
    const V *x = static_cast<const V *>(call.x) + r * call.ldx;
    V *y = static_cast<V *>(call.y) + r * call.ldy;
    for (int64_t k = begin; k < end;) {
      const int32_t row = a.row[k];
      y[row] += alpha * lanes::run_sum(a.row, a.col, static_cast<const M *>(a.values), k, end, x);
    }
  }
}

}  // namespace

extern const Table table;
const Table table = {{lanes::ell_rows<double, double>, lanes::ell_rows<double, float>, lanes::ell_rows<float, float>},
                     {rest<double, double>, rest<double, float>, rest<float, float>}};

}  // namespace sextant::spmv_hyb::SXT_ISA
