// SPDX-License-Identifier: BSD-3-Clause
// The strides of vector.persistent.cuda: device code and its launch. Instantiated for each type in a file of its own.
#pragma once

#include "sextant/plugin_cuda_vector.hpp"

namespace sextant::vector_persistent {

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;
using namespace cuda::vectors;

inline constexpr const char *what = "a vector operation";

// Loads the code for every operation on this type, so that no run has to.
template <class T>
sxt_status load_strides(const sxt_exec *exec);
// Any operation but gather and scatter, on at most so many blocks.
template <class T>
sxt_status launch_strides(const VectorState &state, const sxt_vector_args &args, const sxt_exec *exec);

namespace strides {

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

// Calls f(kernel, elements of a group); arrays that are not aligned are taken element by element.
template <Reads reads, class T, class F>
sxt_status with_kernel(const Way &way, bool whole_groups, F &&f) {
  constexpr int width = group_bytes / sizeof(T);
  if (!whole_groups) return f(strided<reads, Passing::usual, T, 1, 2>, 1);
  if (way.flight == 2) return f(strided<reads, Passing::unkept, T, width, 2>, width);
  return f(strided<reads, Passing::usual, T, width, 1>, width);
}

}  // namespace strides

#ifdef SEXTANT_VECTOR_PERSISTENT_TYPE
template <class T>
sxt_status load_strides(const sxt_exec *exec) {
  constexpr Way each[] = {{256, 1, false, Passing::usual}, {256, 2, false, Passing::unkept}};
  const auto ready = [&](auto kernel, int) { return cuda::load(exec, kernel); };
  sxt_status status = SXT_OK;
  for (const std::int32_t operation :
       {SXT_VECTOR_FILL, SXT_VECTOR_COPY, SXT_VECTOR_SCALE, SXT_VECTOR_AXPY, SXT_VECTOR_REAL_MULTIPLY})
    with_reads(operation, [&](auto reads) {
      for (const Way &way : each)
        if (status == SXT_OK) status = strides::with_kernel<decltype(reads)::value, T>(way, true, ready);
      if (status == SXT_OK) status = strides::with_kernel<decltype(reads)::value, T>(each[0], false, ready);
    });
  return status;
}

template <class T>
sxt_status launch_strides(const VectorState &state, const sxt_vector_args &args, const sxt_exec *exec) {
  const Operands operands = operands_of(args);
  return with_reads(args.operation, [&](auto reads) {
    return strides::with_kernel<decltype(reads)::value, T>(state.way, aligned(operands), [&](auto kernel, int width) {
      const std::int64_t groups = cuda::divide_up<std::int64_t>(args.n, width);
      const unsigned blocks = cuda::blocks_for(groups, state.way.threads, state.blocks);
      return cuda::launch_chained(exec, state.way.early, what, kernel, blocks, static_cast<unsigned>(state.way.threads),
                                  0, args.operation, args.n, cuda::scalar_of(args.alpha, number<T>(1)),
                                  cuda::scalar_of(args.beta, number<T>(1)), operands);
    });
  });
}

template sxt_status load_strides<SEXTANT_VECTOR_PERSISTENT_TYPE>(const sxt_exec *);
template sxt_status launch_strides<SEXTANT_VECTOR_PERSISTENT_TYPE>(const VectorState &, const sxt_vector_args &,
                                                                   const sxt_exec *);
#endif

}  // namespace sextant::vector_persistent
