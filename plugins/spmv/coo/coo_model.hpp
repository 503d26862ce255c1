// SPDX-License-Identifier: BSD-3-Clause
// What both COO kernels share: typed arrays and what a run costs.
#pragma once

#include <cstdint>

#include "sextant/kinds/spmv.h"
#include "sextant/plugin_cpu.hpp"

namespace sextant::spmv_coo {

extern const sxt_kernel serial_kernel, segmented_kernel;
extern const char *const storages[];  // COO

template <class M, class Index>
struct Coo {
  const Index *row, *col;
  const M *values;
  std::int64_t rows, cols, nnz;
};

// The types behind a call: f(Coo<M, Index>, V tag).
template <class F>
sxt_status with_coo(const sxt_coo &a, sxt_value_type vectors, F &&f) {
  return plugin::with_matrix_types(vectors, a.s.value_type, [&](auto v, auto m) {
    return plugin::with_index_type(a.s.index_type, [&](auto index) {
      using M = typename decltype(m)::type;
      using Index = typename decltype(index)::type;
      return f(Coo<M, Index>{static_cast<const Index *>(a.row), static_cast<const Index *>(a.col),
                             static_cast<const M *>(a.values), a.s.rows, a.s.cols, a.s.nnz},
               v);
    });
  });
}

// y = beta y for a range of elements; beta == 0 never reads y.
template <class V>
void scale(V *y, plugin::Range range, V beta) {
  for (std::int64_t i = range.begin; i < range.end; ++i) y[i] = beta == V(0) ? V(0) : plugin::product(beta, y[i]);
}

// SXT_OK for pairs of matrix and vector types the kernels are compiled for.
sxt_status check_types(const sxt_spmv_query &, sxt_message *reason);

// The cost of one run on `threads` threads.
plugin::CpuCost cost_of(const sxt_spmv_query &, const sxt_machine &);

}  // namespace sextant::spmv_coo
