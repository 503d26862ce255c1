// SPDX-License-Identifier: BSD-3-Clause
// The second sweep of a solve: L^T w = z from the last tile of columns to the first, up to four right-hand sides at
// once. L is read once for them; the bound is memory, so tiles stream through the stages without a break from one
// column of tiles to the next.
#pragma once

#include "block.cuh"

namespace sextant::hermitian_panel {

template <class T, int sides>
struct BackwardSweep {
  const View<T> &s;
  Shared<T> &shared;
  int first, count;  // right-hand sides
  int warp, lane;

  // A quarter of a tile: 16 columns of tile row i, tile column k. They come in the order in which they are stepped to.
  struct Place {
    int k, i, quarter;
  };
  SXT_DENSE int last() const { return (s.n - 1) / tile; }
  SXT_DENSE void advance(Place &p) const {
    if (++p.quarter < 4) return;
    p.quarter = 0;
    if (--p.i > p.k) return;
    --p.k, p.i = last();
  }
  SXT_DENSE void stage(const Place &p, int slot) const {
    if (p.k >= 0) {
      const Stripe<T> rows = stripe_at(s, tile * p.i + inner * warp);
      Source<T> from = source_of(Stripe<T>{rows.base + (tile * p.k + inner * p.quarter) * s.column, rows.row,
                                           rows.column, rows.rhs ? 0 : rows.valid, false},
                                 lane);
      stage_stripe(shared.stage[slot][0] + inner * warp, from);
      stage_stripe(shared.stage[slot][1] + inner * warp, from);
    }
    commit();
  }
  // The diagonal tile k, in panels.
  SXT_DENSE void stage_diagonal(int k) const {
    const int rows = s.n - tile * k;
#pragma unroll 4
    for (int e = threadIdx.x; e < tile * tile; e += threads) {
      const int in = e % tile, out = e / tile, i = s.row == 1 ? in : out, j = s.row == 1 ? out : in, p = j / inner;
      if (i >= j && i < rows)
        copy_async(shared.diagonal + panel_at<T>(p) + (j % inner) * panel_ld<T>(p) + i - inner * p,
                   s.at(tile * k + i, tile * k + j), sizeof(T), true);
    }
    commit();
  }

  // Adds -L(i, k)^T w_i for the quarter: thread (column, part) takes every eighth row of one column.
  SXT_DENSE void step(T (&parts)[sides], const Place &p, int slot) const {
    const int column = threadIdx.x / 8, part = threadIdx.x % 8;
    const T *l = shared.stage[slot][column / 8] + column % 8 * stage_ld<T> + part;
    const int rows = s.n - tile * p.i - part;
    const T *w = s.b + first * s.ldb + tile * p.i + part;
#pragma unroll
    for (int i = 0; i < tile; i += 8) {
      if (i >= rows) continue;
      const T value = l[i];
#pragma unroll
      for (int r = 0; r < sides; ++r)
        if (r < count) parts[r] = minus_product(parts[r], value, w[r * s.ldb + i]);
    }
  }
  // A warp solves with the diagonal tile for one right-hand side; lane i holds unknowns i and i + 32.
  SXT_DENSE void solve_diagonal(T *w, const T *sums, int columns) const {
    // A lane's two columns of L, row 0 of the tile first.
    const T *column[2];
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const int j = lane + 32 * q, p = j / inner, ld = tile - inner * p + pad<T>;
      column[q] =
          shared.diagonal + inner * (p * (tile + pad<T>)-inner * (p * (p - 1) / 2)) + (j % inner) * ld - inner * p;
    }
    T mine[2];
    Real<T> inverse[2];
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const int i = lane + 32 * q;
      mine[q] = i < columns ? sum(w[i], sums[i]) : T{};
      inverse[q] = i < columns ? 1 / real_of(column[q][i]) : 1;
    }
#pragma unroll
    for (int q = 1; q >= 0; --q) {
#pragma unroll 2
      for (int j = min(31, columns - 1 - 32 * q); j >= 0; --j) {
        const T near = lane < j ? column[q][j + 32 * q] : T{}, far = q == 1 ? column[0][j + 32] : T{};
        if (lane == j) mine[q] = scaled(mine[q], inverse[q]);
        const T wj = from_lane(all_lanes, mine[q], j);
        mine[q] = minus_product(mine[q], near, wj);
        if (q == 1) mine[0] = minus_product(mine[0], far, wj);
      }
    }
#pragma unroll
    for (int q = 0; q < 2; ++q)
      if (lane + 32 * q < columns) w[lane + 32 * q] = mine[q];
  }

  SXT_DENSE void run() const {
    T *sums = shared.scratch;  // [right-hand side][column]
    Place ahead{last() - 1, last(), 0};
    __syncthreads();
    int slot = 0;
    for (int i = 0; i < stages - 1; ++i, advance(ahead)) stage(ahead, i);
    for (int k = last(); k >= 0; --k) {
      stage_diagonal(k);
      T parts[4][sides]{};
      Place p{k, last(), 0};
#pragma unroll 1
      for (int i = last(); i > k; --i) {
        p.i = i;
#pragma unroll
        for (int quarter = 0; quarter < 4; ++quarter) {
          await<stages - 2>();
          __syncthreads();
          stage(ahead, (slot + stages - 1) % stages);
          advance(ahead);
          step(parts[quarter], p, slot);
          slot = (slot + 1) % stages;
        }
      }
#pragma unroll
      for (int quarter = 0; quarter < 4; ++quarter)
#pragma unroll
        for (int r = 0; r < sides; ++r) {
#pragma unroll
          for (int over = 1; over < 8; over *= 2)
            parts[quarter][r] = sum(parts[quarter][r], from_lane_xor(all_lanes, parts[quarter][r], over));
          if (threadIdx.x % 8 == 0) sums[tile * r + inner * quarter + threadIdx.x / 8] = parts[quarter][r];
        }
      if (k == last())
        await<0>();
      else
        await<stages - 2>();
      __syncthreads();
      if (warp < count)
        solve_diagonal(s.b + (first + warp) * s.ldb + tile * k, sums + tile * warp, min(tile, s.n - tile * k));
      __syncthreads();
    }
    await<0>();
    if (complex_valued<T> && !s.conjugate_b)
      for (int r = first; r < first + count; ++r)
        for (int i = threadIdx.x; i < s.n; i += threads) s.b[r * s.ldb + i] = conjugate(s.b[r * s.ldb + i]);
  }
};

template <class T>
SXT_DENSE void solve_backward(const View<T> &s, Shared<T> &shared, int warp, int lane) {
  if (s.n_rhs == 1) {
    BackwardSweep<T, 1>{s, shared, 0, 1, warp, lane}.run();
    return;
  }
#pragma unroll 1
  for (int first = 0; first < s.n_rhs; first += 4)
    BackwardSweep<T, 4>{s, shared, first, min(4, s.n_rhs - first), warp, lane}.run();
}

}  // namespace sextant::hermitian_panel
