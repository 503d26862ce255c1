// SPDX-License-Identifier: BSD-3-Clause
// The tiles of vector.stream.cuda: device code and its launch. Instantiated for each type in a file of its own.
#pragma once

#include "sextant/plugin_cuda_vector.hpp"

namespace sextant::vector_cuda {

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;
using namespace cuda::vectors;

inline constexpr const char *what = "a vector operation";
// What a launch that begins early takes of an ordinary one, before a calibration.
inline constexpr double early_launch = 0.7;

// Loads the code for every operation on this type, so that no run has to.
template <class T>
sxt_status load_tiles(const sxt_exec *exec);
// Any operation but gather and scatter.
template <class T>
sxt_status launch_tiles(const Way &way, const sxt_vector_args &args, const sxt_exec *exec);

namespace tiles {

template <Reads reads, Passing passing, class T, int width, int flight>
__global__ void __launch_bounds__(512)
    tile(std::int32_t operation, std::int64_t n, cuda::Scalar<T> alpha_at, cuda::Scalar<T> beta_at, Operands operands) {
  cuda::await_predecessor();
  cuda::release_successor();
  const T alpha = alpha_at(), beta = beta_at();
  const std::int64_t groups = n / width, first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x;
  take_groups<reads, passing, T, width, flight>(operation, alpha, beta, operands, first * flight + threadIdx.x,
                                                blockDim.x, groups);
  // Neighbouring groups of one block lie in one stretch of memory: reads and writes disturb each other least so.
  if (width > 1) take_last<reads, T>(operation, alpha, beta, operands, groups * width + first + threadIdx.x, n);
}

// Calls f(kernel, elements a thread takes) for the way; arrays that are not aligned are taken element by element.
template <Reads reads, class T, class F>
sxt_status with_kernel(const Way &way, bool whole_groups, F &&f) {
  constexpr int width = group_bytes / sizeof(T);
  if (!whole_groups) return f(tile<reads, Passing::usual, T, 1, 4>, 4);
  if (way.flight == 4) return f(tile<reads, Passing::unkept, T, width, 4>, 4 * width);
  if (way.flight == 2) return f(tile<reads, Passing::unkept, T, width, 2>, 2 * width);
  if (way.passing == Passing::streamed) return f(tile<reads, Passing::streamed, T, width, 1>, width);
  return f(tile<reads, Passing::usual, T, width, 1>, width);
}

}  // namespace tiles

#ifdef SEXTANT_VECTOR_STREAM_TYPE
template <class T>
sxt_status load_tiles(const sxt_exec *exec) {
  constexpr Way each[] = {{128, 1, false, Passing::usual},
                          {128, 1, false, Passing::streamed},
                          {128, 2, false, Passing::unkept},
                          {128, 4, false, Passing::unkept}};
  const auto ready = [&](auto kernel, int) { return cuda::load(exec, kernel); };
  sxt_status status = SXT_OK;
  for (const std::int32_t operation :
       {SXT_VECTOR_FILL, SXT_VECTOR_COPY, SXT_VECTOR_SCALE, SXT_VECTOR_AXPY, SXT_VECTOR_REAL_MULTIPLY})
    with_reads(operation, [&](auto reads) {
      for (const Way &way : each)
        if (status == SXT_OK) status = tiles::with_kernel<decltype(reads)::value, T>(way, true, ready);
      if (status == SXT_OK) status = tiles::with_kernel<decltype(reads)::value, T>(each[0], false, ready);
    });
  return status;
}

template <class T>
sxt_status launch_tiles(const Way &way, const sxt_vector_args &args, const sxt_exec *exec) {
  const Operands operands = operands_of(args);
  return with_reads(args.operation, [&](auto reads) {
    return tiles::with_kernel<decltype(reads)::value, T>(way, aligned(operands), [&](auto kernel, int elements) {
      const std::int64_t work = cuda::divide_up<std::int64_t>(args.n, elements);
      const auto blocks = static_cast<unsigned>(cuda::divide_up(work, way.threads));
      return cuda::launch_chained(exec, way.early, what, kernel, blocks, static_cast<unsigned>(way.threads), 0,
                                  args.operation, args.n, cuda::scalar_of(args.alpha, number<T>(1)),
                                  cuda::scalar_of(args.beta, number<T>(1)), operands);
    });
  });
}

template sxt_status load_tiles<SEXTANT_VECTOR_STREAM_TYPE>(const sxt_exec *);
template sxt_status launch_tiles<SEXTANT_VECTOR_STREAM_TYPE>(const Way &, const sxt_vector_args &, const sxt_exec *);
#endif

}  // namespace sextant::vector_cuda
