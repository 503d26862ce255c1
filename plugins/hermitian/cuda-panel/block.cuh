// SPDX-License-Identifier: BSD-3-Clause
// The pieces of the sweep that one thread block does on a tile of 64 rows by 64 columns: a warp owns a stripe of 16
// rows and all 64 columns, in registers, from the update to the triangular solve. Shared memory holds the panels that
// arrive (stages) and the diagonal tile with its four 16-blocks inverted.
#pragma once

#include "mma.cuh"

namespace sextant::hermitian_panel {

// Columns brought in a step, and steps under way or in use.
inline constexpr int depth = 8, stages = 4;

inline constexpr unsigned all_lanes = 0xffffffffu;

// A 16 x 16 block in shared memory stands in columns of 17; what is read beyond it is not used.
inline constexpr int block_ld = inner + 1, block_room = (inner + 1) * block_ld;

// A system with its right-hand sides carried as rows first_rhs_row .. rows - 1, from a multiple of 16: their
// conjugates, so that what is done to rows of A solves L y = b.
template <class T>
struct View : System<T> {
  int first_rhs_row, rows;
  SXT_DENSE explicit View(const System<T> &system) : System<T>(system) {
    first_rhs_row = (this->n + inner - 1) / inner * inner;
    rows = this->n_rhs > 0 ? first_rhs_row + this->n_rhs : this->n;
  }
};

// Padding of a column of shared memory: the addresses (2t) ld + g of a warp's loads then fall into different banks.
template <class T>
inline constexpr int pad = sizeof(T) == 16  ? 1
                           : sizeof(T) == 8 ? 2
                                            : 4;
template <class T>
inline constexpr int stage_ld = tile + pad<T>;

// Panel p of the diagonal tile: rows 16p .. 63 of its columns 16p .. 16p + 15.
template <class T>
__host__ __device__ constexpr int panel_ld(int p) {
  return tile - inner * p + pad<T>;
}
template <class T>
__host__ __device__ constexpr int panel_at(int p) {
  return inner * (p * (tile + pad<T>)-inner * (p * (p - 1) / 2));
}

template <class T>
struct Shared {
  T stage[stages][2][depth * stage_ld<T>];  // [0] rows of the tile, [1] rows of the block column's own tile
  T diagonal[panel_at<T>(4)];
  T scratch[block_room];
  int failed;  // the code of a block of the diagonal tile that could not be factored
  int refine;  // bit p: block p is so ill-conditioned that solutions with its inverse are refined
  View<T> system;
};

SXT_DENSE void copy_async(void *to, const void *from, int bytes, bool valid) {
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const int size = valid ? bytes : 0;  // 0: zeros are written and nothing is read
  if (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(size) : "memory");
  else if (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from), "r"(size) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(size) : "memory");
}
SXT_DENSE void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending>
SXT_DENSE void await() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// 16 rows: of the matrix, or right-hand sides carried as rows.
template <class T>
struct Stripe {
  T *base;
  std::int64_t row, column;
  int valid;
  bool rhs;
};
template <class T>
SXT_DENSE Stripe<T> stripe_at(const View<T> &s, int first) {
  if (first < s.first_rhs_row) return {s.a + first * s.row, s.row, s.column, max(0, min(inner, s.n - first)), false};
  return {s.b + (first - s.first_rhs_row) * s.ldb, s.ldb, 1, max(0, min(inner, s.rows - first)), true};
}

// How a lane walks over 16 rows x 8 columns so that neighbouring lanes read neighbouring memory: four elements.
struct Walk {
  int row, column, row_step, column_step;
};
SXT_DENSE Walk walk_for(std::int64_t row_stride, int lane) {
  if (row_stride == 1) return {lane & 15, lane >> 4, 0, 2};
  return {lane >> 3, lane & 7, 4, 0};
}
// A lane's way through a stripe: where its first element of the next eight columns is.
template <class T>
struct Source {
  const T *at;
  int step, advance;  // between the four elements; to the next eight columns
  int to, to_step;
  unsigned valid;  // bit i: element i exists
};
template <class T>
SXT_DENSE Source<T> source_of(const Stripe<T> &s, int lane) {
  const Walk w = walk_for(s.row, lane);
  unsigned valid = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) valid |= (w.row + i * w.row_step < s.valid) << i;
  return {s.base + w.row * s.row + w.column * s.column, static_cast<int>(w.row_step * s.row + w.column_step * s.column),
          static_cast<int>(depth * s.column),           w.column * stage_ld<T> + w.row,
          w.column_step * stage_ld<T> + w.row_step,     valid};
}
template <class T>
SXT_DENSE void stage_stripe(T *to, Source<T> &s) {
  const T *from = s.at;
  to += s.to;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    copy_async(to, from, sizeof(T), s.valid >> i & 1);
    to += s.to_step, from += s.step;
  }
  s.at += s.advance;
}

