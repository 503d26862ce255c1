// SPDX-License-Identifier: BSD-3-Clause
// What reductions in full-width vectors share: the terms that are summed, the leaf of the fixed tree of
// plugin_tree.hpp with the same bits on every instruction set, and the largest or smallest of an array. For ISA_SOURCES
// only, as plugin_vectors.hpp is. Compile with -ffp-contract=off where bits matter.
#pragma once

#include "sextant/plugin_vectors.hpp"

namespace sextant::plugin::SXT_ISA {

// Term sequences: at<V>(i) is the vector of reals from real i on; a term has `parts` reals.
template <class R, int C>
struct Values {
  static constexpr int parts = C;
  const R *x;
  template <class V>
  V at(int64_t i) const { return load<V>(x + i); }
};

template <class R, int C, bool Conjugate>
struct Products {
  static constexpr int parts = C;
  const R *x, *y;
  template <class V>
  V at(int64_t i) const {
    const V a = load<V>(x + i), b = load<V>(y + i);
    if constexpr (C == 1) return a * b;
    else if constexpr (Conjugate) return real_twice(a) * b - imaginary_twice(a) * (alternating<V>() * exchanged(b));
    else return real_twice(a) * b + imaginary_twice(a) * (alternating<V>() * exchanged(b));
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
  V operator()(V v) const { return absolute(v); }
};
template <class R>
struct ScaledSquare {
  R scale;
  template <class V>
  V operator()(V v) const { return (scale * v) * (scale * v); }
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
  if constexpr (lanes_of<V> > Terms::parts) add_rest<R, Bytes / 2>(i, end, lane, terms);
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
      written_out<group>([&](int k) __attribute__((always_inline)) {
        part[k] += terms.template at<V>(i + k * width<R>);
      });
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

// The first index of the largest magnitude and that magnitude; a NaN counts as larger than everything. Blocks are
// searched for their largest; only the block that holds the answer is searched again.
template <class R>
struct Place {
  R value;
  int64_t index;
};
template <class R, int C>
inline Place<R> first_largest(const R *x, int64_t begin, int64_t end) {
  constexpr int64_t block = 2048;
  const RealTerms<R, C, Absolute> terms{x, {}};
  Place<R> best = {R(-1), -1};
  for (int64_t b = begin; b < end && best.value == best.value; b += block) {
    const R most = extreme<R, false>(b, end - b < block ? end : b + block, R(-1), terms);
    if (!(most <= best.value)) best = {most, b};
  }
  if (best.index < 0) return best;
  const auto at = [&](int64_t i) { return terms.template at<Vector<R, sizeof(R)>>(i)[0]; };
  if (best.value != best.value)
    while (at(best.index) == at(best.index)) ++best.index;
  else
    while (at(best.index) != best.value) ++best.index;
  return best;
}

}  // namespace sextant::plugin::SXT_ISA
