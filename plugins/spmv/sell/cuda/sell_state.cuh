// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the SELL kernels for CUDA: the storage they read, its arrays in the device's types, and their model.
#pragma once

#include "sell_kernels.cuh"
#include "sextant/sdk/cuda/memory.hpp"

namespace sextant::spmv_sell_cuda {

extern const sxt_kernel slices_kernel;  // spmv.sell.slices.cuda: not transposed, deterministic
extern const sxt_kernel atomic_kernel;  // spmv.sell.atomic.cuda: transposes

struct State {
  const sxt_sell *a;
  sxt_value_type type;  // of the vectors
  int threads, sharing;
  bool early;
};

// A kernel over SELL; the caller sets run, candidates and applicable.
sxt_kernel sell_kernel(const char *name, const char *description, decltype(sxt_kernel::applicable) applicable,
                       decltype(sxt_kernel::candidates) candidates, decltype(sxt_kernel::prepare) prepare,
                       decltype(sxt_kernel::run) run);
// Takes the storage after the kernel's code was loaded.
sxt_status keep(const sxt_problem &, const sxt_candidate *, const sxt_exec *, void **state);

enum {
  feature_sorted,
  feature_row_max,
  feature_miss_unit,
  feature_miss_cache,
  feature_sectors,
  feature_tags,
  feature_column_max
};
// Entries stored, as far as features tell.
double stored_entries(const sxt_spmv_query &, const sxt_features *);
plugin::cuda::SpmvCost cost_of(const sxt_spmv_query &, const sxt_features *, const sxt_machine &);

template <class M>
Slices<M> slices_of(const sxt_sell &a) {
  return {a.slice_ptr,
          a.s.offset_type == SXT_I64,
          static_cast<const std::int32_t *>(a.col),
          static_cast<const std::int32_t *>(a.perm),
          static_cast<const M *>(a.values),
          a.s.rows,
          a.n_slices};
}

}  // namespace sextant::spmv_sell_cuda
