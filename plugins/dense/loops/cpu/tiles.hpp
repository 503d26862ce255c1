// SPDX-License-Identifier: BSD-3-Clause
// Tiles of a product that stay in registers: `vectors` vectors of rows by `columns` columns, of which the last vector
// may be partial. Complex numbers are pairs of reals in the vectors; a column then has two accumulators, for the real
// and the imaginary part of its factor, which are joined once at the end.
#pragma once

#include "sextant/sdk/cpu/vectors.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC's own intrinsics, whose results begin undefined
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#define SXT_WRITTEN_OUT __attribute__((always_inline))
#define SXT_SHARED __attribute__((noinline))  // many callers, and a body that is long to compile

namespace sextant_dense_loops::SXT_ISA {

using namespace sextant::plugin::SXT_ISA;

#if defined(SXT_ISA_avx512)
inline constexpr int most_vectors = 3, most_reals = 8;  // accumulators that leave room for operands
#elif defined(SXT_ISA_avx2)
inline constexpr int most_vectors = 3, most_reals = 4;
#else
inline constexpr int most_vectors = 2, most_reals = 4;
#endif
template <int C>
inline constexpr int most_columns = most_reals / C;

// The same number in all lanes: a load that repeats, where spread() would add it to 0.
template <class V, int... I>
SXT_WRITTEN_OUT inline V repeated(Lane<V> value, Pack<I...>) {
  return V{(static_cast<void>(I), value)...};
}
template <class V>
SXT_WRITTEN_OUT inline V repeated(Lane<V> value) {
  return repeated<V>(value, Lanes_of<V>{});
}

// The first lanes of a vector, of which the others are neither read nor written.
template <class R>
struct Part {
  using V = Vector<R>;
  int count;
#if defined(SXT_ISA_avx2)
  __m256i mask;
#endif
  explicit Part(int lanes) : count(lanes) {
#if defined(SXT_ISA_avx2)
    if constexpr (sizeof(R) == 8) {
      const __m256i at = _mm256_set_epi64x(3, 2, 1, 0);
      mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(lanes), at);
    } else {
      const __m256i at = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
      mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes), at);
    }
#endif
  }
  SXT_WRITTEN_OUT V load(const R *p) const {
#if defined(SXT_ISA_avx512)
    if constexpr (sizeof(R) == 8)
      return (V)_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), p);
    else
      return (V)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), p);
#elif defined(SXT_ISA_avx2)
    if constexpr (sizeof(R) == 8)
      return (V)_mm256_maskload_pd(p, mask);
    else
      return (V)_mm256_maskload_ps(p, mask);
#else
    V v = {};
    for (int l = 0; l < count; ++l) v[l] = p[l];
    return v;
#endif
  }
  SXT_WRITTEN_OUT void store(R *p, V v) const {
#if defined(SXT_ISA_avx512)
    if constexpr (sizeof(R) == 8)
      _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1u << count) - 1), (__m512d)v);
    else
      _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << count) - 1), (__m512)v);
#elif defined(SXT_ISA_avx2)
    if constexpr (sizeof(R) == 8)
      _mm256_maskstore_pd(p, mask, (__m256d)v);
    else
      _mm256_maskstore_ps(p, mask, (__m256)v);
#else
    for (int l = 0; l < count; ++l) p[l] = v[l];
#endif
  }
};

// One operand by columns: where it begins and how far its columns are apart, in reals.
template <class R>
struct Columns {
  R *data;
  int64_t ld;
};
// The other one: number (l, c) lies at data + l * step + c * next, in reals; conjugated or not.
template <class R>
struct Factors {
  const R *data;
  int64_t step, next;
};

template <class R, int C, int vectors, int columns, bool partial>
struct Tile {
  using V = Vector<R>;
  static constexpr int W = width<R>;
  V x[vectors][columns];

  static SXT_WRITTEN_OUT V load_at(const R *p, int v, const Part<R> &part) {
    return partial && v == vectors - 1 ? part.load(p + v * W) : load<V>(p + v * W);
  }
  static SXT_WRITTEN_OUT void store_at(R *p, int v, V value, const Part<R> &part) {
    if (partial && v == vectors - 1)
      part.store(p + v * W, value);
    else
      sextant::plugin::SXT_ISA::store(p + v * W, value);
  }

