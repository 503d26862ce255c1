// SPDX-License-Identifier: BSD-3-Clause
// The structure as kernels see it: arrays in device space.
#pragma once

#include <cstdint>

namespace sextant_cholesky {

struct Tables {
  std::int64_t n, n_factored, n_super;
  const std::int64_t *super_ptr, *row_ptr, *value_ptr;
  const std::int32_t *rows, *super_of;
#ifdef __CUDACC__
  __device__ int width(int p) const { return static_cast<int>(super_ptr[p + 1] - super_ptr[p]); }
  __device__ int height(int p) const { return static_cast<int>(row_ptr[p + 1] - row_ptr[p]); }
  __device__ const std::int32_t *rows_of(int p) const { return rows + row_ptr[p]; }
  // Where (j, j) lies in a factor.
  __device__ std::int64_t diagonal(std::int64_t j) const {
    const int p = super_of[j];
    return value_ptr[p] + (j - super_ptr[p]) * (row_ptr[p + 1] - row_ptr[p] + 1);
  }
#endif
};

#ifdef __CUDACC__
// The first of count ascending numbers that is not less than `row`.
__device__ inline int lower_bound_of(const std::int32_t *list, int count, std::int32_t row) {
  int first = 0;
  while (count > 0) {
    const int half = count / 2;
    if (list[first + half] < row)
      first += half + 1, count -= half + 1;
    else
      count = half;
  }
  return first;
}
#endif

}  // namespace sextant_cholesky
