// SPDX-License-Identifier: BSD-3-Clause
// P A P^T of a CSR on the device, columns ascending, and the position of each of its entries in A. Rows up to short_row
// entries are sorted by some lanes of a warp, which count how many columns are less; of longer ones, tiles are sorted
// by a block each (bitonic, in shared memory: Batcher 1968), and merged by the whole device in rounds, in which each
// entry finds its place by a search in the run beside its own. Columns of a row differ, so the result is unique. Bytes:
// an entry of A is read once, with one gathered number, and written once; 12 + offset more a round.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sextant/sdk/cuda/storage.hpp"

namespace sextant::storage_csr_cuda {

namespace cuda = plugin::cuda;

inline constexpr int threads = cuda::visit_threads;
inline constexpr std::int32_t short_row = 128, tile = 2048, fewest_lanes = 4;

template <class O>
struct Permutation {
  const O *row_ptr;  // A's
  const std::int32_t *col, *perm;
  std::int64_t n;
  std::int32_t *place;  // perm's inverse
  O *to_ptr;            // of P A P^T
};

// Entries being sorted: those of P A P^T, or a copy without the short rows.
template <class O>
struct Run {
  std::int32_t *col;
  O *from;
  const O *row_ptr;              // NULL: a copy
  const std::int32_t *tile_ptr;  // a row's tiles
  __device__ std::int64_t begin(std::int64_t row) const {
    return row_ptr ? static_cast<std::int64_t>(row_ptr[row]) : static_cast<std::int64_t>(tile_ptr[row]) * tile;
  }
};

// Lengths in the new order, with a last 0 for the prefix sum; and the longest.
template <class O>
struct MeasureRows {
  Permutation<O> p;
  std::int32_t *longest;
  __device__ void operator()(std::int64_t k) const {
    if (k == p.n) {
      p.to_ptr[k] = 0;
      return;
    }
    const std::int32_t row = p.perm[k];
    p.place[row] = static_cast<std::int32_t>(k);
    p.to_ptr[k] = p.row_ptr[row + 1] - p.row_ptr[row];
    const auto length = static_cast<std::int32_t>(p.to_ptr[k]);
    if (length > *static_cast<volatile std::int32_t *>(longest)) atomicMax(longest, length);
  }
};

// `lanes` of a warp a row, a power of two: they leave rows longer than short_row alone.
template <class O>
__global__ void __launch_bounds__(threads) move_short_rows(Permutation<O> p, Run<O> to, int lanes) {
  __shared__ std::int32_t columns[threads / fewest_lanes * short_row];
  const auto own = static_cast<int>(threadIdx.x) / lanes, lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * (threads / lanes) + own;
  const std::int32_t row = k < p.n ? p.perm[k] : 0;
  const O first = k < p.n ? p.row_ptr[row] : O(0), at = k < p.n ? p.to_ptr[k] : O(0);
  const std::int64_t length = k < p.n ? static_cast<std::int64_t>(p.row_ptr[row + 1] - first) : 0;
  const int count = length > short_row ? 0 : static_cast<int>(length);
  std::int32_t *const mine = columns + own * short_row;
  for (int e = lane; e < count; e += lanes) mine[e] = p.place[p.col[first + e]];
  __syncwarp();
  for (int e = lane; e < count; e += lanes) {
    const std::int32_t column = mine[e];
    int rank = 0;
    for (int other = 0; other < count; ++other) rank += mine[other] < column;
    to.col[at + rank] = column;
    to.from[at + rank] = first + e;
  }
}

struct CountTiles {
  const void *row_ptr;
  std::int64_t n;
  bool wide;
  std::int32_t *tiles;
  __device__ std::int64_t begin(std::int64_t k) const {
    return wide ? static_cast<const std::int64_t *>(row_ptr)[k] : static_cast<const std::int32_t *>(row_ptr)[k];
  }
  __device__ void operator()(std::int64_t k) const {
    const std::int64_t length = k < n ? begin(k + 1) - begin(k) : 0;
    tiles[k] = length > short_row ? static_cast<std::int32_t>((length + tile - 1) / tile) : 0;
  }
};

// A block's part of a long row: entries begin .. end-1 of the row's `length`.
struct Tile {
  std::int64_t row, length, begin, end;
  template <class O>
  static __device__ Tile of_block(const Permutation<O> &p, const std::int32_t *tile_ptr) {
    const auto b = static_cast<std::int64_t>(blockIdx.x);
    Tile t{};
    t.row = cuda::row_of_entry(tile_ptr, 0, p.n, b);
    t.length = static_cast<std::int64_t>(p.to_ptr[t.row + 1] - p.to_ptr[t.row]);
    t.begin = (b - tile_ptr[t.row]) * tile;
    t.end = min(t.length, t.begin + tile);
    return t;
  }
};

template <class O>
__global__ void __launch_bounds__(threads) sort_tiles(Permutation<O> p, Run<O> to) {
  __shared__ unsigned long long entries[tile];  // new column, and place in the tile
  const Tile t = Tile::of_block(p, to.tile_ptr);
  const auto count = static_cast<int>(t.end - t.begin);
  const O first = p.row_ptr[p.perm[t.row]] + static_cast<O>(t.begin);
  int slots = 1;
  while (slots < count) slots *= 2;
  for (int e = static_cast<int>(threadIdx.x); e < slots; e += threads)
    entries[e] =
        e < count ? static_cast<unsigned long long>(p.place[p.col[first + e]]) << 32 | static_cast<unsigned>(e) : ~0ull;
  for (int size = 2; size <= slots; size *= 2)
    for (int distance = size / 2; distance > 0; distance /= 2) {
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x); i < slots / 2; i += threads) {
        const int low = 2 * i - (i & (distance - 1)), high = low + distance;
        const bool ascending = (low & size) == 0;
        const unsigned long long a = entries[low], b = entries[high];
        if ((a > b) == ascending) entries[low] = b, entries[high] = a;
      }
    }
  __syncthreads();
  const std::int64_t at = to.begin(t.row) + t.begin;
  for (int e = static_cast<int>(threadIdx.x); e < count; e += threads) {
    to.col[at + e] = static_cast<std::int32_t>(entries[e] >> 32);
    to.from[at + e] = first + static_cast<O>(entries[e] & 0xffffffffu);
  }
}

