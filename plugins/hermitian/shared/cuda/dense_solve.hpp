// SPDX-License-Identifier: BSD-3-Clause
// Triangular solves of one block with one system of a set in device memory, a tile of 32 unknowns at a time. Each
// element of the factor is read once; whether solved unknowns are pushed to or pulled by the others depends on which
// side of the factor lies contiguous in memory. Include from .cu files. All threads of the block call.
#pragma once

#include "sextant/sdk/cuda/dense.hpp"

#ifdef __CUDACC__

namespace sextant::plugin::cuda::dense {

constexpr int solve_tile = 32;

// L x = b or, back, L^H x = b.
template <class T>
struct Triangle {
  const System<T> &system;
  T (*tile)[solve_tile + 1];  // in shared memory
  bool back;

  // Row t, column s of L or L^H.
  __device__ T at(int t, int s) const { return back ? conjugate(*system.at(s, t)) : *system.at(t, s); }
  __device__ bool contiguous_targets() const { return (back ? system.column : system.row) == 1; }

  __device__ void load_tile(int first, int count) const {
    for (int e = threadIdx.x; e < solve_tile * solve_tile; e += blockDim.x) {
      // Adjacent threads read adjacent addresses, for either triangle.
      const int fast = e % solve_tile, slow = e / solve_tile;
      const int r = system.row == 1 ? fast : slow, c = system.row == 1 ? slow : fast;
      tile[r][c] = r < count && c <= r ? *system.at(first + r, first + c) : T{};
    }
  }

  // Subtracts the contributions of the solved unknowns (`from` up to `to`) from each unknown of the tile: a warp an
  // unknown.
  __device__ void pull(int first, int count, int from, int to) const {
    const int lane = threadIdx.x % 32;
    for (int e = threadIdx.x / 32; e < count * system.n_rhs; e += blockDim.x / 32) {
      const int t = first + e % count, k = e / count;
      T total{};
      for (int s = from + lane; s < to; s += 32) total = plus_product(total, at(t, s), system.right(s, k));
#pragma unroll
      for (int bits = 16; bits > 0; bits /= 2) total = sum(total, from_lane_xor(~0u, total, bits));
      if (lane == 0) system.put_right(t, k, difference(system.right(t, k), total));
    }
  }
  // Subtracts the tile's part from the unknowns `from` up to `to`: a thread an unknown.
  __device__ void push(int first, int count, int from, int to) const {
    for (int k = 0; k < system.n_rhs; ++k)
      for (int t = from + threadIdx.x; t < to; t += blockDim.x) {
        T value = system.right(t, k);
#pragma unroll 8
        for (int s = first; s < first + count; ++s) value = minus_product(value, at(t, s), system.right(s, k));
        system.put_right(t, k, value);
      }
  }
  // A warp a right-hand side, a lane an unknown.
  __device__ void solve_diagonal(int first, int count) const {
    const int lane = threadIdx.x % 32;
    for (int k = threadIdx.x / 32; k < system.n_rhs; k += blockDim.x / 32) {
      T value = lane < count ? system.right(first + lane, k) : T{};
      const Real<T> inverse = lane < count ? 1 / real_of(tile[lane][lane]) : Real<T>(0);
      for (int i = 0; i < count; ++i) {
        const int j = back ? count - 1 - i : i;
        if (lane == j) value = scaled(value, inverse);
        const T solved = from_lane(~0u, value, j);
        if (back ? lane < j : lane > j)
          value = minus_product(value, back ? conjugate(tile[j][lane]) : tile[lane][j], solved);
      }
      if (lane < count) system.put_right(first + lane, k, value);
    }
  }

  __device__ void solve() const {
    const int n = system.n, tiles = (n + solve_tile - 1) / solve_tile;
    for (int i = 0; i < tiles; ++i) {
      const int first = (back ? tiles - 1 - i : i) * solve_tile, count = min(solve_tile, n - first);
      if (!contiguous_targets()) pull(first, count, back ? first + count : 0, back ? n : first);
      load_tile(first, count);
      __syncthreads();
      solve_diagonal(first, count);
      __syncthreads();
      if (contiguous_targets()) push(first, count, back ? 0 : first + count, back ? first : n);
      __syncthreads();
    }
  }
};

}  // namespace sextant::plugin::cuda::dense

#endif  // __CUDACC__
