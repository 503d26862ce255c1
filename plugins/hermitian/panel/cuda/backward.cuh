// SPDX-License-Identifier: BSD-3-Clause
// The second sweep of a solve: L^T w = z from the last tile of columns to the first, up to four right-hand sides at
// once. L is read once for them, so tiles stream through the stages without a break from one column of tiles to the
// next. Products go to the tensor cores although most of their columns stay empty: an instruction of the double unit
// would wait as long for another block's products. While a warp a right-hand side solves with a tile on the diagonal,
// the others subtract the contributions of all tiles below from the next tile's unknowns.
#pragma once

#include "arrivals.cuh"

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

  SXT_DENSE int last() const { return (s.n - 1) / tile; }
  // Stripes of 16 rows far below tile column k, which is from two tiles below it on, are counted from the end up. Warps
  // that solve meanwhile take the last ones, fewer by as many as can be taken in that time. Those of a warp:
  struct Stripes {
    int first, end, stride;
  };
  SXT_DENSE int solving() const { return sides == 1 ? 1 : count; }
  SXT_DENSE Stripes far_stripes(int k) const {
    constexpr int a_solve_takes = 2;
    const int all = warps * max(0, last() - k - 1), helpers = warps - solving();
    if (helpers == 0) return {warp, all, warps};
    const int helped = all - solving() * (max(0, all - helpers * a_solve_takes) / warps);
    if (warp < solving()) return {helped + warp, all, solving()};
    return {warp - solving(), helped, helpers};
  }

  // A warp's way through L: for each tile of columns its far stripes, then its own of the tile right below, whose
  // unknowns are solved for meanwhile. A stripe comes in four stages of 16 columns.
  struct Way {
    int k, stripe;
    Stripes far;
    Source<T> from;
  };
  SXT_DENSE int row_of(const Stripes &far, int k, int stripe) const {
    return stripe < far.end ? tile * (last() - stripe / warps) + inner * (stripe % warps)
                            : tile * (k + 1) + inner * warp;
  }
  SXT_DENSE void enter_stripe(Way &way) const {
    if (way.k < 0) return;
    const Stripe<T> rows = stripe_at(s, row_of(way.far, way.k, way.stripe));
    way.from = source_of<T, ld>(
        Stripe<T>{rows.base + tile * way.k * rows.column, rows.row, rows.column, rows.rhs ? 0 : rows.valid, false},
        lane);
  }
  SXT_DENSE void enter_tile(Way &way, int k) const { way.k = k, way.far = far_stripes(k), way.stripe = way.far.first; }
  SXT_DENSE void go_on(Way &way) const {
    if (way.stripe < way.far.end)
      way.stripe += way.far.stride;
    else
      enter_tile(way, way.k - 1);
    enter_stripe(way);
  }
  // Brings the next 16 columns, of rows that this warp alone reads.
  SXT_DENSE void stage(Way &way, int quarter) const {
    if (way.k >= 0) {
      stage_stripe(shared.stage[quarter][0] + inner * warp, way.from);
      stage_stripe(shared.stage[quarter][1] + inner * warp, way.from);
    }
    commit();
  }
  // The diagonal tile k, in panels.
  SXT_DENSE void stage_diagonal(int k) const {
    if constexpr (in_columns) {
      copy_panel(k, warp);
    } else {
      stage_diagonal_anyhow(k);
      commit();
    }
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
  // Panel p by bulk copies, a column a lane, each issued separately. The warp that solves with the tile waits for them.
  SXT_DENSE void copy_panel(int k, int p) const {
    const unsigned barrier = shared_address(&shared.diagonal_full);
    const int from = tile * k + inner * p, rows = min(tile - inner * p, s.n - from);
    if (p == 0 && lane == 0) expect_bytes(barrier, bytes_of_diagonal(rows));
    if (lane < min(inner, rows))
      bulk_copy(shared.diagonal + panel_at<T>(p) + lane * panel_ld<T>(p), s.at(from, from + lane),
                rows * static_cast<int>(sizeof(T)), barrier);
  }
  SXT_DENSE static int bytes_of_diagonal(int rows) {
    int numbers = 0;
    for (; rows > 0; rows -= inner) numbers += min(inner, rows) * rows;
    return numbers * static_cast<int>(sizeof(T));
  }

  // Right operands for eight unknowns: column 2r belongs to the real parts of right-hand side r and column 2r + 1 to
  // the imaginary ones (of real numbers: column r to it), so that two real products make a complex one.
  struct Unknowns {
    Right<Real<T>> by_re, by_im;
  };
  SXT_DENSE Unknowns unknowns(int row, bool just_solved) const {
    const int r = complex_valued<T> ? g / 2 : g;
    const auto load = [&](int i) {
      if (r >= count || i >= s.n) return T{};
      return sides == 1 && just_solved ? shared.carried[i % tile] : s.b[(first + r) * s.ldb + i];
    };
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
  // c -= L(rows of this warp, 16 columns)^T w. Products of one kind do not wait for the others.
  SXT_DENSE void step(Sums &c, const Unknowns (&w)[2], int slot) const {
    const T *l = shared.stage[slot][0] + g * ld + inner * warp + 2 * t;
    const LeftOperand<T> a = load_left_transposed<T>(l, stage_room<T>),
                         b = load_left_transposed<T>(l + 8, stage_room<T>);
    Sums other{};
    multiply_add(c, c, a.x, w[0].by_re);
    if constexpr (complex_valued<T>) {
      multiply_add(other, other, a.y, w[0].by_im);
      multiply_add(c, c, b.x, w[1].by_re);
      multiply_add(other, other, b.y, w[1].by_im);
    } else {
      multiply_add(other, other, b.x, w[1].by_re);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) c[i] += other[i];
  }

  // The sum over all warps for one right-hand side is added by the warp that solves for it: columns `lane` and `lane`
  // + 32.
  SXT_DENSE void collect(T (&rest)[2], const Sums (&c)[4]) const {
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
          rest[q] = sum(rest[q], sum(sum(at[0], at[tile]), sum(at[2 * tile], at[3 * tile])));
        }
      if (r + 1 < count) sync();
    }
  }
  // A warp solves with the diagonal tile for one right-hand side; lane i holds its remaining entries i and i + 32.
  SXT_DENSE void solve_diagonal(T *w, T (&mine)[2], int columns) const {
    // A lane's two columns of L, row 0 of the tile first.
    const T *column[2];
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const int j = lane + 32 * q, p = j / inner, ld = tile - inner * p + pad<T>;
      column[q] =
          shared.diagonal + inner * (p * (tile + pad<T>)-inner * (p * (p - 1) / 2)) + (j % inner) * ld - inner * p;
    }
    Real<T> inverse[2];
