// SPDX-License-Identifier: BSD-3-Clause
// The strides of vector.persistent.cuda: device code, compiled for each type in a separate file.
#pragma once

#include "plugins/vector/shared/cuda/vector_run.hpp"

namespace sextant::vector_persistent {

namespace cuda = sextant::plugin::cuda;
using namespace cuda::vectors;

template <Reads reads, Passing passing, class T, int width, int flight>
__global__ void __launch_bounds__(1024) strided(std::int32_t operation, std::int64_t n, cuda::Scalar<T> alpha_at,
                                                cuda::Scalar<T> beta_at, Operands operands) {
  cuda::await_predecessor();
  cuda::release_successor();
  const T alpha = alpha_at(), beta = beta_at();
  const std::int64_t workers = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t worker = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x, groups = n / width;
  for (std::int64_t g = worker; g < groups; g += flight * workers)
    take_groups<reads, passing, T, width, flight>(operation, alpha, beta, operands, g, workers, groups);
  if (width > 1) take_last<reads, T>(operation, alpha, beta, operands, groups * width + worker, n);
}

struct Strides {
  static constexpr Way loaded[] = {{256, 1, true, Passing::usual}, {256, 2, true, Passing::unkept}};
  // f(kernel, elements of a group); arrays that are not aligned are taken element by element.
  template <Reads reads, class T, class F>
  static sxt_status with_kernel(const Way &way, bool whole_groups, F &&f) {
    constexpr int width = group_bytes / sizeof(T);
    if (!whole_groups) return f(strided<reads, Passing::usual, T, 1, 2>, 1);
    if (way.flight == 2) return f(strided<reads, Passing::unkept, T, width, 2>, width);
    return f(strided<reads, Passing::usual, T, width, 1>, width);
  }
  static std::int64_t most_blocks(const VectorState &state) { return state.blocks; }
};

}  // namespace sextant::vector_persistent
