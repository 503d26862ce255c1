// SPDX-License-Identifier: BSD-3-Clause
// Tiles of whole rows, one after the other, by persistent blocks: while the rows of one tile are summed from shared
// memory, the entries of the next are in flight. The caller decides the use of a finished element of y: the product
// alone, or with inner products in the same pass.
#pragma once

#include <cstdint>

#include "csr_tiles.cuh"

namespace sextant::spmv_csr_cuda {

template <class Offset>
struct Tile {
  std::int32_t first_row, rows;
  Offset begin, end;
};
template <class Offset>
__device__ __forceinline__ Tile<Offset> tile_at(const Tiles<Offset> &tiles, std::int32_t t) {
  const std::int32_t first = tiles.row[t];
  return {first, tiles.row[t + 1] - first, tiles.entry[t], tiles.entry[t + 1]};
}

// The beginnings of rows in a tile are loaded with its entries for this many rows a thread.
inline constexpr int bounds_a_thread = 3;

constexpr std::uint64_t shared_bytes(int items, int threads, bool twice, std::uint64_t value) {
  return (twice ? 2 : 1) * static_cast<std::uint64_t>(threads) *
         (items * value + bounds_a_thread * sizeof(std::int32_t));
}

// A tile's entries, as far as they fit, and the begins of its rows, into registers.
template <int items, class M, class Offset>
__device__ __forceinline__ void load_tile(const Csr<M, Offset> &a, const Tile<Offset> &tile, Share<items, M> &share,
                                          std::int32_t (&bound)[bounds_a_thread]) {
  const Offset capacity = items * blockDim.x;
  share.load(a, tile.begin, tile.end - tile.begin <= capacity ? tile.end : tile.begin + capacity);
#pragma unroll
  for (int q = 0; q < bounds_a_thread; ++q) {
    const int j = threadIdx.x + q * blockDim.x;
    bound[q] = j <= tile.rows ? static_cast<std::int32_t>(a.row_ptr[tile.first_row + j] - tile.begin) : 0;
  }
}

// store(i, sum) is called once for every row, by some thread. twice: two buffers in turn need one barrier a tile, not
// two.
template <int items, bool twice, class V, class M, class Offset, class Store>
__device__ __forceinline__ void multiply_tiles(const Csr<M, Offset> &a, const V *x, const Tiles<Offset> &tiles,
                                               Share<items, M> &share, std::int32_t (&bound)[bounds_a_thread],
                                               Tile<Offset> tile, unsigned char *shared, V *partial, Store &&store) {
  const int capacity = items * blockDim.x;
  V *products = reinterpret_cast<V *>(shared);
  auto *bounds = reinterpret_cast<std::int32_t *>(products + (twice ? 2 : 1) * capacity);
  for (std::int32_t t = blockIdx.x, turn = 0;; turn ^= 1) {
    V *own = products + (twice && turn ? capacity : 0);
    std::int32_t *own_bounds = bounds + (twice && turn ? bounds_a_thread * blockDim.x : 0);
    share.multiply(x, a.conjugated, own);
#pragma unroll
    for (int q = 0; q < bounds_a_thread; ++q)
      if (const int j = threadIdx.x + q * blockDim.x; j <= tile.rows) own_bounds[j] = bound[q];
    const std::int32_t next = t + gridDim.x;
    const bool more = next < tiles.count;
    const Tile<Offset> after = more ? tile_at(tiles, next) : tile;
    __syncthreads();
    if (more) load_tile(a, after, share, bound);
    const bool fits = tile.end - tile.begin <= capacity;
    const bool brought = tile.rows < bounds_a_thread * static_cast<int>(blockDim.x);
    sum_rows(
        fits ? tile.rows : tile.rows - 1,
        [&](int j, int &from, int &to) {
          const Offset *at = a.row_ptr + tile.first_row + j;
          from = brought ? own_bounds[j] : static_cast<int>(at[0] - tile.begin);
          to = brought ? own_bounds[j + 1] : static_cast<int>(at[1] - tile.begin);
        },
        own, partial, [&](int j, V sum) { store(tile.first_row + j, sum); });
    if (!fits) {
      const std::int32_t last = tile.first_row + tile.rows - 1;
      const V sum = sum_of_block(gather_part<4>(a, x, a.row_ptr[last], tile.end), partial);
      if (threadIdx.x == 0) store(last, sum);
    }
    if (!more) return;
    if (!twice || !fits || tile.rows <= few_rows) __syncthreads();  // the memory read is overwritten
    t = next;
    tile = after;
  }
}

template <int items, bool twice, class V, class M, class Offset>
__global__ void __launch_bounds__(most_threads)
    adaptive_kernel(Csr<M, Offset> a, cuda::Product<V> p, Tiles<Offset> tiles) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ V partial[few_rows * most_warps];
  const Tile<Offset> tile = tile_at(tiles, blockIdx.x);
  Share<items, M> share;
  std::int32_t bound[bounds_a_thread];
  load_tile(a, tile, share, bound);
  cuda::await_predecessor();
  cuda::release_successor();
  const V alpha = p.alpha(), beta = p.beta();
  multiply_tiles<items, twice>(a, p.x, tiles, share, bound, tile, shared, partial,
                               [&](std::int32_t i, V sum) { cuda::store(p.y + i, sum, alpha, beta); });
}

}  // namespace sextant::spmv_csr_cuda