#pragma unroll
    for (int q = 0; q < 2; ++q)
      inverse[q] = lane + 32 * q < columns ? reciprocal(real_of(column[q][lane + 32 * q])) : 1;
#pragma unroll
    for (int q = 1; q >= 0; --q) {
      const int top = min(31, columns - 1 - 32 * q);
      // Elements of L are on their way while the unknown before them is exchanged.
      T near = column[q][max(0, top) + 32 * q], far = column[0][max(0, top) + 32];
#pragma unroll 2
      for (int j = top; j >= 0; --j) {
        const T by = near, by_far = far, solved = from_lane(all_lanes, scaled(mine[q], inverse[q]), j);
        near = column[q][max(0, j - 1) + 32 * q];
        if (q == 1) far = column[0][max(0, j - 1) + 32];
        if (lane < j) mine[q] = minus_product(mine[q], by, solved);
        if (q == 1) mine[0] = minus_product(mine[0], by_far, solved);
      }
      mine[q] = scaled(mine[q], inverse[q]);
    }
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      if (lane + 32 * q < columns) w[lane + 32 * q] = mine[q];
      if (sides == 1) shared.carried[lane + 32 * q] = mine[q];
    }
  }

  // c: the sums of a tile column's products with a stripe of rows, whose unknowns are w.
  SXT_DENSE void take_stripe(Sums (&c)[4], const Unknowns (&w)[2], Way &ahead) const {
    static_assert(stages == 4);
#pragma unroll
    for (int quarter = 0; quarter < 4; ++quarter) {
      await<stages - 1>();
      __syncwarp();
      step(c[quarter], w, quarter);
      __syncwarp();
      if (quarter == 0) go_on(ahead);
      stage(ahead, quarter);
    }
  }
  // rest: the right-hand side at tile k less all products; updated to the tile before.
  SXT_DENSE void solve_tile(int k, T (&rest)[2]) const {
    if (warp >= solving()) return;
    T *w = s.b + (first + warp) * s.ldb + tile * k;
    if (k <= last()) {
      if constexpr (in_columns) await_phase(shared.diagonal_full, (last() - k) % 2);
      solve_diagonal(w, rest, min(tile, s.n - tile * k));
    }
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const int i = lane + 32 * q - tile;
      rest[q] = k > 0 && tile * k + i < s.n ? w[i] : T{};
    }
  }

  SXT_DENSE void run() const {
    Way ahead;
    enter_tile(ahead, last() - 1), enter_stripe(ahead);
    if constexpr (in_columns) before_bulk_copies();  // to where other instructions wrote the diagonal tile
    sync();
    for (int quarter = 0; quarter < 4; ++quarter) stage(ahead, quarter);
    T rest[2]{};
#pragma unroll 1
    for (int k = last(); k >= 0; --k) {
      Sums c[4]{};
      solve_tile(k + 1, rest);
      const Stripes far = far_stripes(k);
#pragma unroll 1
      for (int stripe = far.first;; stripe += far.stride) {
        const bool near = stripe >= far.end;
        if (near) {
          sync();
          stage_diagonal(k);
          if (k == last()) break;
        }
        const int row = row_of(far, k, stripe);
        const Unknowns w[2] = {unknowns(row, near), unknowns(row + 8, near)};
        take_stripe(c, w, ahead);
        if (near) break;
      }
      if constexpr (!in_columns) {
        if (k == last())
          await<0>();
        else
          await<stages>();
      }
      collect(rest, c);
    }
    solve_tile(0, rest);
    await<0>();
    sync();
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
