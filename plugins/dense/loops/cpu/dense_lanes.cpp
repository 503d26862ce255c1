// SPDX-License-Identifier: BSD-3-Clause
// The operations of kind sxt.dense/1 on tiles in registers, compiled once an instruction set. Nothing is packed, so
// that a matrix of a few columns costs no more than it has numbers; large ones are for kernels that pack.
#include "columns.hpp"
#include "dense_table.hpp"

namespace sextant_dense_loops::SXT_ISA {

using sextant_dense::judge;
using sextant_dense::Pivot;

constexpr int64_t packed_steps = 128;  // of a factor that is scaled by D first
constexpr int64_t direct = 256;        // columns that a factorisation takes at once

// ---- C -= A B, A B^H

template <class R, int C, int columns, bool conjugated>
struct Product {
  const R *a;
  int64_t lda;
  Factors<R> b;
  R *c;
  int64_t ldc, k;
  template <int vectors, bool partial>
  SXT_SHARED void at(int64_t row, const Part<R> &part) const {
    Tile<R, C, vectors, columns, partial> tile;
    tile.template multiply<conjugated>(a + row, lda, b, k, part);
    tile.subtract_from(c + row, ldc, part);
    tile.put(c + row, ldc, part);
  }
};

// The D of an update: numbers a distance of so many reals apart.
template <class R>
struct Weights {
  const R *data;
  int64_t step;
};

// Columns first .. of B^H, scaled by D: number (l, c) at l * columns * C + c * C.
template <class R, int C, int columns>
void pack(R *to, const Factors<R> &b, const Weights<R> &d, int64_t k) {
  for (int64_t l = 0; l < k; ++l)
    for (int c = 0; c < columns * C; ++c)
      to[l * columns * C + c] = b.data[l * b.step + c / C * b.next + c % C] * d.data[l * d.step];
}

// C (m x n) -= A D B^H or A B; of a lower result no rows above the tile that holds the diagonal. Distances in reals.
template <class R, int C, bool conjugated>
void update(const R *a, int64_t lda, const Factors<R> &b, const Weights<R> &d, R *c, int64_t ldc, int64_t m, int64_t n,
            int64_t k, bool lower) {
  for_column_groups<C>(n, [&]<int columns>(int64_t j) {
    const int64_t first = lower ? j * C : 0;
    const Factors<R> group{b.data + j * b.next, b.step, b.next};
    R *const to = c + first + j * ldc;
    if (!d.data)
      return for_row_tiles<R>(m * C - first, Product<R, C, columns, conjugated>{a + first, lda, group, to, ldc, k});
    R packed[packed_steps * most_reals];
    for (int64_t l = 0; l < k; l += packed_steps) {
      const int64_t steps = k - l < packed_steps ? k - l : packed_steps;
      pack<R, C, columns>(packed, {group.data + l * b.step, b.step, b.next}, {d.data + l * d.step, d.step}, steps);
      for_row_tiles<R>(m * C - first, Product<R, C, columns, conjugated>{
                                          a + first + l * lda, lda, {packed, columns * C, C}, to, ldc, steps});
    }
  });
}

// ---- B = B L^-H D^-1, and the rows below the diagonal of a factorisation

template <class R, int C, int columns, bool unit>
struct Divide {
  R *b;  // row 0, column 0
  int64_t ldb, column;
  Factors<R> before;  // L of these rows, scaled by D where it has one, columns 0 .. column - 1
  const R *l;         // L's diagonal block
  int64_t ldl;
  const R *inverse;
  template <int vectors, bool partial>
  SXT_SHARED void at(int64_t row, const Part<R> &part) const {
    R *const to = b + row + column * ldb;
    Tile<R, C, vectors, columns, partial> tile;
    tile.template multiply<true>(b + row, ldb, before, column, part);
    tile.subtract_from(to, ldb, part);
    tile.template divide<unit>(l, ldl, inverse);
    tile.put(to, ldb, part);
  }
};

// Rows with columns that are divided by D already need L D for the columns before.
// A pivot whose reciprocal may leave the range where x / pivot does not: tiles leave its column, which is divided at
// the end, as is right where L is unit.
template <class R>
bool is_tiny(R pivot) {
  return (pivot < 0 ? -pivot : pivot) < (sizeof(R) == 8 ? static_cast<R>(__DBL_MIN__) : static_cast<R>(__FLT_MIN__));
}
template <class R>
R reciprocal(R pivot) {
  return is_tiny(pivot) ? R(1) : 1 / pivot;
}
// Columns of `reals` numbers each, pivots `step` apart.
template <class R, int columns>
void divide_tiny(R *b, int64_t ldb, int64_t reals, const R *pivots, int64_t step) {
  for (int c = 0; c < columns; ++c)
    for (int64_t i = 0; is_tiny(pivots[c * step]) && i < reals; ++i) b[i + c * ldb] /= pivots[c * step];
}

template <class R, int C, bool unit>
void divide_rows(R *b, int64_t ldb, const R *l, int64_t ldl, const Weights<R> &d, int64_t rows, int64_t n) {
  if (rows == 0) return;
  for (int64_t done = 0; done < n; done += direct) {  // what is before a part is subtracted by an update
    const int64_t width = n - done < direct ? n - done : direct;
    R *const part = b + done * ldb;
    const R *const triangle = l + done * C + done * ldl;
    if (done > 0) update<R, C, true>(b, ldb, {l + done * C, ldl, C}, d, part, ldb, rows, width, done, false);
    const Weights<R> weights{d.data ? d.data + done * d.step : nullptr, d.step};
    for_column_groups<C>(width, [&]<int columns>(int64_t j) {
      R inverse[columns], packed[direct * most_reals];
      Factors<R> before{triangle + j * C, ldl, C};
      for (int c = 0; c < columns; ++c)
        inverse[c] = weights.data ? reciprocal(weights.data[(j + c) * weights.step])
                     : unit       ? R(1)
                                  : 1 / triangle[(j + c) * C + (j + c) * ldl];
      if (weights.data) {
        pack<R, C, columns>(packed, before, weights, j);
        before = {packed, columns * C, C};
      }
      for_row_tiles<R>(rows * C,
                       Divide<R, C, columns, unit>{part, ldb, j, before, triangle + j * C + j * ldl, ldl, inverse});
      if (weights.data)
        divide_tiny<R, columns>(part + j * ldb, ldb, rows * C, weights.data + j * weights.step, weights.step);
    });
  }
}

// ---- B = B L^-1

template <class R, int C, int columns>
struct DivideRight {
  R *b;
  int64_t ldb, column;
  const R *l;  // its column `column`, row 0
  int64_t ldl, after;
  const R *inverse;
  template <int vectors, bool partial>
  SXT_SHARED void at(int64_t row, const Part<R> &part) const {
    R *const to = b + row + column * ldb;
    Tile<R, C, vectors, columns, partial> tile;
    tile.template multiply<false>(to + columns * ldb, ldb, {l + (column + columns) * C, C, ldl}, after, part);
    tile.subtract_from(to, ldb, part);
    tile.divide_right(l + column * C, ldl, inverse);
    tile.put(to, ldb, part);
  }
};

template <class R, int C>
void divide_rows_right(R *b, int64_t ldb, const R *l, int64_t ldl, int64_t rows, int64_t n, bool unit) {
  for_column_groups_back<C>(n, [&]<int columns>(int64_t j) {
    R inverse[columns];
    for (int c = 0; c < columns; ++c) inverse[c] = unit ? R(1) : 1 / l[(j + c) * C + (j + c) * ldl];
    for_row_tiles<R>(rows * C, DivideRight<R, C, columns>{b, ldb, j, l + j * ldl, ldl, n - j - columns, inverse});
  });
}

// ---- A = L L^H, L D L^H

// A block of `columns` columns on the diagonal, column by column. Returns 0 or the 1-based column that failed.
template <class R, int C, int columns>
int32_t factor_block(R *t, int64_t ld, const Work &w, int64_t first) {
  const bool definite = w.rule.definite;
  for (int j = 0; j < columns; ++j) {
    R &pivot = t[j * C + j * ld];
    for (int e = 0; e < j; ++e) {
      const R weight = definite ? R(1) : t[e * C + e * ld];
      for (int c = 0; c < C; ++c) pivot -= weight * t[j * C + c + e * ld] * t[j * C + c + e * ld];
    }
    const Pivot verdict = judge(w.rule, pivot);
    if (C == 2) t[j * C + 1 + j * ld] = 0;
    if (verdict == Pivot::failed) return j + 1;
    if (verdict == Pivot::changed && w.marks) w.marks[first + j] = 1;
    if (definite) pivot = static_cast<R>(__builtin_sqrt(pivot));
    const R inverse = reciprocal(pivot);
    for (int i = j + 1; i < columns; ++i) {
      R *const x = t + i * C + j * ld;
      for (int e = 0; e < j; ++e) {
        const R *p = t + i * C + e * ld, *q = t + j * C + e * ld;
        const R weight = definite ? R(1) : t[e * C + e * ld];
        if constexpr (C == 1) {
          x[0] -= weight * p[0] * q[0];
        } else {
          x[0] -= weight * (p[0] * q[0] + p[1] * q[1]);
          x[1] -= weight * (p[1] * q[0] - p[0] * q[1]);
        }
      }
      for (int c = 0; c < C; ++c) x[c] *= inverse;
    }
    divide_tiny<R, 1>(t + (j + 1) * C + j * ld, ld, (columns - j - 1) * C, &pivot, 0);
  }
  return 0;
}

// At most `direct` columns: groups of columns, each with all that stands before it.
template <class R, int C>
int32_t factor_directly(R *a, int64_t lda, int64_t n, const Work &w, int64_t base) {
  int32_t info = 0;
  for_column_groups<C>(n, [&]<int columns>(int64_t j) {
    if (info) return;
    R packed[direct * most_reals];
    Factors<R> before{a + j * C, lda, C};
    if (!w.rule.definite) {
      pack<R, C, columns>(packed, before, {a, lda + C}, j);
      before = {packed, columns * C, C};
    }
    R *const block = a + j * C + j * lda;
    for_row_tiles<R>(columns * C, Product<R, C, columns, true>{a + j * C, lda, before, block, lda, j});
    if (const int32_t failed = factor_block<R, C, columns>(block, lda, w, base + j)) {
      info = static_cast<int32_t>(base + j) + failed;
      return;
    }
    R inverse[columns];
    for (int c = 0; c < columns; ++c) inverse[c] = reciprocal(block[c * C + c * lda]);
    const int64_t below = (n - j - columns) * C;
    if (w.rule.definite)
      for_row_tiles<R>(below, Divide<R, C, columns, false>{a + (j + columns) * C, lda, j, before, block, lda, inverse});
    else
      for_row_tiles<R>(below, Divide<R, C, columns, true>{a + (j + columns) * C, lda, j, before, block, lda, inverse});
    if (!w.rule.definite) divide_tiny<R, columns>(a + (j + columns) * C + j * lda, lda, below, block, lda + C);
  });
  return info;
}

template <class R, int C>
int32_t factor(R *a, int64_t lda, int64_t n, const Work &w) {
  for (int64_t j = 0; j < n; j += direct) {
    const int64_t columns = n - j < direct ? n - j : direct, below = n - j - columns;
    R *const block = a + j * C + j * lda, *const panel = block + columns * C;
    if (const int32_t info = factor_directly<R, C>(block, lda, columns, w, j)) return info;
    const Weights<R> d{w.rule.definite ? nullptr : block, lda + C};
    if (w.rule.definite)
      divide_rows<R, C, false>(panel, lda, block, lda, d, below, columns);
    else
      divide_rows<R, C, true>(panel, lda, block, lda, d, below, columns);
    update<R, C, true>(panel, lda, {panel, lda, C}, d, panel + columns * lda, lda, below, below, columns, true);
  }
  return 0;
}

// ---- C -= A^H B and the solves with one or many right-hand sides

template <class R, int C>
void product_h(const R *a, int64_t lda, const R *b, int64_t ldb, R *c, int64_t ldc, int64_t m, int64_t n, int64_t k) {
  int64_t j = 0;
  for (; n - j >= 4; j += 4) dots_of_columns<R, C, 4>(a, lda, b + j * ldb, ldb, c + j * ldc, ldc, m, k * C);
  for (; j < n; ++j) dots_of_columns<R, C, 1>(a, lda, b + j * ldb, ldb, c + j * ldc, ldc, m, k * C);
}

template <class R, int C>
void product(const R *a, int64_t lda, const R *b, int64_t ldb, R *c, int64_t ldc, int64_t m, int64_t n, int64_t k) {
  if (n == 1) return vector_product<R, C>(a, lda, b, c, m * C, k);
  update<R, C, false>(a, lda, {b, C, ldb}, {nullptr, 0}, c, ldc, m, n, k, false);
}

constexpr int64_t solve_block = 8;

// L^-1 or L^-H on a small block, one right-hand side after the other.
template <class R, int C>
void forward_block(const R *l, int64_t ld, R *x, int64_t m, bool unit) {
  for (int64_t j = 0; j < m; ++j) {
    const R scale = unit ? R(1) : 1 / l[j * C + j * ld];
    R y[C];
    for (int c = 0; c < C; ++c) y[c] = x[j * C + c] *= scale;
    const R *const column = l + j * ld;
    for (int64_t i = j + 1; i < m; ++i)
      if constexpr (C == 1) {
        x[i] -= column[i] * y[0];
      } else {
        x[2 * i] -= column[2 * i] * y[0] - column[2 * i + 1] * y[1];
        x[2 * i + 1] -= column[2 * i] * y[1] + column[2 * i + 1] * y[0];
      }
  }
}
template <class R, int C>
void backward_block(const R *l, int64_t ld, R *x, int64_t m, bool unit) {
  for (int64_t j = m; j-- > 0;) {
    const R *const column = l + j * ld;
    for (int64_t i = j + 1; i < m; ++i)
      if constexpr (C == 1) {
        x[j] -= column[i] * x[i];
      } else {
        x[2 * j] -= column[2 * i] * x[2 * i] + column[2 * i + 1] * x[2 * i + 1];
        x[2 * j + 1] -= column[2 * i] * x[2 * i + 1] - column[2 * i + 1] * x[2 * i];
      }
    const R scale = unit ? R(1) : 1 / column[j * C];
    for (int c = 0; c < C; ++c) x[j * C + c] *= scale;
  }
}

// By halves, so that most of the work is products.
template <class R, int C>
void forward(const R *l, int64_t ld, R *x, int64_t ldx, int64_t m, int64_t n, bool unit) {
  if (m <= solve_block) {
    for (int64_t j = 0; j < n; ++j) forward_block<R, C>(l, ld, x + j * ldx, m, unit);
    return;
  }
  const int64_t top = (m / 2 + solve_block - 1) / solve_block * solve_block, rest = m - top;
  forward<R, C>(l, ld, x, ldx, top, n, unit);
  product<R, C>(l + top * C, ld, x, ldx, x + top * C, ldx, rest, n, top);
  forward<R, C>(l + top * C + top * ld, ld, x + top * C, ldx, rest, n, unit);
}
template <class R, int C>
void backward(const R *l, int64_t ld, R *x, int64_t ldx, int64_t m, int64_t n, bool unit) {
  if (m <= solve_block) {
    for (int64_t j = 0; j < n; ++j) backward_block<R, C>(l, ld, x + j * ldx, m, unit);
    return;
  }
  const int64_t top = (m / 2 + solve_block - 1) / solve_block * solve_block, rest = m - top;
  backward<R, C>(l + top * C + top * ld, ld, x + top * C, ldx, rest, n, unit);
  product_h<R, C>(l + top * C, ld, x + top * C, ldx, x, ldx, top, n, rest);
  backward<R, C>(l, ld, x, ldx, top, n, unit);
}

// ---- one item

template <class R, int C>
int32_t work(const Work &w) {
  R *const a = static_cast<R *>(w.a), *const b = static_cast<R *>(w.b), *const c = static_cast<R *>(w.c);
  const int64_t lda = w.lda * C, ldb = w.ldb * C, ldc = w.ldc * C;
  const Weights<R> d{static_cast<const R *>(w.d), w.incd * C};
  switch (w.operation) {
    case SXT_DENSE_POTRF:
    case SXT_DENSE_LDLH: return factor<R, C>(a, lda, w.n, w);
    case SXT_DENSE_TRSM:
      if (w.unit)
        divide_rows<R, C, true>(b, ldb, a, lda, d, w.m, w.n);
      else
        divide_rows<R, C, false>(b, ldb, a, lda, d, w.m, w.n);
      return 0;
    case SXT_DENSE_SYRK: return update<R, C, true>(a, lda, {a, lda, C}, d, c, ldc, w.n, w.n, w.k, true), 0;
    case SXT_DENSE_GEMM: return update<R, C, true>(a, lda, {b, ldb, C}, d, c, ldc, w.m, w.n, w.k, false), 0;
    case SXT_DENSE_GEMMT: return update<R, C, true>(a, lda, {b, ldb, C}, d, c, ldc, w.n, w.n, w.k, true), 0;
    case SXT_DENSE_RIGHT: return divide_rows_right<R, C>(b, ldb, a, lda, w.m, w.n, w.unit), 0;
    case SXT_DENSE_FORWARD: return forward<R, C>(a, lda, b, ldb, w.m, w.n, w.unit), 0;
    case SXT_DENSE_BACKWARD: return backward<R, C>(a, lda, b, ldb, w.m, w.n, w.unit), 0;
    case SXT_DENSE_PRODUCT: return product<R, C>(a, lda, b, ldb, c, ldc, w.m, w.n, w.k), 0;
    default: return product_h<R, C>(a, lda, b, ldb, c, ldc, w.m, w.n, w.k), 0;
  }
}

extern const Table table;
const Table table = {{work<float, 1>, work<double, 1>, work<float, 2>, work<double, 2>}};

}  // namespace sextant_dense_loops::SXT_ISA
