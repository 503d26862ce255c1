// SPDX-License-Identifier: BSD-3-Clause
// Blocks of 16 x 16 in shared memory: where each stands, and how its elements lie.
#pragma once

#include <cstdint>

#include "sextant/plugin_cuda_dense_product.hpp"

namespace sextant::hermitian_tile {

namespace dense = sextant::plugin::cuda::dense;
using dense::Real;

constexpr int side = 16, block_size = side * side;  // side: that of dense::Product
constexpr int most_blocks_a_side = 28;              // what shared memory holds of f32

// Where block (r, p), r >= p, of the factor stands. A block is needed from the elimination of block column p to that of
// block column r; afterwards its place is given to another one, so that a triangle of P block rows takes only
// about (P + 1)^2 / 4 places.
struct Places {
  std::uint8_t place[most_blocks_a_side * (most_blocks_a_side + 1) / 2];
  std::int32_t count;  // places in use at most
  SXT_DENSE_BOTH static constexpr int index(int r, int p) { return r * (r + 1) / 2 + p; }
};

// Block columns one after the other; each takes the lowest free places.
inline Places places_for(int rows) {
  Places places{};
  bool used[256] = {};
  for (int q = 0; q < rows; ++q) {
    for (int p = 0; q > 0 && p < q; ++p) used[places.place[Places::index(q - 1, p)]] = false;
    int next = 0;
    for (int r = q; r < rows; ++r) {
      while (used[next]) ++next;
      used[next] = true;
      places.place[Places::index(r, q)] = static_cast<std::uint8_t>(next);
      if (next >= places.count) places.count = next + 1;
    }
  }
  return places;
}

#ifdef __CUDACC__

// Element (r, k) of a block lies at offset<T>(r, k): columns together, rows exchanged so that the lanes of a fragment
// (8 rows x 4 columns) meet different banks.
template <class T>
__device__ __forceinline__ int offset(int r, int k) {
  constexpr int size = sizeof(T);
  const int exchanged = size == 16 ? (k & 3) << 1 : size == 8 ? (k & 3) << 2 : (k & 2) << 2;
  return k * side + (r ^ exchanged);
}

#endif  // __CUDACC__

}  // namespace sextant::hermitian_tile
