// SPDX-License-Identifier: BSD-3-Clause
// Kernels of the factorisation beside panels and products: whole leaf subtrees, what these contribute, and `modify`,
// which adds a product to a block column of an ancestor. Rows are found by search in the ascending lists: about ten
// steps in the cache for each row of a tile, and no map for each pair of supernodes.
#pragma once

#include "plan.hpp"
#include "plugins/cholesky/shared/device.cuh"
#include "sextant/sdk/cuda/dense_panel.hpp"

namespace sextant_cholesky_streams {

namespace numbers = sextant::plugin::cuda::dense;
using sextant::plugin::cuda::Real;
using sextant_cholesky::Verdict, sextant_cholesky::Tables, sextant_cholesky::lower_bound_of;
using sextant_dense::judge, sextant_dense::Pivot, sextant_dense::PivotRule;
using sextant_dense::device::Word;

// ---- leaf subtrees -----------------------------------------------------------------------------------------------

constexpr int subtree_threads = 256, most_subtree_rows = 256;

// What one launch works on beside the factor.
struct Judge {
  PivotRule rule;
  std::uint8_t *marks;  // n of them; NULL
  Verdict *verdict;
};

// Columns of one front in shared memory, x[r + c m].
template <class T>
__device__ void factor_front(T *x, int m, int w, std::int64_t first_column, const Judge &judge_of) {
  for (int j = 0; j < w; ++j) {
    Real<T> pivot = numbers::real_of(x[j + j * m]);
    const Pivot verdict = judge(judge_of.rule, pivot);
    __syncthreads();
    const bool definite = judge_of.rule.definite;
    const Real<T> kept = verdict != Pivot::failed && definite ? sqrt(pivot) : pivot, inverse = 1 / kept;
    if (threadIdx.x == 0) {
      x[j + j * m] = numbers::from_real<T>(kept);
      if (verdict == Pivot::failed) atomicMin(&judge_of.verdict->failed, static_cast<Word>(first_column + j));
      if (verdict == Pivot::changed && judge_of.marks) judge_of.marks[first_column + j] = 1;
    }
    if (verdict == Pivot::failed) break;
    for (int r = j + 1 + threadIdx.x; r < m; r += subtree_threads)
      x[r + j * m] = numbers::scaled(x[r + j * m], inverse);
    __syncthreads();
    const int columns = w - j - 1, height = m - j - 1;
    for (int e = threadIdx.x; e < columns * height; e += subtree_threads) {
      const int r = j + 1 + e % height, c = j + 1 + e / height;
      if (r < c) continue;
      T factor = numbers::conjugate(x[c + j * m]);
      if (!definite) factor = numbers::scaled(factor, pivot);
      x[r + c * m] = numbers::minus_product(x[r + c * m], x[r + j * m], factor);
    }
    __syncthreads();
  }
  __syncthreads();
}

// Takes rows >= begin times the rows begin .. end-1 off a target: entry (map[r], column(c)), leading dimension ld.
template <class T, class Column>
__device__ void add_products(const T *x, int m, int w, int begin, int end, bool definite, T *to, std::int64_t ld,
                             const int *map, Column &&column) {
  const int height = m - begin;
  for (int e = threadIdx.x; e < height * (end - begin); e += subtree_threads) {
    const int r = begin + e % height, c = begin + e / height;
    if (r < c) continue;
    T sum{};
    for (int k = 0; k < w; ++k) {
      T factor = numbers::conjugate(x[c + k * m]);
      if (!definite) factor = numbers::scaled(factor, numbers::real_of(x[k + k * m]));
      sum = numbers::plus_product(sum, x[r + k * m], factor);
    }
    T &place = to[map[r - begin] + column(c) * ld];
    place = numbers::difference(place, sum);
  }
}

// What front p takes off the columns of its ancestors: of those in the subtree at once, of the others in its block.
template <class T>
__device__ void update_ancestors(const Tables &s, const Subtree &tree, int p, const T *x, int *map, bool definite, T *l,
                                 T *updates) {
  const int m = s.height(p), w = s.width(p);
  const std::int32_t *const list = s.rows_of(p);
  for (int begin = w; begin < m;) {
    const int q = s.super_of[list[begin]];
    const bool inside = q <= tree.last;
    const int target = inside ? q : tree.last;
    const std::int32_t *const rows = s.rows_of(target) + (inside ? 0 : s.width(target));
    const int count = s.height(target) - (inside ? 0 : s.width(target));
    const int end =
        inside ? begin + lower_bound_of(list + begin, m - begin, static_cast<std::int32_t>(s.super_ptr[q + 1])) : m;
    for (int r = begin + threadIdx.x; r < m; r += subtree_threads)
      map[r - begin] = lower_bound_of(rows, count, list[r]);
    __syncthreads();
    if (inside) {
      const std::int64_t first = s.super_ptr[q];
      add_products(x, m, w, begin, end, definite, l + s.value_ptr[q], count, map,
                   [&](int c) { return std::int64_t{list[c]} - first; });
    } else {
      add_products(x, m, w, begin, end, definite, updates + tree.update_at, tree.below, map,
                   [&](int c) { return std::int64_t{map[c - begin]}; });
    }
    __syncthreads();
    begin = end;
  }
}

// A block of threads a subtree, supernode after supernode.
template <class T>
__global__ void __launch_bounds__(subtree_threads)
    factor_subtrees(Tables s, const Subtree *trees, T *l, T *updates, Judge how) {
  extern __shared__ __align__(16) unsigned char subtree_memory[];
  __shared__ int map[most_subtree_rows];
  T *const x = reinterpret_cast<T *>(subtree_memory);
  const Subtree tree = trees[blockIdx.x];
  for (int p = tree.first; p <= tree.last; ++p) {
    const int m = s.height(p), w = s.width(p);
    T *const front = l + s.value_ptr[p];
    for (int e = threadIdx.x; e < m * w; e += subtree_threads) x[e] = front[e];
    __syncthreads();
    factor_front(x, m, w, s.super_ptr[p], how);
    for (int e = threadIdx.x; e < m * w; e += subtree_threads)
      if (e % m >= e / m) front[e] = x[e];
    update_ancestors(s, tree, p, x, map, how.rule.definite, l, updates);
    __syncthreads();
  }
}

struct Contributions {
  const std::int32_t *columns;
  const std::int64_t *column_at;
  const std::int32_t *from_tree, *from_row;
};
constexpr int assemble_threads = 128;

// A block of threads a column: what the subtrees take off it, in their order.
template <class T>
__global__ void __launch_bounds__(assemble_threads)
    assemble_columns(Tables s, Contributions given, const Subtree *trees, const T *updates, T *l) {
  const std::int32_t column = given.columns[blockIdx.x];
  const int p = s.super_of[column], m = s.height(p);
  const std::int32_t *const rows = s.rows_of(p);
  T *const to = l + s.value_ptr[p] + (column - s.super_ptr[p]) * m;
  for (std::int64_t k = given.column_at[blockIdx.x]; k < given.column_at[blockIdx.x + 1]; ++k) {
    const Subtree tree = trees[given.from_tree[k]];
    const int j = given.from_row[k];
    const std::int32_t *const list = s.rows_of(tree.last) + s.width(tree.last);
    const T *const from = updates + tree.update_at + static_cast<std::int64_t>(j) * tree.below;
    for (int i = j + threadIdx.x; i < tree.below; i += assemble_threads) {
      T &place = to[lower_bound_of(rows, m, list[i])];
      place = numbers::sum(place, from[i]);
    }
    __syncthreads();
  }
}

// ---- narrow supernodes -------------------------------------------------------------------------------------------

constexpr int tile = 32, tile_threads = 256, tile_ld = tile + 1;

// All that narrow supernode p takes off its ancestors, a tile of 32 x 32 entries a block; blockIdx counts the tiles on
// and below the diagonal.
template <class T>
__global__ void __launch_bounds__(tile_threads) update_by_tiles(Tables s, int p, T *l, bool definite) {
  extern __shared__ __align__(16) unsigned char tile_memory[];
  T *const left = reinterpret_cast<T *>(tile_memory), *const right = left + s.width(p) * tile_ld;
  __shared__ int super[tile];
  const int m = s.height(p), w = s.width(p), below = m - w;
  int ti = static_cast<int>((sqrtf(8.0f * blockIdx.x + 1) - 1) / 2);
  while (ti * (ti + 1) / 2 > static_cast<int>(blockIdx.x)) --ti;
  while ((ti + 1) * (ti + 2) / 2 <= static_cast<int>(blockIdx.x)) ++ti;
  const int tj = static_cast<int>(blockIdx.x) - ti * (ti + 1) / 2, i0 = ti * tile, j0 = tj * tile;
  const std::int32_t *const list = s.rows_of(p) + w;
  const T *const front = l + s.value_ptr[p];
  for (int e = threadIdx.x; e < tile * w; e += tile_threads) {
    const int r = e % tile, k = e / tile;
    left[r + k * tile_ld] = i0 + r < below ? front[w + i0 + r + static_cast<std::int64_t>(k) * m] : T{};
    T other = j0 + r < below ? numbers::conjugate(front[w + j0 + r + static_cast<std::int64_t>(k) * m]) : T{};
    if (!definite) other = numbers::scaled(other, numbers::real_of(front[k + static_cast<std::int64_t>(k) * m]));
    right[r + k * tile_ld] = other;
  }
  if (threadIdx.x < tile && j0 + threadIdx.x < below) super[threadIdx.x] = s.super_of[list[j0 + threadIdx.x]];
  __syncthreads();
  const int r = threadIdx.x % tile, i = i0 + r;
  if (i >= below) return;
  int found = -1, position = 0;
  for (int c = threadIdx.x / tile; c < tile && j0 + c < below; c += tile_threads / tile) {
    if (i < j0 + c) break;
    T sum{};
    for (int k = 0; k < w; ++k) sum = numbers::plus_product(sum, left[r + k * tile_ld], right[c + k * tile_ld]);
    const int q = super[c];
    if (q != found) found = q, position = lower_bound_of(s.rows_of(q), s.height(q), list[i]);
    T &place = l[s.value_ptr[q] + position + (list[j0 + c] - s.super_ptr[q]) * s.height(q)];
    place = numbers::difference(place, sum);
  }
}

// ---- modify ------------------------------------------------------------------------------------------------------

constexpr int modify_threads = 128, modify_columns = 16;

// Adds the product of supernode p's rows `begin` and on with its rows begin .. begin + columns - 1 to supernode q,
// which owns the latter: entry (i, j) of the buffer, i >= j.
template <class T>
__global__ void __launch_bounds__(modify_threads)
    modify(Tables s, int p, int q, int begin, int columns, const T *buffer, std::int64_t ld, T *l) {
  const int count = s.height(p) - begin, i = static_cast<int>(blockIdx.x) * modify_threads + threadIdx.x;
  if (i >= count) return;
  const std::int32_t *const list = s.rows_of(p) + begin;
  const std::int64_t m = s.height(q), first = s.super_ptr[q];
  T *const to = l + s.value_ptr[q] + lower_bound_of(s.rows_of(q), static_cast<int>(m), list[i]);
  const int c0 = static_cast<int>(blockIdx.y) * modify_columns, end = min(min(c0 + modify_columns, columns), i + 1);
  for (int c = c0; c < end; ++c) {
    T &place = to[(list[c] - first) * m];
    place = numbers::sum(place, buffer[i + c * ld]);
  }
}

}  // namespace sextant_cholesky_streams
