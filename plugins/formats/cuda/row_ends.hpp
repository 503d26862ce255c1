// SPDX-License-Identifier: BSD-3-Clause
// y = alpha A x + beta y by segmented sums (Blelloch, Heroux and Zagha, CMU-CS-93-173, 1993): the entries of a matrix
// in equal tiles, a block each, for any row lengths. A product needs to know only which entries end a row and how many
// rows ended before: eight bytes for 32 entries. A lane takes four consecutive entries, one scan over the warp closes
// the rows that cross lanes, shared memory those that cross warps. A tile begins where a row does, so that no two
// blocks share a row unless it is long: of such a row each block sends its part to the block where the row ends
// (plugins/formats/cuda/parts.hpp). Those blocks come first, so that the others' work hides the transfer of the parts,
// and wait only for blocks of lower numbers. One launch, no atomics: bits depend only on the tiles. value + 4.25 bytes
// an entry; bound: the sectors of x, or two loads that wait for each other where the matrix is small. Include from .cu
// files; plugins/formats/cuda/row_plan.hpp finds ends and tiles.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "plugins/formats/cuda/entry_tiles.hpp"
#include "plugins/formats/cuda/parts.hpp"
#include "sextant/sdk/cuda/chain.hpp"

namespace sextant::plugin::cuda {

inline constexpr int most_tile_threads = 256, most_tile_warps = most_tile_threads / 32;
inline constexpr int word_entries = 32;

// Of 32 entries: bit e is set where entry e ends a row; before: rows with an entry that ended before them.
struct alignas(8) EndsWord {
  std::uint32_t bits, before;
};
// A tile's entries. first: -1 where a row begins with the tile, else the tile where the row that goes on here began,
// from which on each tile has a part of it.
struct alignas(16) TileRecord {
  std::int64_t begin;
  std::int32_t count, first;
};

template <class M>
struct EndedEntries {
  const std::int32_t *col;
  const M *values;
  const EndsWord *ends;
  const TileRecord *tile;           // one a block, and one more, with first -1
  const std::int32_t *row_of_rank;  // rows with an entry, in order; NULL: all have one
  const std::int32_t *empty;        // rows without
  std::int32_t n_empty;
  bool aligned;     // columns and values to 16 bytes
  bool conjugated;  // values are taken conjugate
};

// Data that several lanes or warps of a block read.
template <class T>
__device__ __forceinline__ T shared_load(const T *p) {
  static_assert(sizeof(T) == 8 || sizeof(T) == 16);
  if constexpr (sizeof(T) == 8) {
    const int2 w = __ldg(reinterpret_cast<const int2 *>(p));
    return reinterpret_cast<const T &>(w);
  } else {
    const int4 w = __ldg(reinterpret_cast<const int4 *>(p));
    return reinterpret_cast<const T &>(w);
  }
}

// 16 bytes that the same warp's next load shares a sector with: through the L1 cache, which forgets them first.
template <class T>
__device__ __forceinline__ T briefly_kept(const T *p) {
  static_assert(sizeof(T) == 16);
  ulonglong2 w;
  asm volatile("ld.global.nc.L1::evict_first.v2.b64 {%0, %1}, [%2];" : "=l"(w.x), "=l"(w.y) : "l"(p));
  return reinterpret_cast<const T &>(w);
}

// A lane's four elements from `from`, those whose bit is set in `in`.
template <class T>
__device__ __forceinline__ void load_own(const T *from, bool aligned, unsigned in, T (&out)[own_entries]) {
  constexpr int each = sizeof(T) >= 16 ? 1 : 16 / sizeof(T);
  struct alignas(16) Group {
    T v[each];
  };
  if (aligned && in == (1u << own_entries) - 1) {
#pragma unroll
    for (int i = 0; i < own_entries / each; ++i) {
      const auto *piece = reinterpret_cast<const Group *>(from) + i;
      const Group group = each == own_entries ? streamed(piece) : briefly_kept(piece);
#pragma unroll
      for (int j = 0; j < each; ++j) out[i * each + j] = group.v[j];
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < own_entries; ++j) out[j] = in >> j & 1 ? streamed(from + j) : T{};
}

// A lane's share of a tile: its four entries, those of them that belong to the tile, and what rows they end.
template <class M>
struct OwnEntries {
  std::int32_t col[own_entries];
  M value[own_entries];
  unsigned in = 0, ends = 0;
  std::int32_t rank = 0;  // of the row that the first of them belongs to

  __device__ __forceinline__ OwnEntries(const EndedEntries<M> &a, const TileRecord &tile) {
    const int skip = static_cast<int>(tile.begin & (own_entries - 1)), at = static_cast<int>(threadIdx.x) * own_entries;
    const int low = max(0, skip - at), high = min(own_entries, skip + tile.count - at);
    if (high <= low) {
#pragma unroll
      for (int j = 0; j < own_entries; ++j) col[j] = 0, value[j] = M{};
      return;
    }
    in = ((1u << high) - 1) & ~((1u << low) - 1);
    const auto k = static_cast<std::uint64_t>(tile.begin - skip + at);
    const EndsWord word = shared_load(a.ends + k / word_entries);
    load_own(a.col + k, a.aligned, in, col);
    load_own(a.values + k, a.aligned, in, value);
    const int shift = static_cast<int>(k % word_entries);
    ends = word.bits >> shift & in;
    rank = static_cast<std::int32_t>(word.before + __popc(word.bits & ((1u << (shift + low)) - 1)));
  }
};

// A lane's sums. put(rank, sums) is called at once for rows that begin and end in it.
template <class V, int R>
struct OwnSums {
  V head[R] = {}, tail[R] = {};  // up to its first end, if any; behind its last one

  template <class Put>
  __device__ __forceinline__ OwnSums(const V (&product)[own_entries][R], unsigned ends, std::int32_t rank, Put &&put) {
    const int first = __ffs(ends) - 1, last = 31 - __clz(ends);  // both -1 without an end
#pragma unroll
    for (int j = 0; j < own_entries; ++j)
#pragma unroll
      for (int r = 0; r < R; ++r) {
        if (j <= first) head[r] = plus(head[r], product[j][r]);
        if (j > last) tail[r] = plus(tail[r], product[j][r]);
      }
    if (last <= first) return;
    V sum[R] = {};
#pragma unroll
    for (int j = 1; j < own_entries; ++j) {
      if (j <= first || j > last) continue;
#pragma unroll
      for (int r = 0; r < R; ++r) sum[r] = plus(sum[r], product[j][r]);
      if (!(ends >> j & 1)) continue;
      put(++rank, sum);
#pragma unroll
      for (int r = 0; r < R; ++r) sum[r] = V{};
    }
  }
};

// Data exchanged between warps: the sum of the row that each leaves open, and whether a row ends in it.
template <class V, int R>
struct WarpTails {
  V open[most_tile_warps][R];
  bool ends[most_tile_warps];
};

// The sum that the warps before have of the row that comes in; `whole`: it came in with the tile.
template <class V, int R>
__device__ __forceinline__ void sum_before(const WarpTails<V, R> &tails, int warp, V (&sum)[R], bool &whole) {
#pragma unroll
  for (int r = 0; r < R; ++r) sum[r] = V{};
  for (whole = true; warp-- > 0 && whole; whole = !tails.ends[warp])
#pragma unroll
    for (int r = 0; r < R; ++r) sum[r] = plus(tails.open[warp][r], sum[r]);
}

// The number of blocks that a multiprocessor should hold: registers for all its warps where values are small, as loads
// on their way are what it waits for.
template <class V, int R>
inline constexpr int tiles_a_unit = R == 1 && sizeof(V) <= 8 ? 2048 / most_tile_threads : 1;

// R columns of x and y at once. packets: R a tile; NULL where no row is cut.
template <class V, class M, int R>
__global__ void __launch_bounds__(most_tile_threads, tiles_a_unit<V, R>)
    multiply_ended_rows(EndedEntries<M> a, Product<V> p, ulonglong2 *packets) {
  __shared__ WarpTails<V, R> tails;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const TileRecord tile = shared_load(a.tile + blockIdx.x);
  const bool sends = warp == warps - 1 && __ldg(&a.tile[blockIdx.x + 1].first) >= 0;
  const OwnEntries<M> own(a, tile);
  // The numbers of empty rows are loaded together with x: after the sums it would be one more load to wait for.
  std::int32_t own_row = 0, empty_row = -1;
  unsigned empty = 0, empty_end = 0;  // the block's share of the empty rows
  if (a.n_empty > 0) {
    const auto n_empty = static_cast<unsigned>(a.n_empty), share = (n_empty + gridDim.x - 1) / gridDim.x;
    empty = blockIdx.x * share + threadIdx.x, empty_end = min(n_empty, (blockIdx.x + 1) * share);
    if (own.ends) own_row = __ldg(a.row_of_rank + own.rank);
    if (empty < empty_end) empty_row = __ldg(a.empty + empty);
  }
  await_predecessor();
  release_successor();
  const V alpha = p.alpha(), beta = p.beta();
  V product[own_entries][R];
#pragma unroll
  for (int j = 0; j < own_entries; ++j)
#pragma unroll
    for (int r = 0; r < R; ++r)
      product[j][r] = own.in >> j & 1 && (R == 1 || r < p.n_rhs) ? p.x[r * p.ldx + own.col[j]] : V{};
#pragma unroll
  for (int j = 0; j < own_entries; ++j) {
    const V wide = convert<V>(own.value[j]), factor = a.conjugated ? conjugated(wide) : wide;
#pragma unroll
    for (int r = 0; r < R; ++r)
      product[j][r] = own.in >> j & 1 ? times(factor, product[j][r]) : V{};  // beyond the tile may be anything
  }
  const auto put = [&](std::int32_t rank, const V(&sum)[R]) {
    std::int64_t i = rank;
    if (a.n_empty > 0) i = rank == own.rank ? own_row : __ldg(a.row_of_rank + rank);
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (R == 1 || r < p.n_rhs) store(p.y + r * p.ldy + i, sum[r], alpha, beta);
  };
  OwnSums<V, R> sums(product, own.ends, own.rank, put);
  const unsigned heads = __ballot_sync(whole_warp, own.ends != 0);
  const bool comes_in = (heads & ((1u << lane) - 1)) == 0;  // with the warp: no row ends in a lower lane
#pragma unroll
  for (int r = 0; r < R; ++r) {
    sums.tail[r] = segmented_scan(sums.tail[r], heads, lane);
    const V before = shuffled_up(sums.tail[r], 1);
    if (lane > 0) sums.head[r] = plus(before, sums.head[r]);
    if (lane == 31) tails.open[warp][r] = sums.tail[r];
  }
  if (lane == 31) tails.ends[warp] = heads != 0;
  if (own.ends != 0 && !comes_in) put(own.rank, sums.head);
  if (a.n_empty > 0) {
    for (unsigned e = empty; e < empty_end; e += blockDim.x)
#pragma unroll
      for (int r = 0; r < R; ++r)
        if (R == 1 || r < p.n_rhs)
          store(p.y + r * p.ldy + (e == empty ? empty_row : __ldg(a.empty + e)), V{}, alpha, beta);
  }
  __syncthreads();
  if (heads == 0 && !sends) return;
  V before[R];
  bool whole;
  sum_before(tails, warp, before, whole);
  if (whole && heads != 0 && tile.first >= 0) {
#pragma unroll
    for (int r = 0; r < R; ++r) before[r] = plus(receive_parts<V, R>(packets, tile.first, blockIdx.x, r), before[r]);
  }
  if (own.ends != 0 && comes_in) {
#pragma unroll
    for (int r = 0; r < R; ++r) sums.head[r] = plus(before[r], sums.head[r]);
    put(own.rank, sums.head);
  }
  if (!sends || lane < 31) return;
#pragma unroll
  for (int r = 0; r < R; ++r)
    send_part(packets, static_cast<std::int64_t>(blockIdx.x) * R + r,
              heads != 0 ? sums.tail[r] : plus(before[r], sums.tail[r]));
}

}  // namespace sextant::plugin::cuda
