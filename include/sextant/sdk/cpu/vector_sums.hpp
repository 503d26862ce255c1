// SPDX-License-Identifier: BSD-3-Clause
// What reductions in full-width vectors share: the terms that are summed, the leaf of the fixed tree of
// sdk/tree.hpp with the same bits on every instruction set, and the largest or smallest of an array. For ISA_SOURCES
// only, as sdk/cpu/vectors.hpp is. Compile with -ffp-contract=off where bits matter.
#pragma once

#include "sextant/sdk/cpu/vectors.hpp"

namespace sextant::plugin::SXT_ISA {

// Term sequences: at<V>(i) is the vector of reals from real i on; a term has `parts` reals.
template <class R, int C>
struct Values {
  static constexpr int parts = C;
  const R *x;
  template <class V>
  V at(int64_t i) const {
    return load<V>(x + i);
  }
};

template <class R, int C, bool Conjugate>
struct Products {
  static constexpr int parts = C;
  const R *x, *y;
  template <class V>
  V at(int64_t i) const {
    const V a = load<V>(x + i), b = load<V>(y + i);
    if constexpr (C == 1)
      return a * b;
    else if constexpr (Conjugate)
      return real_twice(a) * b - imaginary_twice(a) * (alternating<V>() * exchanged(b));
    else
      return real_twice(a) * b + imaginary_twice(a) * (alternating<V>() * exchanged(b));
  }
};

// One real a term from the C reals at it: f(re) for real numbers, f(re) + f(im) for complex ones.
template <class R, int C, class F>
struct RealTerms {
  static constexpr int parts = 1;
  const R *x;
  F f;
  template <class V>
  V at(int64_t i) const {
    if constexpr (C == 1) {
      return f(load<V>(x + i));
    } else if constexpr (lanes_of<V> == 1) {
      return f(load<V>(x + 2 * i)) + f(load<V>(x + 2 * i + 1));
    } else {
      const V a = f(load<V>(x + 2 * i)), b = f(load<V>(x + 2 * i + lanes_of<V>));
      return evens(a, b, Lanes_of<V>{}) + odds(a, b, Lanes_of<V>{});
    }
  }
};
struct Absolute {
  template <class V>
  V operator()(V v) const {
    return absolute(v);
  }
};
template <class R>
struct ScaledSquare {
  R scale;
  template <class V>
  V operator()(V v) const {
    return (scale * v) * (scale * v);
  }
};

// Upper half added to lower half until `parts` lanes are left.
template <int parts, class R, class V>
inline void fold(V v, R *out) {
  if constexpr (lanes_of<V> == parts) {
    store(out, v);
  } else {
    using H = typename Count<lanes_of<V> / 2>::type;
    fold<parts>(lower(v, H{}) + upper(v, H{}), out);
  }
}

// Terms beyond the last full row of a leaf, each to its lane.
template <class R, int Bytes, class Terms>
inline void add_rest(int64_t i, int64_t end, R *lane, const Terms &terms) {
  using V = Vector<R, Bytes>;
  for (; end - i >= lanes_of<V>; i += lanes_of<V>, lane += lanes_of<V>)
    store(lane, load<V>(lane) + terms.template at<V>(i));
  if constexpr (lanes_of < V >> Terms::parts) add_rest<R, Bytes / 2>(i, end, lane, terms);
}

// The sum of the terms first .. first+count-1 of one leaf, count <= 1024: lane l = 0 .. 31 adds every 32nd term, then
// takes lanes l + 16, l + 8, ..., l + 1.
template <class R, class Terms>
__attribute__((always_inline)) inline void sum_leaf(int64_t first, int64_t count, const Terms &terms, R *out) {
  constexpr int row = 32 * Terms::parts, vectors = row / width<R>, group = vectors < 8 ? vectors : 8;
  using V = Vector<R>;
  V sum[vectors];
  const int64_t begin = first * Terms::parts, end = begin + count * Terms::parts, rows = count / 32;
  // As many lanes at a time as stay in registers.
  written_out<vectors / group>([&](int g) __attribute__((always_inline)) {
    V part[group];
    written_out<group>([&](int k) __attribute__((always_inline)) { part[k] = V{}; });
    for (int64_t i = begin + g * group * width<R>, r = 0; r < rows; ++r, i += row)
      written_out<group>([&](int k)
                             __attribute__((always_inline)) { part[k] += terms.template at<V>(i + k * width<R>); });
    written_out<group>([&](int k) __attribute__((always_inline)) { sum[g * group + k] = part[k]; });
  });
  if (count % 32) {
    alignas(64) R lane[row];
    written_out<vectors>([&](int k) { store(lane + k * width<R>, sum[k]); });
    add_rest<R, register_bytes>(begin + rows * row, end, lane, terms);
    written_out<vectors>([&](int k) { sum[k] = load<V>(lane + k * width<R>); });
  }
  fold<Terms::parts>(folded<vectors>(sum), out);
}

// The inner product conj(x) . y over leaf `leaf` of n elements of C reals.
template <class R, int C>
inline void sum_product_leaf(const void *x, const void *y, int64_t n, int64_t leaf, R *out) {
  const Products<R, C, C == 2> terms{static_cast<const R *>(x), static_cast<const R *>(y)};
  const int64_t begin = leaf * 1024;
  if (n - begin >= 1024)
    sum_leaf<R>(begin, 1024, terms, out);  // the usual count as a constant
  else
    sum_leaf<R>(begin, n - begin, terms, out);
}

// The largest of f(x[begin]) .. f(x[end-1]); NaN when one of them is. Small says: the smallest instead.
template <class R, bool Small, class Terms>
inline R extreme(int64_t begin, int64_t end, R start, const Terms &terms) {
  using V = Vector<R>;
  using Bits = decltype(V{} != V{});
  constexpr int W = width<R>;
  const auto take = [](V &best, Bits &nan, V v) {
    best = (Small ? v < best : v > best) ? v : best;
    nan |= v != v;
  };
  V best[4];
  Bits nan[4] = {};
  for (V &b : best) b = spread<V>(start);
  int64_t i = begin;
  for (; end - i >= 4 * W; i += 4 * W)
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) take(best[k], nan[k], terms.template at<V>(i + k * W));
  for (; end - i >= W; i += W) take(best[0], nan[0], terms.template at<V>(i));
  R most = start;
  bool bad = false;
  const auto take_one = [&](R v) {
    most = (Small ? v < most : v > most) ? v : most;
    bad |= v != v;
  };
  for (; i < end; ++i) take_one(terms.template at<Vector<R, sizeof(R)>>(i)[0]);
  for (int k = 0; k < 4; ++k)
    for (int l = 0; l < W; ++l) {
      take_one(best[k][l]);
      bad |= nan[k][l] != 0;
    }
  return bad ? R(__builtin_nan("")) : most;
}

