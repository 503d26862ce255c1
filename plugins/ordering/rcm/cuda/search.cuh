// SPDX-License-Identifier: BSD-3-Clause
// One breadth-first search through a component, in one cooperative launch: a level is expanded by all blocks, with one
// barrier a level, or three where rows are brought into Cuthill and McKee's order at the same time. A level costs the
// barriers and some dependent accesses to the last cache, independent of its number of rows; an entry is read once (in
// order: three times). Levels and order depend only on the pattern.
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

namespace sextant::ordering_rcm_cuda {

inline constexpr int threads = 512, lanes = 8;  // of a block; that share a row while it is expanded
// Up to this many new rows of one row are ordered by degree, more by number: ranks are counted, not sorted.
inline constexpr std::int32_t most_ranked = 64;
// With this many levels of so few rows on average, one thread of a host is faster.
inline constexpr std::int32_t many_levels = 256, few_rows = 64;
// As bytes of memset: beyond every position.
inline constexpr int unseen_byte = 0x7f;
inline constexpr std::int32_t unseen = 0x7f7f7f7f, finished = 0x7fffffff;

// Results of a search for the host, and data exchanged between blocks.
struct Control {
  std::int32_t rows, levels, width, gave_up;
  unsigned long long rim;    // least degree, then least number, in the last level
  unsigned long long unmet;  // the first row that no search has visited
  std::int32_t grown[3];     // rows that a level adds, of three levels in turn
};

template <class O>
struct Search {
  const O *row_ptr;
  const std::int32_t *col;
  std::int32_t n, most_width;
  std::int32_t *mark;    // the last search that visited a row
  std::int32_t *parent;  // in order: position of the first row that has it as a neighbour; `unseen` before
  std::int32_t *queue, *children, *of_block;
  Control *control;
  __device__ std::int32_t degree(std::int32_t row) const {
    return static_cast<std::int32_t>(row_ptr[row + 1] - row_ptr[row]);
  }
};

// Levels so far; the same in every thread.
struct Progress {
  std::int32_t begin = 0, end = 1, levels = 1, width = 1;
  // False: there is no further level, or the search is given up.
  template <class O>
  __device__ bool next(const Search<O> &s, std::int32_t grown, bool first_thread) {
    if (grown == 0) return false;
    begin = end, end += grown, ++levels;
    width = max(width, grown);
    const bool wide = s.most_width > 0 && width > s.most_width;
    const bool narrow = levels > many_levels && end / few_rows < levels;
    if (first_thread && (wide || narrow)) s.control->gave_up = 1;
    return !wide && !narrow;
  }
};

template <class O>
__device__ void finish(const Search<O> &s, const Progress &at, std::int32_t first, std::int32_t stride) {
  for (std::int32_t i = at.begin + first; i < at.end; i += stride) {
    const std::int32_t row = s.queue[i];
    const auto key = static_cast<unsigned long long>(s.degree(row)) << 32 | static_cast<unsigned>(row);
    atomicMin(&s.control->rim, key);
  }
  if (first == 0) s.control->rows = at.end, s.control->levels = at.levels, s.control->width = at.width;
}

// Which rows are in which level; within a level they are in any order.
template <class O>
__global__ void __launch_bounds__(threads) search_levels(Search<O> s, std::int32_t start, std::int32_t number) {
  const auto grid = cooperative_groups::this_grid();
  const auto first = static_cast<std::int32_t>(grid.thread_rank()), stride = static_cast<std::int32_t>(grid.size());
  if (first == 0) s.queue[0] = start, s.mark[start] = number;
  grid.sync();
  Progress at;
  for (;;) {
    std::int32_t *grown = s.control->grown + at.levels % 3;
    if (first == 0) s.control->grown[(at.levels + 1) % 3] = 0;  // no longer read by any block
    for (std::int32_t i = at.begin + first / lanes; i < at.end; i += stride / lanes) {
      const std::int32_t row = s.queue[i];
      for (O k = s.row_ptr[row] + first % lanes; k < s.row_ptr[row + 1]; k += lanes) {
        const std::int32_t next = s.col[k];
        if (s.mark[next] < number && atomicMax(s.mark + next, number) < number)
          s.queue[at.end + atomicAdd(grown, 1)] = next;
      }
    }
    grid.sync();
    if (!at.next(s, *static_cast<volatile std::int32_t *>(grown), first == 0)) break;
  }
  finish(s, at, first, stride);
}

// Calls f(row) for the new rows of the row at place i, columns ascending.
template <class O, class F>
__device__ void for_each_child(const Search<O> &s, std::int32_t i, F &&f) {
  const std::int32_t row = s.queue[i];
  const O end = s.row_ptr[row + 1];
#pragma unroll 4
  for (O k = s.row_ptr[row]; k < end; ++k) {
    const std::int32_t next = s.col[k];
    if (s.parent[next] == i) f(next);
  }
}

// Sums before each thread of a block, and the sum of all.
__device__ inline std::int32_t scan_block(std::int32_t own, std::int32_t *shared, std::int32_t *all) {
  const int t = static_cast<int>(threadIdx.x);
  __syncthreads();
  shared[t] = own;
  __syncthreads();
  for (int distance = 1; distance < threads; distance *= 2) {
    const std::int32_t before = t >= distance ? shared[t - distance] : 0;
    __syncthreads();
    shared[t] += before;
    __syncthreads();
  }
  *all = shared[threads - 1];
  return shared[t] - own;
}

// The new rows of the row at place i, from place `to` on: by degree, then by number.
template <class O>
__device__ void place_children(const Search<O> &s, std::int32_t i, std::int32_t count, std::int32_t to,
                               std::int32_t number) {
  std::int32_t met = 0;
  for_each_child(s, i, [&](std::int32_t child) {
    std::int32_t rank = met++;
    if (count > 1 && count <= most_ranked) {
      const std::int32_t degree = s.degree(child);
      rank = 0;
      for_each_child(s, i, [&](std::int32_t other) {
        const std::int32_t its = s.degree(other);
        rank += its < degree || (its == degree && other < child);
      });
    }
    s.queue[to + rank] = child;
    s.mark[child] = number;
  });
}

// The same rows in Cuthill and McKee's order: those of a level by the place of the first row that has them as a
// neighbour. Every block has an equal run of the level. parent holds `unseen` for rows that were not visited.
template <class O>
__global__ void __launch_bounds__(threads) search_in_order(Search<O> s, std::int32_t start, std::int32_t number) {
  __shared__ std::int32_t shared[threads];
  const auto grid = cooperative_groups::this_grid();
  const auto first = static_cast<std::int32_t>(grid.thread_rank()), stride = static_cast<std::int32_t>(grid.size());
  const auto block = static_cast<std::int32_t>(blockIdx.x), blocks = static_cast<std::int32_t>(gridDim.x);
  if (first == 0) s.queue[0] = start, s.mark[start] = number;
  grid.sync();
  Progress at;
  for (;;) {
    for (std::int32_t i = at.begin + first / lanes; i < at.end; i += stride / lanes) {
      const std::int32_t row = s.queue[i];
      for (O k = s.row_ptr[row] + first % lanes; k < s.row_ptr[row + 1]; k += lanes)
        if (const std::int32_t next = s.col[k]; s.mark[next] < number) atomicMin(s.parent + next, i);
    }
    grid.sync();
    const std::int64_t rows = at.end - at.begin;
    const auto low = at.begin + static_cast<std::int32_t>(rows * block / blocks),
               high = at.begin + static_cast<std::int32_t>(rows * (block + 1) / blocks);
    std::int32_t own = 0, all = 0;
    for (std::int32_t i = low + static_cast<std::int32_t>(threadIdx.x); i < high; i += threads) {
      std::int32_t count = 0;
      for_each_child(s, i, [&](std::int32_t) { ++count; });
      s.children[i] = count;
      own += count;
    }
    scan_block(own, shared, &all);
    if (threadIdx.x == 0) s.of_block[block] = all;
    grid.sync();
    std::int32_t before = 0, total = 0;  // in the blocks before this one, in all
    for (std::int32_t b = static_cast<std::int32_t>(threadIdx.x); b < blocks; b += threads) {
      const std::int32_t some = s.of_block[b];
      total += some;
      before += b < block ? some : 0;
    }
    scan_block(total, shared, &total);
    scan_block(before, shared, &before);
    std::int32_t to = at.end + before;
    for (std::int32_t base = low; base < high; base += threads) {
      const std::int32_t i = base + static_cast<std::int32_t>(threadIdx.x), count = i < high ? s.children[i] : 0;
      const std::int32_t offset = scan_block(count, shared, &all);
      if (count > 0) place_children(s, i, count, to + offset, number);
      to += all;
    }
    grid.sync();
    if (!at.next(s, total, first == 0)) break;
  }
  finish(s, at, first, stride);
}

// The rows of a component belong to no later one, even where a pattern that is not symmetric leads back to them.
template <class O>
__global__ void __launch_bounds__(threads) finish_component(Search<O> s, std::int32_t rows) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i < rows) s.mark[s.queue[i]] = finished;
}

// The first row that no search has visited.
template <class O>
__global__ void __launch_bounds__(threads) find_unmet(Search<O> s, std::int32_t from) {
  const std::int64_t row = from + static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (row < s.n && s.mark[row] == 0) atomicMin(&s.control->unmet, static_cast<unsigned long long>(row));
}

}  // namespace sextant::ordering_rcm_cuda