// Runs of `width` entries become runs of twice as many.
template <class O>
__global__ void __launch_bounds__(threads) merge_runs(Permutation<O> p, Run<O> from, Run<O> to, std::int64_t width) {
  const Tile t = Tile::of_block(p, to.tile_ptr);
  const std::int64_t source = from.begin(t.row), target = to.begin(t.row);
  const std::int64_t run = t.begin / width, beside = min((run ^ 1) * width, t.length);
  const std::int64_t end = min(beside + width, t.length), pair = run / 2 * 2 * width;
  for (std::int64_t e = t.begin + threadIdx.x; e < t.end; e += threads) {
    const std::int32_t column = from.col[source + e];
    std::int64_t low = beside, high = end;  // of the run beside: less, not less
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (from.col[source + middle] < column)
        low = middle + 1;
      else
        high = middle;
    }
    const std::int64_t at = target + pair + (e - run * width) + (low - beside);
    to.col[at] = column;
    to.from[at] = from.from[source + e];
  }
}

template <class O>
void sort_long_rows(const Permutation<O> &p, Run<O> to, std::int64_t longest, const sxt_exec *exec) {
  const cuda::DeviceArray tiles(exec, static_cast<std::uint64_t>(p.n + 1) * sizeof(std::int32_t), "tiles of rows",
                                cuda::Life::call);
  to.tile_ptr = tiles.as<std::int32_t>();
  cuda::visit_all(exec, p.n + 1, CountTiles{p.to_ptr, p.n, sizeof(O) == 8, tiles.as<std::int32_t>()});
  cuda::exclusive_scan(exec, tiles.as<std::int32_t>(), p.n + 1);
  const auto count = cuda::fetch(exec, to.tile_ptr + p.n, "the tiles of long rows");
  if (count <= 0) return;
  const auto blocks = static_cast<unsigned>(count);
  int rounds = 0;
  for (std::int64_t width = tile; width < longest; width *= 2) ++rounds;
  const std::uint64_t entries = rounds > 0 ? static_cast<std::uint64_t>(count) * tile : 0;
  const cuda::DeviceArray col(exec, entries * sizeof(std::int32_t), "long rows while they are sorted",
                              cuda::Life::call);
  const cuda::DeviceArray from(exec, entries * sizeof(O), "long rows while they are sorted", cuda::Life::call);
  Run<O> other{col.as<std::int32_t>(), from.as<O>(), nullptr, to.tile_ptr};
  if (rounds % 2) std::swap(to, other);  // the last round ends in P A P^T
  sort_tiles<<<blocks, threads, 0, cuda::stream_of(*exec)>>>(p, to);
  cuda::need_launch("the sort of long rows");
  for (std::int64_t width = tile; width < longest; width *= 2, std::swap(to, other)) {
    merge_runs<<<blocks, threads, 0, cuda::stream_of(*exec)>>>(p, to, other, width);
    cuda::need_launch("a merge of long rows");
  }
}

