// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the CSR kernels: typed arrays, sums over a row, products with op(A) for a range of its rows.
//
// An entry costs sizeof(value) + 4 bytes and one multiply-add a right-hand side: the loops are bound by memory
// bandwidth. Right-hand sides go in blocks of four, so that A is read once for four columns.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sextant/sdk/cpu/spmv.hpp"

namespace sextant::spmv_csr {

using plugin::product;
using plugin::Range;
using plugin::store;
using plugin::Vectors;

// A as its arrays; Offset is the type of row pointers, M that of the values.
template <class M, class Offset>
struct Csr {
  const Offset *row_ptr;
  const std::int32_t *col;
  const M *values;
  std::int64_t rows, cols;
};

// sum[r] += the entries from .. to-1 times column r of x. Long runs use four chains, so that no addition waits for the
// one before; the form depends only on the run's length, never on threads.
template <int R, class V, class M, class Offset>
inline void add_run(const Csr<M, Offset> &a, Offset from, Offset to, const V *x, std::int64_t ldx, V (&sum)[R]) {
  Offset k = from;
  if constexpr (R == 1) {
    if (to - from >= 16) {
      V chain[4] = {};
      for (; to - k >= 4; k += 4)  // k + 4 may overflow
        for (int c = 0; c < 4; ++c) chain[c] += product(V(a.values[k + c]), x[a.col[k + c]]);
      sum[0] += (chain[0] + chain[1]) + (chain[2] + chain[3]);
    }
  }
  for (; k < to; ++k) {
    const V value = V(a.values[k]);
    const V *at = x + a.col[k];
    for (int r = 0; r < R; ++r) sum[r] += product(value, at[r * ldx]);
  }
}

// Whole rows of y = alpha A x + beta y.
template <int R, class V, class M, class Offset>
void multiply_rows(const Csr<M, Offset> &a, Range rows, const Vectors<V> &v) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    V sum[R] = {};
    add_run<R>(a, a.row_ptr[i], a.row_ptr[i + 1], v.x, v.ldx, sum);
    for (int r = 0; r < R; ++r) store(v.y[i + r * v.ldy], sum[r], v.alpha, v.beta);
  }
}

// The first entry of a row whose column is at least `column`. Short rows are walked.
template <class Offset>
inline Offset first_at_least(const std::int32_t *col, Offset from, Offset to, std::int64_t column) {
  if (to - from <= 16) {
    while (from < to && col[from] < column) ++from;
    return from;
  }
  return static_cast<Offset>(std::lower_bound(col + from, col + to, static_cast<std::int32_t>(column)) - col);
}

// y = alpha A^T x + beta y for a range of A's columns: every row is searched for its entries in the range, so that no
// other thread writes there. Elements of y are summed in the order of rows, for any ranges.
template <int R, bool conjugated, class V, class M, class Offset>
void multiply_columns(const Csr<M, Offset> &a, Range columns, const Vectors<V> &v) {
  for (int r = 0; r < R; ++r)
    for (std::int64_t j = columns.begin; j < columns.end; ++j) {
      V &y = v.y[j + r * v.ldy];
      y = v.beta == V(0) ? V(0) : product(v.beta, y);
    }
  if (columns.begin == columns.end) return;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    V x[R];
    for (int r = 0; r < R; ++r) x[r] = product(v.alpha, v.x[i + r * v.ldx]);
    const Offset end = a.row_ptr[i + 1];
    Offset k = a.row_ptr[i];
    if (columns.begin > 0) k = first_at_least(a.col, k, end, columns.begin);
    for (; k < end && a.col[k] < columns.end; ++k) {
      const V value = conjugated ? plugin::conjugate(V(a.values[k])) : V(a.values[k]);
      for (int r = 0; r < R; ++r) v.y[a.col[k] + r * v.ldy] += product(value, x[r]);
    }
  }
}

// The types behind a call: f(Csr<M, Offset>, V tag). Columns are i32 here.
template <class F>
sxt_status with_csr(const sxt_csr &a, sxt_value_type vectors, F &&f) {
  return plugin::with_matrix_types(vectors, a.s.value_type, [&](auto v, auto m) {
    return plugin::with_index_type(a.s.offset_type, [&](auto offset) {
      using M = typename decltype(m)::type;
      using Offset = typename decltype(offset)::type;
      return f(Csr<M, Offset>{static_cast<const Offset *>(a.row_ptr), static_cast<const std::int32_t *>(a.col),
                              static_cast<const M *>(a.values), a.s.rows, a.s.cols},
               v);
    });
  });
}

// y = alpha op(A) x + beta y for a range of columns of A, op being one of the transposes.
template <int R, class V, class M, class Offset>
void multiply_transposed(const Csr<M, Offset> &a, sxt_op op, Range columns, const Vectors<V> &v) {
  if (op == SXT_TRANSPOSE || !plugin::is_complex<V>)
    multiply_columns<R, false>(a, columns, v);
  else
    multiply_columns<R, true>(a, columns, v);
}

// sums[j] += alpha op(A)[j][i] x[i] for rows and entries of one part of A, which may begin and end inside rows.
template <int R, bool conjugated, class V, class M, class Offset>
void scatter_run(const Csr<M, Offset> &a, std::int64_t row, Offset from, Offset to, const Vectors<V> &v, V *sums,
                 std::int64_t ld) {
  V x[R];
  for (int r = 0; r < R; ++r) x[r] = product(v.alpha, v.x[row + r * v.ldx]);
  for (Offset k = from; k < to; ++k) {
    const V value = conjugated ? plugin::conjugate(V(a.values[k])) : V(a.values[k]);
    for (int r = 0; r < R; ++r) sums[a.col[k] + r * ld] += product(value, x[r]);
  }
}

}  // namespace sextant::spmv_csr
