// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the COO kernels for CUDA: the storage they read and their model.
#pragma once

#include "coo_kernels.cuh"

namespace sextant::spmv_coo_cuda {

extern const sxt_kernel segmented_kernel;  // spmv.coo.segmented.cuda: not transposed, deterministic
extern const sxt_kernel atomic_kernel;     // spmv.coo.atomic.cuda: every operation

inline constexpr int block_threads = 256, block_rhs = 4;

struct State {
  const sxt_coo *a = nullptr;
  sxt_value_type type = SXT_F64;  // of the vectors
  bool early = false;
};

// A kernel over COO; the caller sets applicable, candidates, prepare and run.
sxt_kernel coo_kernel(const char *name, const char *description, decltype(sxt_kernel::applicable) applicable,
                      decltype(sxt_kernel::candidates) candidates, decltype(sxt_kernel::prepare) prepare,
                      decltype(sxt_kernel::run) run);
// The storage of a problem, in device memory with 32-bit indices.
const sxt_coo &storage_of(const sxt_problem &problem);

enum {
  feature_miss_unit,
  feature_miss_cache,
  feature_sectors,
  feature_tags,
  feature_row_max,
  feature_empty,
  feature_run
};
SpmvCost cost_of(const sxt_spmv_query &, const sxt_features *, const sxt_machine &);

template <class M>
Entries<M> entries_of(const sxt_coo &a) {
  return {static_cast<const std::int32_t *>(a.row), static_cast<const std::int32_t *>(a.col),
          static_cast<const M *>(a.values), a.s.nnz};
}

}  // namespace sextant::spmv_coo_cuda