// Lanes that together hold a row of average length.
inline int lanes_for(std::int64_t nnz, std::int64_t rows) {
  int lanes = fewest_lanes;
  while (lanes < 32 && lanes * rows < nnz) lanes *= 2;
  return lanes;
}

// Row pointers and columns of P A P^T, whose arrays are `to`'s, and the position of each entry in A.
template <class O>
void permute_pattern(const sxt_csr &a, const void *perm, const cuda::DeviceCsr &to, O *from, const sxt_exec *exec) {
  const std::int64_t n = a.s.rows;
  const cuda::DeviceArray work(exec, static_cast<std::uint64_t>(n + 1) * sizeof(std::int32_t), "a permutation",
                               cuda::Life::call);
  auto *longest = work.as<std::int32_t>() + n;
  cuda::fill_bytes(exec, longest, 0, sizeof *longest, "clear a length");
  const Permutation<O> p{static_cast<const O *>(a.row_ptr),
                         static_cast<const std::int32_t *>(a.col),
                         static_cast<const std::int32_t *>(perm),
                         n,
                         work.as<std::int32_t>(),
                         static_cast<O *>(to.row_ptr())};
  cuda::visit_all(exec, n + 1, MeasureRows<O>{p, longest});
  cuda::exclusive_scan(exec, p.to_ptr, n + 1);
  if (a.s.nnz == 0) return;
  const Run<O> run{static_cast<std::int32_t *>(to.columns()), from, p.to_ptr, nullptr};
  const int lanes = lanes_for(a.s.nnz, n);
  const auto blocks = static_cast<unsigned>(cuda::divide_up<std::int64_t>(n, threads / lanes));
  move_short_rows<<<blocks, threads, 0, cuda::stream_of(*exec)>>>(p, run, lanes);
  cuda::need_launch("rows in another order");
  const auto most = cuda::fetch(exec, longest, "the longest row");
  if (most > short_row) sort_long_rows(p, run, most, exec);
}

template <class Word, class O>
struct GatherValues {
  Word *to;
  const Word *values;
  const O *from;
  __device__ void operator()(std::int64_t k) const { to[k] = values[from[k]]; }
};

// The values of P A P^T from those of A, both on the device. Allocates nothing.
inline void gather_values(const cuda::DeviceCsr &to, const sxt_csr &a, const void *from, const sxt_exec *exec) {
  const sxt_storage &s = to.view().s;
  cuda::with_value_words(s.value_type, [&](auto word) {
    using Word = decltype(word);
    const auto gather = [&](const auto *places) {
      cuda::visit_all(exec, s.nnz,
                      GatherValues<Word, std::remove_cvref_t<decltype(*places)>>{
                          static_cast<Word *>(to.values()), static_cast<const Word *>(a.values), places});
    };
    if (s.offset_type == SXT_I32)
      gather(static_cast<const std::int32_t *>(from));
    else
      gather(static_cast<const std::int64_t *>(from));
  });
}

}  // namespace sextant::storage_csr_cuda
