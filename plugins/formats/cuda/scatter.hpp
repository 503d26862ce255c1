// SPDX-License-Identifier: BSD-3-Clause
// Common parts of kernels that add to the columns of a matrix by atomics: the number of entries of each column, also
// where one column has them all, and the cost of such additions in performance models. Include from .cu files.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "sextant/sdk/cuda/spmv.hpp"
#include "sextant/sdk/cuda/storage.hpp"

namespace sextant::plugin::cuda {

inline constexpr int column_threads = 256, column_rounds = 16, column_slots = 1024;

// A block counts its entries in slots of shared memory, one column a slot, the first that comes: atomics of all blocks
// on one address would wait for each other. Columns that find their slot taken are counted where all blocks count.
template <class Count>
__global__ void __launch_bounds__(column_threads)
    count_columns_of_block(const std::int32_t *col, std::int64_t nnz, Count *counts) {
  __shared__ std::int32_t owner[column_slots];
  __shared__ unsigned met[column_slots];
  constexpr std::int32_t unowned = -1;
  for (int s = static_cast<int>(threadIdx.x); s < column_slots; s += column_threads) owner[s] = unowned, met[s] = 0;
  __syncthreads();
  const auto add = [&](std::int32_t column, unsigned count) {
    if constexpr (sizeof(Count) == 4)
      atomicAdd(reinterpret_cast<unsigned *>(counts) + column, count);
    else
      atomicAdd(reinterpret_cast<unsigned long long *>(counts) + column, static_cast<unsigned long long>(count));
  };
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * column_threads * column_rounds + threadIdx.x;
#pragma unroll 4
  for (int r = 0; r < column_rounds; ++r) {
    const std::int64_t k = begin + r * column_threads;
    if (k >= nnz) break;
    const std::int32_t column = streamed(col + k);
    const int slot = (column ^ column >> 10) & (column_slots - 1);  // neighbours in different banks
    std::int32_t found = owner[slot];
    if (found == unowned) found = atomicCAS(owner + slot, unowned, column);
    if (found == unowned || found == column)
      atomicAdd(met + slot, 1u);
    else
      add(column, 1);
  }
  __syncthreads();
  for (int s = static_cast<int>(threadIdx.x); s < column_slots; s += column_threads)
    if (met[s]) add(owner[s], met[s]);
}

// Adds to counts[j] the entries of column j.
template <class Count>
void count_columns(const sxt_exec *exec, const std::int32_t *col, std::int64_t nnz, Count *counts) {
  if (nnz <= 0) return;
  const auto blocks = static_cast<unsigned>(divide_up<std::int64_t>(nnz, column_threads * column_rounds));
  count_columns_of_block<<<blocks, column_threads, 0, stream_of(*exec)>>>(col, nnz, counts);
  need_launch("a count of columns");
}

// ---- models

// The unit of tail.busiest for kernels that add to y by atomics: additions to one element, which wait for each other.
// The other terms are as for all products (spmv_terms).
inline constexpr double same_element_s = 1.8e-9;  // as measured on an H200 for a column of 46500 entries
inline constexpr double scatter_term_defaults[] = {NAN,     NAN,     NAN,  NAN,  NAN,  NAN,
                                                   1.3e-11, 4.5e-12, 5e-7, 1e-9, 1e-7, same_element_s};
static_assert(std::size(scatter_term_defaults) == spmv_term_count);

}  // namespace sextant::plugin::cuda