// Magnitudes read as integers have the same order, with NaN above infinity: one comparison serves both.
template <class R>
struct IntegerOf;
template <>
struct IntegerOf<float> {
  using type = int32_t;
  static constexpr type infinity = 0x7f800000;
};
template <>
struct IntegerOf<double> {
  using type = int64_t;
  static constexpr type infinity = 0x7ff0000000000000;
};
template <class R>
using Integer = typename IntegerOf<R>::type;

template <class R, int Bytes, class Terms>
__attribute__((always_inline)) inline Vector<Integer<R>, Bytes> magnitude_bits(const Terms &terms, int64_t i) {
  return reinterpret_cast<Vector<Integer<R>, Bytes>>(absolute(terms.template at<Vector<R, Bytes>>(i)));
}

// The largest lane.
template <class V>
inline Lane<V> most_of(V v) {
  if constexpr (lanes_of<V> == 1) {
    return v[0];
  } else {
    using H = typename Count<lanes_of<V> / 2>::type;
    const Half<V> a = lower(v, H{}), b = upper(v, H{});
    return most_of(a > b ? a : b);
  }
}

// The bits of the largest magnitude begin .. end-1; 0 of none.
template <class R, class Terms>
inline Integer<R> most_bits(int64_t begin, int64_t end, const Terms &terms) {
  using V = Vector<Integer<R>>;
  constexpr int W = width<R>, n = 8;
  V best[n];
  written_out<n>([&](int k) { best[k] = V{}; });
  const auto take = [&](int k, V v) __attribute__((always_inline)) { best[k] = v > best[k] ? v : best[k]; };
  int64_t i = begin;
  for (; end - i >= n * W; i += n * W)
    written_out<n>([&](int k) __attribute__((always_inline)) {
      take(k, magnitude_bits<R, register_bytes>(terms, i + k * W));
    });
  for (; end - i >= W; i += W) take(0, magnitude_bits<R, register_bytes>(terms, i));
  written_out<n - 1>([&](int k) { take(0, best[k + 1]); });
  Integer<R> most = most_of(best[0]);
  for (; i < end; ++i) {
    const Integer<R> one = magnitude_bits<R, sizeof(R)>(terms, i)[0];
    most = one > most ? one : most;
  }
  return most;
}

// The first of i .. end-1 whose magnitude has bits of at least `key`; there is one.
template <class R, class Terms>
inline int64_t first_reaching(int64_t i, int64_t end, Integer<R> key, const Terms &terms) {
  constexpr int W = width<R>, n = 4;
  using V = Vector<Integer<R>>;
  for (; end - i >= n * W; i += n * W) {
    V most = magnitude_bits<R, register_bytes>(terms, i);
    written_out<n - 1>([&](int k) __attribute__((always_inline)) {
      const V v = magnitude_bits<R, register_bytes>(terms, i + (k + 1) * W);
      most = v > most ? v : most;
    });
    if (most_of(most) >= key) break;
  }
  while (magnitude_bits<R, sizeof(R)>(terms, i)[0] < key) ++i;
  return i;
}

// The first index of the largest magnitude and that magnitude; a NaN counts as larger than everything. Blocks are
// searched for their largest; only the block that holds the answer is searched again, and only if the index is needed.
template <class R>
struct Place {
  R value;
  int64_t index;
};
template <class R, int C, bool Where = true>
inline Place<R> first_largest(const R *x, int64_t begin, int64_t end) {
  constexpr int64_t block = Where ? 2048 : int64_t{1} << 62;
  constexpr Integer<R> infinity = IntegerOf<R>::infinity;
  const RealTerms<R, C, Absolute> terms{x, {}};
  Integer<R> most = -1;
  int64_t start = -1;
  for (int64_t b = begin; b < end && most <= infinity; b += end - b < block ? end - b : block) {
    const Integer<R> found = most_bits<R>(b, end - b < block ? end : b + block, terms);
    if (found > most) most = found, start = b;
  }
  if (start < 0) return {R(-1), -1};
  R value;
  __builtin_memcpy(&value, &most, sizeof value);
  if constexpr (!Where) return {value, start};
  return {value, first_reaching<R>(start, end, most > infinity ? infinity + 1 : most, terms)};
}

}  // namespace sextant::plugin::SXT_ISA
