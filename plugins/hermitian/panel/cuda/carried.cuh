// SPDX-License-Identifier: BSD-3-Clause
// One right-hand side of a call that factors and solves, carried along as a vector: the products of a tile on the
// diagonal bring the panel to shared memory that y = L^-1 b needs, too. As a row it would cost a further tile of rows
// where the last one is full. It is stored as its conjugate, as rows of right-hand sides are.
#pragma once

#include "block.cuh"

namespace sextant::hermitian_panel {

// Called for tiles on the diagonal. The two stripes with the fewest products own 32 entries of the tile each.
template <class T, bool with_signs>
struct CarriedVector {
  const View<T> &s;
  Shared<T> &shared;
  int lane, stripe;

  SXT_DENSE bool owns() const { return stripe < 2; }
  SXT_DENSE int own_entry() const { return 32 * stripe + lane; }

  // Entries of b at the tile's rows; zero where there are none, as the panels' rows are.
  SXT_DENSE void begin(int k0) const {
    if (!owns()) return;
    const int e = own_entry();
    const T value = k0 + e < s.n ? s.b[k0 + e] : T{};
    shared.carried[e] = s.conjugate_b ? value : conjugate(value);
  }
  // Solved entries that belong to the eight columns of a step.
  SXT_DENSE void stage(int step) const {
    if (stripe == 0 && lane < depth)
      copy_async(shared.carried_stage[step % stages] + lane, s.b + depth * step + lane, sizeof(T), true);
  }
  // Subtracts their contributions from the tile's entries. panel: all rows of the tile at those columns.
  SXT_DENSE void take_off(const T *panel, int step) const {
    if (!owns()) return;
    const T *solved = shared.carried_stage[step % stages], *row = panel + own_entry();
    T value = shared.carried[own_entry()];
#pragma unroll
    for (int j = 0; j < depth; ++j) {
      const T by = with_signs ? flipped(solved[j], sign_of_column(panel, j)) : solved[j];
      value = minus_product(value, by, conjugate(row[j * stage_ld<T>]));
    }
    shared.carried[own_entry()] = value;
  }

  // Zero where the matrix has no row: there arbitrary numbers may have been subtracted.
  SXT_DENSE void end(int k0) const {
    if (owns() && k0 + own_entry() >= s.n) shared.carried[own_entry()] = T{};
  }

  // The same on tensor cores, by one warp: real and imaginary parts of the entries are two rows of sums, so that two
  // real products make a complex one. What a lane has of the left operands for one solved entry:
  struct LeftRow {
    Real<T> by_re, by_im;
  };
  SXT_DENSE LeftRow left_row(T solved) const {
    const int g = lane / 4;
    return {g == 0 ? -solved.re : g == 1 ? -solved.im : 0, g == 0 ? -solved.im : g == 1 ? solved.re : 0};
  }
  // Sums of entries 8 j .. 8 j + 7.
  SXT_DENSE void put_sums(int j, const Real<T> (&sums)[4]) const {
    T *to = shared.carried + 8 * j + lane % 4 * 2;
    if (lane / 4 == 0) to[0].re = sums[0], to[1].re = sums[1];
    if (lane / 4 == 1) to[0].im = sums[0], to[1].im = sums[1];
  }
  // And b with all of them; zero where the matrix has no row.
  SXT_DENSE void add_to_sums(int k0) const {
    __syncwarp();
    for (int e = lane; e < tile; e += 32) {
      const bool exists = k0 + e < s.n;
      const T value = exists ? s.b[k0 + e] : T{};
      shared.carried[e] = exists ? sum(shared.carried[e], s.conjugate_b ? value : conjugate(value)) : T{};
    }
    __syncwarp();
  }

  // c conj(inverse)' for 16 entries: lane (r, h) sums half of entry r.
  SXT_DENSE T times_inverse(const T *c, const T *inverse, int ld) const {
    const int r = lane & 15, h = lane >> 4;
    T total{};
#pragma unroll
    for (int j = 8 * h; j < 8 * h + 8; ++j) total = plus_product(total, c[j], conjugate(inverse[j * ld + r]));
    return sum(total, from_lane_xor(all_lanes, total, 16));
  }
  // The residual of x in 16 entries, with block p of L in memory from row `first` on.
  SXT_DENSE T rest_of(const T *c, T x, int first, int p) const {
    const int r = lane & 15;
    if constexpr (with_signs) x = flipped(x, sign_from(shared.signs, inner * p + r));
    T rest = c[r];
#pragma unroll 1
    for (int j = 0; j < inner; ++j) {
      const T other = from_lane(all_lanes, x, j);
      if (j <= r && first + r < s.n) rest = minus_product(rest, other, conjugate(*s.at(first + r, first + j)));
    }
    return first + r < s.n ? rest : T{};
  }
  // One warp solves for the 16 entries of block p of the diagonal tile, whose inverse stands.
  SXT_DENSE void solve(int p, int k0) const {
    const T *inverse = shared.diagonal + panel_at<T>(p);
    const int r = lane & 15, ld = panel_ld<T>(p);
    T *c = shared.carried + inner * p;
    T x = times_inverse(c, inverse, ld);
    if (shared.refine >> p & 1) {
      const T rest = rest_of(c, x, k0 + inner * p, p);
      __syncwarp();
      if (lane < inner) c[r] = rest;
      __syncwarp();
      x = sum(x, times_inverse(c, inverse, ld));
    }
    __syncwarp();
    if (lane < inner) c[r] = x;
    __syncwarp();
  }
  // Their contributions are subtracted from the later entries, once the columns below the block are complete.
  SXT_DENSE void take_off_below(int p, int columns) const {
    const T *panel = shared.diagonal + panel_at<T>(p);
    const int ld = panel_ld<T>(p);
    T *c = shared.carried + inner * p;
    for (int e = inner + lane; inner * p + e < columns; e += 32) {
      T value = c[e];
#pragma unroll
      for (int j = 0; j < inner; ++j) value = minus_product(value, c[j], conjugate(panel[j * ld + e]));
      c[e] = value;
    }
    __syncwarp();
  }
  SXT_DENSE void write(int k0, int columns) const {
    for (int e = lane; e < columns; e += 32) s.b[k0 + e] = shared.carried[e];
  }
};

}  // namespace sextant::hermitian_panel
