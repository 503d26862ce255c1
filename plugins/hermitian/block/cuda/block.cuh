// SPDX-License-Identifier: BSD-3-Clause
// Direct elimination of a set of Hermitian systems as published: a block a system, a warp a column, a lane a row, the
// pivot column in shared memory. Every element of the trailing triangle is read and written once a column: n^3 / 3
// elements of traffic through the caches, which bounds it. Other kernels are compared with it.
#pragma once

#include "plugins/hermitian/shared/cuda/dense_solve.hpp"

namespace sextant::hermitian_block {

namespace dense = sextant::plugin::cuda::dense;
using dense::Real;

template <class T>
constexpr std::size_t shared_bytes(std::int64_t n_max) {
  return (static_cast<std::size_t>(n_max) + dense::solve_tile * (dense::solve_tile + 1)) * sizeof(T);
}

#ifdef __CUDACC__

// A(r, c) -= pivot(r) conj(pivot(c)) behind column j. Warps take the strided dimension in memory, lanes the contiguous
// one: columns and rows of the lower triangle, rows and columns of the upper one.
template <class T>
__device__ void update_trailing(const dense::System<T> &system, const T *pivot, int j) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32, n = system.n;
  const bool by_columns = system.row == 1;
  for (int o = j + 1 + warp; o < n; o += warps) {
    const T outer = by_columns ? dense::conjugate(pivot[o]) : pivot[o];
    const int from = by_columns ? o : j + 1, to = by_columns ? n : o + 1;
#pragma unroll 4
    for (int i = from + lane; i < to; i += 32) {
      T *element = by_columns ? system.at(i, o) : system.at(o, i);
      const T inner = by_columns ? pivot[i] : dense::conjugate(pivot[i]);
      T value = dense::minus_product(*element, inner, outer);
      if (i == o) value = dense::from_real<T>(dense::real_of(value));
      *element = value;
    }
  }
}

// Right-hand sides are further columns: a warp each.
template <class T>
__device__ void update_right(const dense::System<T> &system, const T *pivot, int j, Real<T> inverse) {
  const int lane = threadIdx.x % 32;
  for (int k = threadIdx.x / 32; k < system.n_rhs; k += blockDim.x / 32) {
    const T y = dense::scaled(system.right(j, k), inverse);
    __syncwarp();
    if (lane == 0) system.put_right(j, k, y);
    for (int r = j + 1 + lane; r < system.n; r += 32)
      system.put_right(r, k, dense::minus_product(system.right(r, k), pivot[r], y));
  }
}

// L L^H = A in place, and L y = b: the code for info.
template <class T>
__device__ std::int32_t eliminate(const dense::System<T> &system, T *pivot) {
  for (int j = 0; j < system.n; ++j) {
    const Real<T> squared = dense::real_of(*system.at(j, j));
    if (const std::int32_t code = dense::judge_pivot(squared, j)) return code;  // all threads see the same pivot
    const Real<T> diagonal = sqrt(squared), inverse = 1 / diagonal;
    for (int r = j + 1 + threadIdx.x; r < system.n; r += blockDim.x)
      *system.at(r, j) = pivot[r] = dense::scaled(*system.at(r, j), inverse);
    __syncthreads();
    if (threadIdx.x == 0) *system.at(j, j) = dense::from_real<T>(diagonal);
    update_trailing(system, pivot, j);
    update_right(system, pivot, j, inverse);
    __syncthreads();
  }
  return 0;
}

// y := S y, between the two triangles of L S L^H.
template <class T>
__device__ void take_signs(const dense::System<T> &system) {
  for (int i = threadIdx.x; i < system.n; i += blockDim.x)
    if (dense::real_of(*system.at(i, i)) < 0)
      for (int k = 0; k < system.n_rhs; ++k) system.put_right(i, k, dense::scaled(system.right(i, k), Real<T>(-1)));
  __syncthreads();
}

// phase as in plugin/kinds/hermitian.h; with_signs: a solve of L S L^H. Dynamic shared memory: shared_bytes<T>(n_max).
template <class T>
__global__ void __launch_bounds__(1024) block_a_system(const dense::Set set, std::int32_t phase, bool with_signs) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto *tile = reinterpret_cast<T(*)[dense::solve_tile + 1]>(memory);
  T *pivot = reinterpret_cast<T *>(memory) + dense::solve_tile * (dense::solve_tile + 1);
  const dense::System<T> system = dense::definite_system<T>(set, blockIdx.x);
  if (!dense::takes_part(set, blockIdx.x, phase, system, threadIdx.x == 0)) return;
  if (phase & SXT_HERMITIAN_FACTOR) {
    const std::int32_t code = eliminate(system, pivot);
    if (threadIdx.x == 0) set.info[blockIdx.x] = code;
    if (code != 0) return;
  }
  if (system.n_rhs == 0) return;
  if (phase == SXT_HERMITIAN_SOLVE) dense::Triangle<T>{system, tile, false}.solve();
  if (with_signs) take_signs(system);
  dense::Triangle<T>{system, tile, true}.solve();
}

#endif  // __CUDACC__

}  // namespace sextant::hermitian_block
