// SPDX-License-Identifier: BSD-3-Clause
// Common parts of both COO kernels: typed arrays and the cost of a run.
#pragma once

#include <cstdint>

#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sdk/cpu/spmv.hpp"

namespace sextant::spmv_coo {

extern const sxt_kernel serial_kernel, segmented_kernel;
extern const char *const storages[];  // COO
extern const char *const features[];

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

// The cost of a run on this many threads.
plugin::SpmvCost cost_of(const sxt_spmv_query &, const sxt_features *, const sxt_machine &, int threads);
// The same where runs of eight entries of a row go in lanes, and the rest of the rows one by one.
void go_in_lanes(const sxt_spmv_query &, const sxt_features *, int threads, plugin::SpmvCost &);

}  // namespace sextant::spmv_coo
