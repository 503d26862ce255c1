// SPDX-License-Identifier: BSD-3-Clause
// Passes a product's arguments to the SIMD code of an instruction set (csr_isa.hpp).
#pragma once

#include "csr_isa.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/cpu/spmv.hpp"

SXT_ISA_TABLE(sextant::spmv_csr, Table)

namespace sextant::spmv_csr {

// n_rhs columns that begin at x and y.
template <class V>
RowsCall rows_call(const sxt_csr &a, const plugin::Vectors<V> &v, std::int32_t n_rhs) {
  static_assert(!plugin::is_complex<V>);
  return {a.row_ptr, static_cast<const std::int32_t *>(a.col), a.values, v.x, v.y, v.ldx, v.ldy, n_rhs, v.alpha,
          v.beta};
}

}  // namespace sextant::spmv_csr