  // x = the sum over l < k of a(:, l) b(l, c), or of a(:, l) conj(b(l, c)).
  template <bool conjugated>
  SXT_WRITTEN_OUT void multiply(const R *a, int64_t lda, const Factors<R> &b, int64_t k, const Part<R> &part) {
    V sum[vectors][columns * C] = {};
    const R *f = b.data;
    for (int64_t l = 0; l < k; ++l, a += lda, f += b.step) {
      V column[vectors];
      written_out<vectors>([&](int v) SXT_WRITTEN_OUT { column[v] = load_at(a, v, part); });
      written_out<columns * C>([&](int c) SXT_WRITTEN_OUT {
        const V factor = repeated<V>(f[c / C * b.next + c % C]);
        written_out<vectors>([&](int v) SXT_WRITTEN_OUT { sum[v][c] += column[v] * factor; });
      });
    }
    written_out<columns>([&](int c) SXT_WRITTEN_OUT {
      written_out<vectors>([&](int v) SXT_WRITTEN_OUT {
        if constexpr (C == 1)
          x[v][c] = sum[v][c];
        else if constexpr (conjugated)
          x[v][c] = sum[v][2 * c] - alternating<V>() * exchanged(sum[v][2 * c + 1]);
        else
          x[v][c] = sum[v][2 * c] + alternating<V>() * exchanged(sum[v][2 * c + 1]);
      });
    });
  }
  // x = c - x
  SXT_WRITTEN_OUT void subtract_from(const R *c, int64_t ld, const Part<R> &part) {
    written_out<columns>([&](int j) SXT_WRITTEN_OUT {
      written_out<vectors>([&](int v) SXT_WRITTEN_OUT { x[v][j] = load_at(c + j * ld, v, part) - x[v][j]; });
    });
  }
  SXT_WRITTEN_OUT void put(R *c, int64_t ld, const Part<R> &part) const {
    written_out<columns>([&](int j) SXT_WRITTEN_OUT {
      written_out<vectors>([&](int v) SXT_WRITTEN_OUT { store_at(c + j * ld, v, x[v][j], part); });
    });
  }
  // x = x L^-H for the lower triangle l (in reals), by the inverse diagonal: at once, or, where L is unit, at the end.
  template <bool unit>
  SXT_WRITTEN_OUT void divide(const R *l, int64_t ld, const R *inverse) {
    written_out<columns>([&](int c) SXT_WRITTEN_OUT {
      written_out<columns>([&](int e) SXT_WRITTEN_OUT {
        if (e >= c) return;
        const R re = l[c * C + e * ld];
        if constexpr (C == 1) {
          written_out<vectors>([&](int v) SXT_WRITTEN_OUT { x[v][c] -= re * x[v][e]; });
        } else {
          const R im = l[c * C + e * ld + 1];
          written_out<vectors>(
              [&](int v) SXT_WRITTEN_OUT { x[v][c] -= re * x[v][e] - (im * alternating<V>()) * exchanged(x[v][e]); });
        }
      });
      if constexpr (!unit) scale_column(c, inverse[c]);
    });
    if constexpr (unit) written_out<columns>([&](int c) SXT_WRITTEN_OUT { scale_column(c, inverse[c]); });
  }

  // x = x L^-1.
  SXT_WRITTEN_OUT void divide_right(const R *l, int64_t ld, const R *inverse) {
    written_out<columns>([&](int back) SXT_WRITTEN_OUT {
      const int c = columns - 1 - back;
      written_out<columns>([&](int e) SXT_WRITTEN_OUT {
        if (e <= c) return;
        const R re = l[e * C + c * ld];
        if constexpr (C == 1) {
          written_out<vectors>([&](int v) SXT_WRITTEN_OUT { x[v][c] -= re * x[v][e]; });
        } else {
          const R im = l[e * C + c * ld + 1];
          written_out<vectors>(
              [&](int v) SXT_WRITTEN_OUT { x[v][c] -= re * x[v][e] + (im * alternating<V>()) * exchanged(x[v][e]); });
        }
      });
      scale_column(c, inverse[c]);
    });
  }

 private:
  SXT_WRITTEN_OUT void scale_column(int c, R factor) {
    written_out<vectors>([&](int v) SXT_WRITTEN_OUT { x[v][c] *= factor; });
  }
};

// Calls f.template at<vectors, partial>(row, part) for tiles that cover `reals` rows.
template <class R, class F>
inline void for_row_tiles(int64_t reals, const F &f) {
  constexpr int W = width<R>;
  int64_t row = 0;
  const Part<R> whole(0);
  for (; reals - row >= most_vectors * W; row += most_vectors * W) f.template at<most_vectors, false>(row, whole);
  const int64_t rest = reals - row;
  if (rest == 0) return;
  const int vectors = static_cast<int>((rest + W - 1) / W), last = static_cast<int>(rest - (vectors - 1) * W);
  const Part<R> part(last);
  const bool partial = last < W;
  if (vectors == 1)
    partial ? f.template at<1, true>(row, part) : f.template at<1, false>(row, part);
  else if (vectors == 2)
    partial ? f.template at<2, true>(row, part) : f.template at<2, false>(row, part);
  else if constexpr (most_vectors >= 3)
    f.template at<3, true>(row, part);
}

// Calls f.template operator()<columns>(first) for groups that cover n columns.
template <int C, class F>
inline void for_column_groups(int64_t n, const F &f) {
  constexpr int most = most_columns<C>;
  int64_t j = 0;
  for (; n - j >= most; j += most) f.template operator()<most>(j);
  if constexpr (most > 4) {
    if (n - j >= 4) f.template operator()<4>(j), j += 4;
  }
  if constexpr (most > 2) {
    if (n - j == 3) return f.template operator()<3>(j);
    if (n - j == 2) return f.template operator()<2>(j);
  } else {
    if (n - j == 2) return f.template operator()<2>(j);
  }
  if (n - j == 1) f.template operator()<1>(j);
}

// The same from the last columns back.
template <int C, class F>
inline void for_column_groups_back(int64_t n, const F &f) {
  constexpr int most = most_columns<C>;
  int64_t j = n;
  while (j % most != 0) f.template operator()<1>(--j);
  while (j > 0) f.template operator()<most>(j -= most);
}

}  // namespace sextant_dense_loops::SXT_ISA
