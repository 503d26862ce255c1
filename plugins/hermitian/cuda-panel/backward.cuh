// SPDX-License-Identifier: BSD-3-Clause
// The second sweep of a solve: L^T w = z from the last tile of columns to the first, up to four right-hand sides at
// once. L is read once for them, so tiles stream through the stages without a break from one column of tiles to the
// next. Products go to the tensor cores although most of their columns stay empty: an instruction of the double unit
// would wait as long for another block's products.
#pragma once

#include "block.cuh"

namespace sextant::hermitian_panel {

// in_columns: of the triangle columns lie in one piece.
template <class T, int sides, bool in_columns>
struct BackwardSweep {
  const View<T> &s;
  Shared<T> &shared;
  int first, count;  // right-hand sides
  int warp, lane, g, t;

  // Columns of a stage here, which is read by parts of numbers, transposed.
  static constexpr int ld = tile + pad<T>;
  static_assert(ld <= stage_ld<T>);

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
  // A warp brings 16 rows, which it alone reads.
  SXT_DENSE void stage(const Place &p, int slot) const {
    if (p.k >= 0) {
      const Stripe<T> rows = stripe_at(s, tile * p.i + inner * warp);
      Source<T> from = source_of<T, ld>(Stripe<T>{rows.base + (tile * p.k + inner * p.quarter) * s.column, rows.row,
                                                  rows.column, rows.rhs ? 0 : rows.valid, false},
                                        lane);
      stage_stripe(shared.stage[slot][0] + inner * warp, from);
      stage_stripe(shared.stage[slot][1] + inner * warp, from);
    }
    commit();
  }
  // The diagonal tile k, in panels.
  SXT_DENSE void stage_diagonal(int k) const {
    if constexpr (in_columns)
      stage_diagonal_columns(k);
    else
      stage_diagonal_anyhow(k);
    commit();
  }
  SXT_DENSE void stage_diagonal_anyhow(int k) const {
    const int rows = s.n - tile * k;
#pragma unroll 4
    for (int e = threadIdx.x; e < tile * tile; e += threads) {
      const int in = e % tile, out = e / tile, i = s.row == 1 ? in : out, j = s.row == 1 ? out : in, p = j / inner;
      if (i >= j && i < rows)
        copy_async(shared.diagonal + panel_at<T>(p) + (j % inner) * panel_ld<T>(p) + i - inner * p,
                   s.at(tile * k + i, tile * k + j), sizeof(T), true);
    }
  }
  // A thread takes every other element of a row.
  SXT_DENSE void stage_diagonal_columns(int k) const {
    const int rows = s.n - tile * k, row = threadIdx.x % tile, first = threadIdx.x / tile;
    const T *from = s.a + tile * k + row + (tile * k + first) * s.column;
#pragma unroll
    for (int p = 0; p < 4; ++p)
#pragma unroll
      for (int c = 0; c < inner; c += 2, from += 2 * s.column)
        if (row >= inner * p + first + c && row < rows)
          copy_async(shared.diagonal + panel_at<T>(p) + (first + c) * panel_ld<T>(p) + row - inner * p, from, sizeof(T),
                     true);
  }

  // Right operands for eight unknowns: column 2r belongs to the real parts of right-hand side r and column 2r + 1 to
  // the imaginary ones (of real numbers: column r to it), so that two real products make a complex one.
  struct Unknowns {
    Right<Real<T>> by_re, by_im;
  };
  SXT_DENSE Unknowns unknowns(int row) const {
    const int r = complex_valued<T> ? g / 2 : g;
    const auto load = [&](int i) { return r < count && i < s.n ? s.b[(first + r) * s.ldb + i] : T{}; };
    const T u = load(row + 2 * t), v = load(row + 2 * t + 1);
    if constexpr (complex_valued<T>) {
      if (g % 2) return {Right<Real<T>>(-u.im, -v.im), Right<Real<T>>(-u.re, -v.re)};
      return {Right<Real<T>>(-u.re, -v.re), Right<Real<T>>(u.im, v.im)};
    } else {
      return {Right<T>(-u, -v), {}};
    }
  }
  // A lane's sums: rows g and g + 8 (half: 0, 1) are columns of L.
  using Sums = Real<T>[4];
  SXT_DENSE T sum_of(const Sums &c, int half, int r) const {
    if constexpr (complex_valued<T>)
      return {c[2 * half], c[2 * half + 1]};
    else
      return c[2 * half + r % 2];
  }
  SXT_DENSE void take_off(Sums &c, const T *l, int to_column_8, const Unknowns &w) const {
    const LeftOperand<T> a = load_left_transposed<T>(l, to_column_8);
    if constexpr (complex_valued<T>) {
      multiply_add(c, c, a.x, w.by_re);
      multiply_add(c, c, a.y, w.by_im);
    } else {
      multiply_add(c, c, a.x, w.by_re);
    }
  }
  // c -= L(rows of this warp, 16 columns)^T w.
  SXT_DENSE void step(Sums &c, const Unknowns (&w)[2], int slot) const {
    const T *l = shared.stage[slot][0] + g * ld + inner * warp + 2 * t;
    take_off(c, l, stage_room<T>, w[0]);
    take_off(c, l + 8, stage_room<T>, w[1]);
  }

