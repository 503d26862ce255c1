// SPDX-License-Identifier: BSD-3-Clause
// Sums over ranges with eight accumulators of full width and fused multiply-adds, compiled once an instruction set.
// Every 16384 reals the accumulators are folded and added in double precision, so that errors grow with the block and
// not with n. Squares of single precision are summed in double precision: they can neither overflow nor vanish.
#include "blocks_table.hpp"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/sdk/cpu/type_table.hpp"
#include "sextant/sdk/cpu/vector_sums.hpp"

namespace sextant_reduction_blocks::SXT_ISA {

using namespace sextant::plugin::SXT_ISA;

constexpr int64_t block = 16384;
constexpr int accumulators = 8;

// Adds the terms i .. end-1 (reals) to the lanes of one accumulator.
template <class R, class Terms>
Vector<R> add_tail(Vector<R> sum, int64_t i, int64_t end, const Terms &terms) {
  alignas(64) R lane[width<R>];
  store(lane, sum);
  add_rest<R, register_bytes>(i, end, lane, terms);
  return load<Vector<R>>(lane);
}

// Sum of the terms begin .. end-1 (reals) of one block.
template <class R, class Terms>
__attribute__((always_inline)) inline void sum_block(int64_t begin, int64_t end, const Terms &terms, R *out) {
  constexpr int W = width<R>;
  using V = Vector<R>;
  V sum[accumulators];
  written_out<accumulators>([&](int k) { sum[k] = V{}; });
  int64_t i = begin;
  for (; end - i >= accumulators * W; i += accumulators * W)
    written_out<accumulators>([&](int k) __attribute__((always_inline)) { sum[k] += terms.template at<V>(i + k * W); });
  for (; end - i >= W; i += W) sum[0] += terms.template at<V>(i);
  if (i < end) sum[1] = add_tail<R>(sum[1], i, end, terms);
  fold<Terms::parts>(folded<accumulators>(sum), out);
}

template <class R, class Terms>
__attribute__((always_inline)) inline Partial sum_range(const Terms terms, int64_t begin, int64_t end) {
  constexpr int C = Terms::parts;
  double first = 0, second = 0;
  for (int64_t i = begin * C; i < end * C; i += block) {
    R part[C];
    sum_block<R>(i, end * C - i < block ? end * C : i + block, terms, part);
    first += static_cast<double>(part[0]);
    if constexpr (C == 2) second += static_cast<double>(part[1]);
  }
  return {{first, second}, 0};
}

// Doubles from reals of either precision.
template <class R>
struct Widened {
  const R *x;
  template <class V>
  V at(int64_t i) const {
    if constexpr (sizeof(R) == sizeof(double))
      return load<V>(x + i);
    else
      return __builtin_convertvector((load<Vector<R, lanes_of<V> *int{sizeof(R)}>>(x + i)), V);
  }
};
template <class R, bool Scaled>
struct Squares {
  static constexpr int parts = 1;
  Widened<R> x;
  double scale;
  template <class V>
  V at(int64_t i) const {
    const V v = x.template at<V>(i);
    return Scaled ? (scale * v) * (scale * v) : v * v;
  }
};
template <class R>
struct Magnitudes {
  static constexpr int parts = 1;
  const R *x;
  template <class V>
  V at(int64_t i) const {
    return absolute(load<V>(x + i));
  }
};

// re(x) re(y), im(x) im(y), ... and re(x) im(y), im(x) re(y), ...: the terms of a complex product, one multiply-add and
// half a shuffle a real.
template <class R>
struct Straight {
  static constexpr int parts = 2;
  const R *x, *y;
  template <class V>
  V at(int64_t i) const {
    return load<V>(x + i) * load<V>(y + i);
  }
};
template <class R>
struct Crossed {
  static constexpr int parts = 2;
  const R *x, *y;
  template <class V>
  V at(int64_t i) const {
    return load<V>(x + i) * exchanged(load<V>(y + i));
  }
};

template <class R, int C>
__attribute__((always_inline)) inline Partial sum_values(const Call &c, int64_t begin, int64_t end) {
  return sum_range<R>(Values<R, C>{static_cast<const R *>(c.x)}, begin, end);
}

// Complex pairs are read once: both sums of a block are taken while it is in the first cache.
template <class R, int C, bool Conjugate>
__attribute__((always_inline)) inline Partial sum_products(const Call &c, int64_t begin, int64_t end) {
  const R *x = static_cast<const R *>(c.x), *y = static_cast<const R *>(c.y);
  if constexpr (C == 1) {
    return sum_range<R>(Products<R, 1, false>{x, y}, begin, end);
  } else {
    constexpr int64_t piece = 1024;
    Partial total = {{0, 0}, 0};
    for (int64_t i = begin; i < end; i += piece) {
      const int64_t stop = end - i < piece ? end : i + piece;
      const Partial straight = sum_range<R>(Straight<R>{x, y}, i, stop);
      const Partial crossed = sum_range<R>(Crossed<R>{x, y}, i, stop);
      const double sign = Conjugate ? 1 : -1;
      total.value[0] += straight.value[0] + sign * straight.value[1];
      total.value[1] += crossed.value[0] - sign * crossed.value[1];
    }
    return total;
  }
}

// Magnitudes and squares of complex numbers are those of their parts.
template <class R, int C>
__attribute__((always_inline)) inline Partial sum_magnitudes(const Call &c, int64_t begin, int64_t end) {
  return sum_range<R>(Magnitudes<R>{static_cast<const R *>(c.x)}, begin * C, end * C);
}
template <class R, int C>
Partial sum_squares(const Call &c, int64_t begin, int64_t end) {
  const Widened<R> x{static_cast<const R *>(c.x)};
  if (c.scale == 1) return sum_range<double>(Squares<R, false>{x, 1}, begin * C, end * C);
  return sum_range<double>(Squares<R, true>{x, c.scale}, begin * C, end * C);
}

// A whole sum by one thread, written as its type.
template <class R, int C, Function sum>
void whole(const Call &c, void *result) {
  const Partial total = sum(c, 0, c.n);
  for (int k = 0; k < C; ++k) static_cast<R *>(result)[k] = static_cast<R>(total.value[k]);
}

template <class R, int C, bool Where>
Partial largest(const Call &c, int64_t begin, int64_t end) {
  const auto found = first_largest<R, C, Where>(static_cast<const R *>(c.x), begin, end);
  return {{static_cast<double>(found.value), 0}, found.index};
}
template <class R, bool Small>
Partial outermost(const Call &c, int64_t begin, int64_t end) {
  const R start = Small ? R(__builtin_inf()) : -R(__builtin_inf());
  return {{static_cast<double>(extreme<R, Small>(begin, end, start, Values<R, 1>{static_cast<const R *>(c.x)})), 0}, 0};
}

template <class R, int C>
constexpr void fill_type(Table &table, int type) {
  Function *s = table.sum[type];
  s[values] = sum_values<R, C>;
  s[products] = sum_products<R, C, false>;
  s[conjugate_products] = sum_products<R, C, C == 2>;
  s[magnitudes] = sum_magnitudes<R, C>;
  s[squares] = sum_squares<R, C>;
  table.whole[type][values] = whole<R, C, sum_values<R, C>>;
  table.whole[type][products] = whole<R, C, sum_products<R, C, false>>;
  table.whole[type][conjugate_products] = whole<R, C, sum_products<R, C, C == 2>>;
  table.whole[type][magnitudes] = whole<R, 1, sum_magnitudes<R, C>>;
  table.largest[type] = largest<R, C, false>;
  table.first_largest[type] = largest<R, C, true>;
  if constexpr (C == 1) {
    table.least[type] = outermost<R, true>;
    table.most[type] = outermost<R, false>;
  }
}

extern const Table table;
constinit const Table table =
    table_of_types<Table>([]<class R, int C>(Number<R, C>, Table &table, int type) { fill_type<R, C>(table, type); });

}  // namespace sextant_reduction_blocks::SXT_ISA
