// SPDX-License-Identifier: BSD-3-Clause
// Products with the columns of A as they lie in memory: one vector times A, which streams several columns at once, and
// A^H times few columns, which folds vectors of products.
#pragma once

#include "tiles.hpp"

namespace sextant_dense_loops::SXT_ISA {

// c -= A b for one column b, `together` columns of A at a time. Sizes and distances in reals.
template <class R, int C, int together>
struct Axpy {
  using V = Vector<R>;
  const R *a;
  int64_t lda;
  const R *b;
  R *c;
  template <int vectors, bool partial>
  SXT_SHARED void at(int64_t row, const Part<R> &part) const {
    using T = Tile<R, C, vectors, 1, partial>;
    V sum[vectors];
    written_out<vectors>([&](int v) SXT_WRITTEN_OUT { sum[v] = T::load_at(c + row, v, part); });
    written_out<together>([&](int l) SXT_WRITTEN_OUT {
      written_out<vectors>([&](int v) SXT_WRITTEN_OUT {
        const V column = T::load_at(a + row + l * lda, v, part);
        if constexpr (C == 1)
          sum[v] -= b[l] * column;
        else
          sum[v] -= b[2 * l] * column + (b[2 * l + 1] * alternating<V>()) * exchanged(column);
      });
    });
    written_out<vectors>([&](int v) SXT_WRITTEN_OUT { T::store_at(c + row, v, sum[v], part); });
  }
};

template <class R, int C>
inline void vector_product(const R *a, int64_t lda, const R *b, R *c, int64_t reals, int64_t k) {
  int64_t l = 0;
  for (; k - l >= 8; l += 8) for_row_tiles<R>(reals, Axpy<R, C, 8>{a + l * lda, lda, b + l * C, c});
  if (k - l >= 4) for_row_tiles<R>(reals, Axpy<R, C, 4>{a + l * lda, lda, b + l * C, c}), l += 4;
  if (k - l >= 2) for_row_tiles<R>(reals, Axpy<R, C, 2>{a + l * lda, lda, b + l * C, c}), l += 2;
  if (k - l == 1) for_row_tiles<R>(reals, Axpy<R, C, 1>{a + l * lda, lda, b + l * C, c});
}

// The sum of a vector's lanes, by halves; of pairs, the sum of those in each place.
template <int C, class V>
SXT_WRITTEN_OUT inline void sum_lanes(V v, Lane<V> (&sums)[C]) {
  if constexpr (lanes_of < V >> C)
    sum_lanes<C>(lower(v, Lanes_of<Half<V>>{}) + upper(v, Lanes_of<Half<V>>{}), sums);
  else
    for (int c = 0; c < C; ++c) sums[c] = v[c];
}

// c(i, j) -= a(:, i)^H b(:, j) for `left` columns of A by `right` of B, all of k numbers.
template <class R, int C, int left, int right>
inline void dots(const R *a, int64_t lda, const R *b, int64_t ldb, R *c, int64_t ldc, int64_t reals) {
  using V = Vector<R>;
  constexpr int W = width<R>;
  V sum[left][right][C] = {};
  const auto add = [&](auto &&take) SXT_WRITTEN_OUT {
    V factor[right];
    written_out<right>([&](int j) SXT_WRITTEN_OUT { factor[j] = take(b + j * ldb); });
    written_out<left>([&](int i) SXT_WRITTEN_OUT {
      const V column = take(a + i * lda);
      written_out<right>([&](int j) SXT_WRITTEN_OUT {
        sum[i][j][0] += column * factor[j];
        if constexpr (C == 2) sum[i][j][1] += column * exchanged(factor[j]);
      });
    });
  };
  int64_t l = 0;
  for (; reals - l >= W; l += W) add([&](const R *p) SXT_WRITTEN_OUT { return load<V>(p + l); });
  if (l < reals) {
    const Part<R> part(static_cast<int>(reals - l));
    add([&](const R *p) SXT_WRITTEN_OUT { return part.load(p + l); });
  }
  for (int i = 0; i < left; ++i)
    for (int j = 0; j < right; ++j) {
      R parts[C];
      sum_lanes<C>(sum[i][j][0], parts);
      if constexpr (C == 1) {
        c[i + j * ldc] -= parts[0];
      } else {  // conj(a) b = re a re b + im a im b + i (re a im b - im a re b)
        c[2 * i + j * ldc] -= parts[0] + parts[1];
        sum_lanes<C>(sum[i][j][1], parts);
        c[2 * i + 1 + j * ldc] -= parts[0] - parts[1];
      }
    }
}

template <class R, int C, int right>
inline void dots_of_columns(const R *a, int64_t lda, const R *b, int64_t ldb, R *c, int64_t ldc, int64_t m,
                            int64_t reals) {
  constexpr int left = right == 1 ? 4 : C == 1 ? 3 : 1;
  int64_t i = 0;
  for (; m - i >= left; i += left) dots<R, C, left, right>(a + i * lda, lda, b, ldb, c + i * C, ldc, reals);
  for (; i < m; ++i) dots<R, C, 1, right>(a + i * lda, lda, b, ldb, c + i * C, ldc, reals);
}

}  // namespace sextant_dense_loops::SXT_ISA