  // The sum over all warps for one right-hand side, to the warp that solves for it: columns `lane` and `lane` + 32.
  SXT_DENSE void collect(T (&total)[2], const Sums (&c)[4]) const {
    T *sums = shared.scratch;  // [warp][column]
#pragma unroll
    for (int r = 0; r < sides; ++r) {
      if (r >= count) continue;
      if (t == (complex_valued<T> ? r : r / 2))
#pragma unroll
        for (int quarter = 0; quarter < 4; ++quarter) {
          T *to = sums + tile * warp + inner * quarter + g;
          to[0] = sum_of(c[quarter], 0, r), to[8] = sum_of(c[quarter], 1, r);
        }
      sync();
      if (warp == r)
#pragma unroll
        for (int q = 0; q < 2; ++q) {
          const T *at = sums + lane + 32 * q;
          total[q] = sum(sum(at[0], at[tile]), sum(at[2 * tile], at[3 * tile]));
        }
      if (r + 1 < count) sync();
    }
  }
  // A warp solves with the diagonal tile for one right-hand side; lane i holds unknowns i and i + 32.
  SXT_DENSE void solve_diagonal(T *w, const T (&sums)[2], int columns) const {
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
      mine[q] = i < columns ? sum(w[i], sums[q]) : T{};
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
    Place ahead{last() - 1, last(), 0};
    sync();
    int slot = 0;
    for (int i = 0; i < stages - 1; ++i, advance(ahead)) stage(ahead, i);
    for (int k = last(); k >= 0; --k) {
      stage_diagonal(k);
      Sums c[4]{};
#pragma unroll 1
      for (int i = last(); i > k; --i) {
        const int row = tile * i + inner * warp;
        const Unknowns w[2] = {unknowns(row), unknowns(row + 8)};
#pragma unroll
        for (int quarter = 0; quarter < 4; ++quarter) {
          await<stages - 2>();
          __syncwarp();
          stage(ahead, (slot + stages - 1) % stages);
          advance(ahead);
          step(c[quarter], w, slot);
          slot = (slot + 1) % stages;
        }
      }
      if (k == last())
        await<0>();
      else
        await<stages - 2>();
      T total[2];
      collect(total, c);
      if (warp < count) solve_diagonal(s.b + (first + warp) * s.ldb + tile * k, total, min(tile, s.n - tile * k));
      sync();
    }
    await<0>();
    if (complex_valued<T> && !s.conjugate_b)
      for (int r = first; r < first + count; ++r)
        for (int i = threadIdx.x; i < s.n; i += threads) s.b[r * s.ldb + i] = conjugate(s.b[r * s.ldb + i]);
  }
};

template <bool in_columns, class T>
SXT_DENSE void solve_backward(const View<T> &s, Shared<T> &shared, int warp, int lane) {
  if (s.n_rhs == 1) {
    BackwardSweep<T, 1, in_columns>{s, shared, 0, 1, warp, lane, lane / 4, lane % 4}.run();
    return;
  }
#pragma unroll 1
  for (int first = 0; first < s.n_rhs; first += 4)
    BackwardSweep<T, 4, in_columns>{s, shared, first, min(4, s.n_rhs - first), warp, lane, lane / 4, lane % 4}.run();
}

}  // namespace sextant::hermitian_panel
