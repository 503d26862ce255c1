// SPDX-License-Identifier: BSD-3-Clause
// The tiles of vector.stream.cuda: device code, compiled for each type in a separate file.
#pragma once

#include "plugins/vector/shared/cuda/vector_run.hpp"

namespace sextant::vector_cuda {

namespace cuda = sextant::plugin::cuda;
using namespace cuda::vectors;

inline constexpr std::int64_t most_blocks = (std::int64_t{1} << 31) - 1;

template <Reads reads, Passing passing, class T, int width, int flight>
__global__ void __launch_bounds__(512)
    tile(std::int32_t operation, std::int64_t n, cuda::Scalar<T> alpha_at, cuda::Scalar<T> beta_at, Operands operands) {
  cuda::await_predecessor();
  cuda::release_successor();
  const T alpha = alpha_at(), beta = beta_at();
  const std::int64_t groups = n / width, first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x;
  take_groups<reads, passing, T, width, flight>(operation, alpha, beta, operands, first * flight + threadIdx.x,
                                                blockDim.x, groups);
  // Adjacent groups of one block lie in one stretch of memory: reads and writes then disturb each other least.
  if (width > 1) take_last<reads, T>(operation, alpha, beta, operands, groups * width + first + threadIdx.x, n);
}

struct Tiles {
  static constexpr Way loaded[] = {{256, 1, true, Passing::usual},
                                   {256, 1, true, Passing::streamed},
                                   {256, 2, true, Passing::unkept},
                                   {256, 4, true, Passing::unkept}};
  // f(kernel, elements a thread takes); arrays that are not aligned are taken element by element.
  template <Reads reads, class T, class F>
  static sxt_status with_kernel(const Way &way, bool whole_groups, F &&f) {
    constexpr int width = group_bytes / sizeof(T);
    if (!whole_groups) return f(tile<reads, Passing::usual, T, 1, 4>, 4);
    if (way.flight == 4) return f(tile<reads, Passing::unkept, T, width, 4>, 4 * width);
    if (way.flight == 2) return f(tile<reads, Passing::unkept, T, width, 2>, 2 * width);
    if (way.passing == Passing::streamed) return f(tile<reads, Passing::streamed, T, width, 1>, width);
    return f(tile<reads, Passing::usual, T, width, 1>, width);
  }
  static std::int64_t most_blocks(const VectorState &) { return vector_cuda::most_blocks; }
};

}  // namespace sextant::vector_cuda
