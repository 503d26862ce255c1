// SPDX-License-Identifier: BSD-3-Clause
// The feature kernels of this folder and what they share: CSR on the device, results that come back in one copy, and
// counters that blocks add to.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "sextant/kinds/features.h"
#include "sextant/plugin_cuda_memory.hpp"

namespace sextant::features_cuda {

using Count = unsigned long long;

extern const sxt_kernel sizes_kernel;      // features.sizes.cuda: what rows, columns and entries alone say
extern const sxt_kernel rows_kernel;       // features.rows.cuda: row lengths
extern const sxt_kernel sample_kernel;     // features.sample.cuda: locality, blocks and diagonals from a sample
extern const sxt_kernel columns_kernel;    // features.columns.cuda: where the columns lie
extern const sxt_kernel transpose_kernel;  // features.transpose.cuda: row lengths of the transpose

// What a run costs the host beside its launches: scratch, the way back, a wait. As measured on an H200's host.
inline constexpr double call_s = 45e-6;

// Every feature kernel here keeps the matrix, what its candidate said, and whether its work was begun already.
struct State {
  const sxt_csr *a;
  std::int64_t launch[4];
  mutable bool begun;
};
// Whether run has to launch; the next one does in any case.
inline bool take_begun(const State &state) { return std::exchange(state.begun, false); }

// A kernel over CSR on the device; `storages` may be NULL.
sxt_kernel feature_kernel(const char *name, const char *description, const sxt_features_ops *ops,
                          const char *const *storages, decltype(sxt_kernel::candidates) candidates,
                          decltype(sxt_kernel::run) run);
extern const char *const csr_storage[];
// Answers of features.rows.cuda from the shape and the row pointers of `a` alone, counted by then or not.
void count_all_rows(const sxt_csr &a, const sxt_features_args &args, const sxt_exec *exec);
sxt_status tell_rows(const sxt_csr &a, const sxt_features_args &args, const sxt_exec *exec);
std::uint64_t rows_scratch_bytes();

// Whether a name between first and last of `names` is asked for.
inline bool wants(const sxt_features_args &args, const char *const *names, int first, int count) {
  for (std::uint64_t i = 0; i < args.count; ++i)
    for (int k = first; k < first + count; ++k)
      if (!std::strcmp(args.names[i], names[k])) return true;
  return false;
}

// Writes values (one for each of `own`) in the order in which they are asked for; NaN for other names.
inline sxt_status answer(const sxt_features_args &args, const char *const *own, const double *values) {
  for (std::uint64_t i = 0; i < args.count; ++i) {
    args.values[i] = std::numeric_limits<double>::quiet_NaN();
    for (std::uint64_t k = 0; own[k]; ++k)
      if (!std::strcmp(args.names[i], own[k])) args.values[i] = values[k];
  }
  return SXT_OK;
}

// Row pointers in their own type; columns on the device are i32.
template <class F>
void with_row_ptr(const sxt_csr &a, F &&f) {
  if (a.s.offset_type == SXT_I32)
    f(static_cast<const std::int32_t *>(a.row_ptr));
  else
    f(static_cast<const std::int64_t *>(a.row_ptr));
}

// Scratch as a struct of results, cleared.
template <class T>
T *cleared_scratch(const sxt_exec *exec, std::uint64_t bytes) {
  if (bytes > exec->scratch_bytes)
    throw plugin::cuda::Failure(SXT_E_STATE, "%llu bytes of scratch lent, %llu needed",
                                (unsigned long long)exec->scratch_bytes, (unsigned long long)bytes);
  plugin::cuda::fill_bytes(exec, exec->scratch, 0, bytes, "clear counters");
  return static_cast<T *>(exec->scratch);
}

// ---- on the device: sums and maxima of a warp's lanes, added to a counter by one of them

__device__ inline void add_sum(Count *to, Count value) {
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffffu, value, d);
  if (threadIdx.x % 32 == 0 && value) atomicAdd(to, value);
}
__device__ inline void add_most(Count *to, Count value) {
  for (int d = 16; d > 0; d /= 2) value = max(value, __shfl_xor_sync(0xffffffffu, value, d));
  if (threadIdx.x % 32 == 0 && value) atomicMax(to, value);
}

}  // namespace sextant::features_cuda
