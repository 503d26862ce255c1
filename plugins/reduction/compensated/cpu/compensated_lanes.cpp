// SPDX-License-Identifier: BSD-3-Clause
// Sums in twice the working precision (Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26, 2005): every addition also gives
// the rounding it lost (Knuth's TwoSum), every product its own rounding (one fused multiply-add), and the lost parts
// are summed separately. All types are summed in double, where the products of single precision are exact. 32 lanes in
// registers of any width, so bits do not depend on the instruction set.
#include "compensated_table.hpp"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/sdk/cpu/type_table.hpp"
#include "sextant/sdk/cpu/vectors.hpp"

namespace sextant_reduction_compensated::SXT_ISA {

using namespace sextant::plugin::SXT_ISA;
using V = Vector<double>;
constexpr int W = width<double>;
constexpr int group = 4;  // vectors of sums and of losses at a time: limited by registers

// a b - p, exactly: p is a b rounded.
V product_loss(V a, V b, V p) {
#if defined(SXT_ISA_avx512)
  return _mm512_fmsub_pd(a, b, p);
#elif defined(SXT_ISA_avx2)
  return _mm256_fmsub_pd(a, b, p);
#else
  V loss;
  for (int l = 0; l < W; ++l) loss[l] = __builtin_fma(a[l], b[l], -p[l]);
  return loss;
#endif
}

// sum += v; the addition's rounding error is added to lost.
template <class U>
inline void add(U &sum, U &lost, U v) {
  const U total = sum + v, part = total - sum;
  lost += (sum - (total - part)) + (v - part);
  sum = total;
}

template <class R>
V widened(const R *p) {
  if constexpr (sizeof(R) == sizeof(double))
    return load<V>(p);
  else
    return __builtin_convertvector((load<Vector<R, W *int{sizeof(R)}>>(p)), V);
}

// Products of single precision lose nothing in double.
template <class R>
void add_product(V &sum, V &lost, V a, V b) {
  const V p = a * b;
  add(sum, lost, p);
  if constexpr (sizeof(R) == sizeof(double)) lost += product_loss(a, b, p);
}

// Term kinds: one vector of terms at x (and y) into a sum and its losses.
template <class R>
struct AddValues {
  static constexpr bool two = false;
  void operator()(V &sum, V &lost, const R *x, const R *) const { add(sum, lost, widened(x)); }
};
template <class R>
struct AddMagnitudes {
  static constexpr bool two = false;
  void operator()(V &sum, V &lost, const R *x, const R *) const { add(sum, lost, absolute(widened(x))); }
};
template <class R>
struct AddSquares {
  static constexpr bool two = false;
  double scale;
  void operator()(V &sum, V &lost, const R *x, const R *) const {
    const V v = scale * widened(x);
    add_product<R>(sum, lost, v, v);
  }
};
template <class R, int C, bool Conjugate>
struct AddProducts {
  static constexpr bool two = true;
  void operator()(V &sum, V &lost, const R *x, const R *y) const {
    const V a = widened(x), b = widened(y);
    if constexpr (C == 1) {
      add_product<R>(sum, lost, a, b);
    } else {
      const V turned = alternating<V>() * exchanged(b);
      add_product<R>(sum, lost, real_twice(a), b);
      add_product<R>(sum, lost, imaginary_twice(a), Conjugate ? -turned : turned);
    }
  }
};

// Adds rows of 32 C reals, lane by lane.
template <int C, class R, class Add>
void add_rows(const Add &add_terms, const R *x, const R *y, int64_t rows, double *sum, double *lost) {
  constexpr int row = 32 * C;
  for (int g = 0; g < row; g += group * W) {
    V s[group], c[group];
    for (int k = 0; k < group; ++k) s[k] = load<V>(sum + g + k * W), c[k] = load<V>(lost + g + k * W);
    for (int64_t r = 0; r < rows; ++r)
#pragma GCC unroll 4
      for (int k = 0; k < group; ++k) {
        const int64_t at = r * row + g + k * W;
        add_terms(s[k], c[k], x + at, Add::two ? y + at : nullptr);
      }
    for (int k = 0; k < group; ++k) store(sum + g + k * W, s[k]), store(lost + g + k * W, c[k]);
  }
}

// One leaf of `count` reals; a last incomplete row is filled with zeros, which add nothing and lose nothing.
template <int C, class R, class Add>
Leaf sum_leaf(const Add &add_terms, const R *x, const R *y, int64_t count) {
  constexpr int row = 32 * C;
  alignas(64) double sum[row] = {}, lost[row] = {};
  const int64_t rows = count / row, rest = count - rows * row;
  add_rows<C>(add_terms, x, y, rows, sum, lost);
  if (rest) {
    R last_x[row] = {}, last_y[row] = {};
    __builtin_memcpy(last_x, x + rows * row, static_cast<uint64_t>(rest) * sizeof(R));
    if (Add::two) __builtin_memcpy(last_y, y + rows * row, static_cast<uint64_t>(rest) * sizeof(R));
    add_rows<C>(add_terms, last_x, last_y, 1, sum, lost);
  }
  for (int half = row / 2; half >= C; half /= 2)
    for (int l = 0; l < half; ++l) {
      lost[l] += lost[l + half];
      add(sum[l], lost[l], sum[l + half]);
    }
  return {{sum[0], C == 2 ? sum[C - 1] : 0}, {lost[0], C == 2 ? lost[C - 1] : 0}};
}

// C: reals a sum; parts: reals an element.
template <int C, class R, class Add>
void leaves(const Add &add_terms, const Call &c, int parts, int64_t first, int64_t last, Leaf *out) {
  const R *x = static_cast<const R *>(c.x), *y = static_cast<const R *>(c.y);
  const int64_t size = int64_t{leaf_size} * parts, n = c.n * parts;
  for (int64_t leaf = first; leaf < last; ++leaf) {
    const int64_t begin = leaf * size, count = n - begin < size ? n - begin : size;
    out[leaf] = sum_leaf<C>(add_terms, x + begin, Add::two ? y + begin : nullptr, count);
  }
}

template <class R, int C>
void value_leaves(const Call &c, int64_t first, int64_t last, Leaf *out) {
  leaves<C, R>(AddValues<R>{}, c, C, first, last, out);
}
template <class R, int C, bool Conjugate>
void product_leaves(const Call &c, int64_t first, int64_t last, Leaf *out) {
  leaves<C, R>(AddProducts<R, C, Conjugate>{}, c, C, first, last, out);
}
// Magnitudes and squares of complex numbers are those of their parts.
template <class R, int C>
void magnitude_leaves(const Call &c, int64_t first, int64_t last, Leaf *out) {
  leaves<1, R>(AddMagnitudes<R>{}, c, C, first, last, out);
}
template <class R, int C>
void square_leaves(const Call &c, int64_t first, int64_t last, Leaf *out) {
  leaves<1, R>(AddSquares<R>{c.scale}, c, C, first, last, out);
}

template <class R, int C>
constexpr void fill_type(Table &table, int type) {
  auto *l = table.leaves[type];
  l[values] = value_leaves<R, C>;
  l[products] = product_leaves<R, C, false>;
  l[conjugate_products] = product_leaves<R, C, true>;
  l[magnitudes] = magnitude_leaves<R, C>;
  l[squares] = square_leaves<R, C>;
}

extern const Table table;
constinit const Table table =
    table_of_types<Table>([]<class R, int C>(Number<R, C>, Table &table, int type) { fill_type<R, C>(table, type); });

}  // namespace sextant_reduction_compensated::SXT_ISA
