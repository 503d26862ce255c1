// SPDX-License-Identifier: BSD-3-Clause
// How the elements of 16 x 16 blocks lie in shared memory.
#pragma once

#include "plugins/hermitian/shared/cuda/dense_product.hpp"
#include "tile_places.hpp"

namespace sextant::hermitian_tile {

namespace dense = sextant::plugin::cuda::dense;
using dense::Real;

#ifdef __CUDACC__

// Element (r, k) of a block lies at offset<T>(r, k): columns together, rows exchanged so that the lanes of a fragment
// (8 rows x 4 columns) use different banks.
template <class T>
__device__ __forceinline__ int offset(int r, int k) {
  constexpr int size = sizeof(T);
  const int exchanged = size == 16 ? (k & 3) << 1 : size == 8 ? (k & 3) << 2 : (k & 2) << 2;
  return k * side + (r ^ exchanged);
}

// The row of column c to take in turn i: other banks in each lane where lanes are columns.
template <class T>
__device__ __forceinline__ int row_in_turn(int i, int c) {
  return i ^ c ^ offset<T>(0, c) % side;
}

#endif  // __CUDACC__

}  // namespace sextant::hermitian_tile