// Eight columns of the stripe itself, first .. first + 7 of the tile; what `exists` refuses is not read and counts as
// zero.
template <class T, class F>
SXT_DENSE void stage_own(T *to, Source<T> &s, const Walk &w, int first, const F &exists) {
  const T *from = s.at;
  to += s.to;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    copy_async(to, from, sizeof(T), exists(w.row + i * w.row_step, first + w.column + i * w.column_step));
    to += s.to_step, from += s.step;
  }
  s.at += s.advance;
}
template <class T>
SXT_DENSE void add_columns(Accumulator<T> &c, const T *own, bool conjugated, int g, int t) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const T v = own[(2 * t + i % 2) * stage_ld<T> + g + 8 * (i / 2)];
    c.set(i, sum(c.get(i), conjugated ? conjugate(v) : v));
  }
}
template <class T>
SXT_DENSE void write_tile(const Accumulator<T> (&c)[8], const Stripe<T> &s, int k0, int columns, int blocks, int g,
                          int t) {
  T *at = s.base + g * s.row + (k0 + 2 * t) * s.column;
  const std::int64_t lower = 8 * s.row, step = 8 * s.column;
  const bool upper_half = g < s.valid, lower_half = g + 8 < s.valid;
#pragma unroll
  for (int j = 0; j < 8; ++j, at += step) {
    if (j / 2 >= blocks) continue;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (8 * j + 2 * t + i >= columns) continue;
      if (upper_half) at[i ? s.column : 0] = c[j].get(i);
      if (lower_half) at[lower + (i ? s.column : 0)] = c[j].get(2 + i);
    }
  }
}

// c -= L(rows, step) conj(L(columns, step))' for one step of eight columns. The number of blocks is the code's, not a
// condition: accumulators that are updated under a condition would be copied back and forth.
template <int blocks, class T>
SXT_DENSE void update_step(Accumulator<T> (&c)[8], const T *left, const T *right, int g, int t) {
  const LeftOperand<T> a = load_left<T, -1>(left, stage_ld<T>, g, t);
#pragma unroll
  for (int j = 0; j < 2 * blocks; ++j) product(c[j], a, load_right<T>(right + 8 * j, stage_ld<T>, g, t));
}

// x += s C inverse(L_pp)^H for the 16 columns p of a stripe, given as the two accumulators of C.
template <class T, int p>
SXT_DENSE void times_inverse(Accumulator<T> (&x)[2], const Accumulator<T> &first, const Accumulator<T> &second,
                             const T *diagonal, int g, int t) {
  const T *panel = diagonal + panel_at<T>(p);
  constexpr int ld = panel_ld<T>(p);
  const LeftOperand<T> a = as_left<T, 1>(first), b = as_left<T, 1>(second);
  product(x[0], a, load_right<T>(panel, ld, g, t));
  product(x[1], a, load_right<T>(panel + 8, ld, g, t));
  product(x[1], b, load_right<T>(panel + 8 * ld + 8, ld, g, t));
}
// Solves for the 16 columns p of the stripe, X = C inverse(L_pp)^H. Where the block is so ill-conditioned that its
// inverse would cost digits, the residual C - X L_pp^H is solved for once more; L_pp stands in memory by then.
template <class T, int p, bool may_refine>
SXT_DENSE void solve_columns(Accumulator<T> (&c)[8], const Shared<T> &shared, int k0, int g, int t) {
  Accumulator<T> x[2];
  x[0].clear(), x[1].clear();
  times_inverse<T, p>(x, c[2 * p], c[2 * p + 1], shared.diagonal, g, t);
  if (may_refine && (shared.refine >> p & 1)) {
    const View<T> &s = shared.system;
    const int first = k0 + inner * p;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const LeftOperand<T> a = as_left<T, -1>(x[k]);
#pragma unroll
      for (int j = k; j < 2; ++j) {
        const auto l = [&](int column) {
          const int row = 8 * j + g;
          if (row < column) return T{};
          return first + row < s.n && first + column < s.n ? *s.at(first + row, first + column)
                                                           : from_real<T>(row == column);
        };
        product(c[2 * p + j], a, RightOperand<T>::of(l(8 * k + 2 * t), l(8 * k + 2 * t + 1)));
      }
    }
    times_inverse<T, p>(x, c[2 * p], c[2 * p + 1], shared.diagonal, g, t);
  }
  c[2 * p] = x[0], c[2 * p + 1] = x[1];
}
// Takes the solved columns p off those to the right of them, up to `blocks` blocks of 16 in all.
template <class T, int p, int blocks>
SXT_DENSE void take_off(Accumulator<T> (&c)[8], const T *diagonal, int g, int t) {
  const T *panel = diagonal + panel_at<T>(p);
  constexpr int ld = panel_ld<T>(p);
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const LeftOperand<T> a = as_left<T, -1>(c[2 * p + k]);
#pragma unroll
    for (int j = 2 * (p + 1); j < 2 * blocks; ++j)
      product(c[j], a, load_right<T>(panel + 8 * k * ld + 8 * j - inner * p, ld, g, t));
  }
}

}  // namespace sextant::hermitian_panel
