// SPDX-License-Identifier: BSD-3-Clause
// The element-wise operations in full-width vectors, compiled once an instruction set without fused multiply-adds, so
// that bits do not depend on it. Written results go through the caches or, in a second copy of every loop, past them.
#include "sextant/plugin/kinds/vector.h"
#include "sextant/sdk/cpu/type_table.hpp"
#include "sextant/sdk/cpu/vectors.hpp"
#include "vector_table.hpp"

namespace sextant_vector_cpu::SXT_ISA {

using namespace sextant::plugin::SXT_ISA;

template <class R, int C>
Factor<C, R> factor(const void *value) {
  const R *parts = static_cast<const R *>(value);
  return {parts[0], C == 2 ? parts[C - 1] : R(0)};
}

// One operation each: value(i) is the vector of results at real i.
template <class R, int C>
struct Copy {
  const R *x;
  explicit Copy(const Call &c) : x(static_cast<const R *>(c.x)) {}
  template <class V>
  V value(int64_t i) const {
    return load<V>(x + i);
  }
};

template <class R, int C>
struct Fill {
  R re, im;
  explicit Fill(const Call &c) : re(factor<R, C>(c.alpha).re), im(factor<R, C>(c.alpha).im) {}
  template <class V>
  V value(int64_t) const {
    V v = spread<V>(re);
    if constexpr (C == 2)
      for (int l = 1; l < lanes_of<V>; l += 2) v[l] = im;
    return v;
  }
};

template <class R, int C>
struct Scale {
  const R *y;
  Factor<C, R> alpha;
  explicit Scale(const Call &c) : y(static_cast<const R *>(c.y)), alpha(factor<R, C>(c.alpha)) {}
  template <class V>
  V value(int64_t i) const {
    return alpha(load<V>(y + i));
  }
};

template <class R, int C>
struct Axpy {
  const R *x, *y;
  Factor<C, R> alpha;
  explicit Axpy(const Call &c)
      : x(static_cast<const R *>(c.x)), y(static_cast<const R *>(c.y)), alpha(factor<R, C>(c.alpha)) {}
  template <class V>
  V value(int64_t i) const {
    return alpha(load<V>(x + i)) + load<V>(y + i);
  }
};

template <class R, int C>
struct Axpby {
  const R *x, *y;
  Factor<C, R> alpha, beta;
  explicit Axpby(const Call &c)
      : x(static_cast<const R *>(c.x)),
        y(static_cast<const R *>(c.y)),
        alpha(factor<R, C>(c.alpha)),
        beta(factor<R, C>(c.beta)) {}
  template <class V>
  V value(int64_t i) const {
    return alpha(load<V>(x + i)) + beta(load<V>(y + i));
  }
};

template <class R, int C>
struct Multiply {
  const R *x, *y;
  explicit Multiply(const Call &c) : x(static_cast<const R *>(c.x)), y(static_cast<const R *>(c.y)) {}
  template <class V>
  V value(int64_t i) const {
    return multiplied<C>(load<V>(x + i), load<V>(y + i));
  }
};

// Each of the reals p[0], p[1], ... twice, for the pairs of a complex vector V.
template <class V, class R, int... I>
V load_twice(const R *p, Pack<I...>) {
  if constexpr (lanes_of<V> == 2) {
    return spread<V>(*p);
  } else {
    const Half<V> half = load<Half<V>>(p);
    return __builtin_shufflevector(half, half, (I / 2)...);
  }
}

// z = x y or y / x with x of the real type.
template <class R, int C, bool Divide>
struct Weigh {
  const R *x, *y;
  explicit Weigh(const Call &c) : x(static_cast<const R *>(c.x)), y(static_cast<const R *>(c.y)) {}
  template <class V>
  V value(int64_t i) const {
    V weight;
    if constexpr (C == 1)
      weight = load<V>(x + i);
    else
      weight = load_twice<V>(x + i / 2, Lanes_of<V>{});
    return Divide ? load<V>(y + i) / weight : load<V>(y + i) * weight;
  }
};
template <class R, int C>
using RealMultiply = Weigh<R, C, false>;
template <class R, int C>
using RealDivide = Weigh<R, C, true>;

template <class R, class Operation, bool PastCaches>
struct Write {
  R *out;
  const Operation &operation;
  template <class V>
  void at(int64_t i) const {
    put(i, operation.template value<V>(i));
  }
  // Loads of four registers before the first store: operands may be the same array, but not overlap otherwise, which
  // the compiler cannot know.
  template <class V>
  void four(int64_t i) const {
    V v[4];
    constexpr int W = lanes_of<V>;
    written_out<4>([&](int k) __attribute__((always_inline)) { v[k] = operation.template value<V>(i + k * W); });
    written_out<4>([&](int k) __attribute__((always_inline)) { put(i + k * W, v[k]); });
  }
  template <class V>
  void put(int64_t i, V v) const {
    if constexpr (PastCaches && sizeof(V) == register_bytes)
      store_past_caches(out + i, v);
    else
      store(out + i, v);
  }
};

// Elements from p to the first address that is a multiple of a cache line; -1 where elements straddle lines.
template <class R, int C>
int64_t elements_to_line(const R *p) {
  constexpr uint64_t line = 64, element = C * sizeof(R);
  const uint64_t bytes = (line - reinterpret_cast<uintptr_t>(p) % line) % line;
  return bytes % element ? -1 : static_cast<int64_t>(bytes / element);
}

// Long runs begin with the few elements before a line: a store across two lines takes twice as long.
template <class R, int C, class Operation, bool ToZ>
void plain(const Call &call, int64_t begin, int64_t end) {
  constexpr int64_t worth = 512 / (C * sizeof(R));
  R *out = static_cast<R *>(ToZ ? call.z : call.y);
  const Operation operation(call);
  const Write<R, Operation, false> write{out, operation};
  if (const int64_t head = elements_to_line<R, C>(out + begin * C); head > 0 && end - begin >= worth) {
    sweep<R, C>(begin * C, (begin + head) * C, write);
    begin += head;
  }
  sweep<R, C>(begin * C, end * C, write);
}

// Elements before the first line go through the caches; all of them where elements straddle lines.
template <class R, int C, class Operation, bool ToZ>
void past_caches(const Call &call, int64_t begin, int64_t end) {
  R *out = static_cast<R *>(ToZ ? call.z : call.y);
  const int64_t head = elements_to_line<R, C>(out + begin * C);
  if (head < 0 || end - begin <= head) return plain<R, C, Operation, ToZ>(call, begin, end);
  const Operation operation(call);
  sweep<R, C>(begin * C, (begin + head) * C, Write<R, Operation, false>{out, operation});
  sweep<R, C>((begin + head) * C, end * C, Write<R, Operation, true>{out, operation});
  finish_stores();
}

template <class Element, class Index, bool Gather>
void indexed(const Call &call, int64_t begin, int64_t end) {
  const Index *index = static_cast<const Index *>(call.index);
  const Element *x = static_cast<const Element *>(call.x);
  Element *y = static_cast<Element *>(call.y);
  for (int64_t i = begin; i < end; ++i) {
    if constexpr (Gather)
      y[i] = x[index[i]];
    else
      y[index[i]] = x[i];  // the kind promises distinct indices
  }
}

// Moves whole elements: two reals where they are complex.
template <class R, int C>
struct Element {
  R part[C];
};

template <class R, int C>
constexpr void fill_type(Table &table, int type) {
  Function *f = table.plain[type], *s = table.past_caches[type];
  f[SXT_VECTOR_COPY] = plain<R, C, Copy<R, C>, false>;
  f[SXT_VECTOR_FILL] = plain<R, C, Fill<R, C>, false>;
  f[SXT_VECTOR_SCALE] = plain<R, C, Scale<R, C>, false>;
  f[SXT_VECTOR_AXPY] = plain<R, C, Axpy<R, C>, false>;
  f[SXT_VECTOR_AXPBY] = plain<R, C, Axpby<R, C>, false>;
  f[SXT_VECTOR_WAXPBY] = plain<R, C, Axpby<R, C>, true>;
  f[SXT_VECTOR_MULTIPLY] = plain<R, C, Multiply<R, C>, true>;
  f[SXT_VECTOR_REAL_MULTIPLY] = plain<R, C, RealMultiply<R, C>, true>;
  f[SXT_VECTOR_REAL_DIVIDE] = plain<R, C, RealDivide<R, C>, true>;
  f[SXT_VECTOR_GATHER] = indexed<Element<R, C>, int32_t, true>;
  f[SXT_VECTOR_SCATTER] = indexed<Element<R, C>, int32_t, false>;
  table.gather_wide[type] = indexed<Element<R, C>, int64_t, true>;
  table.scatter_wide[type] = indexed<Element<R, C>, int64_t, false>;
  s[SXT_VECTOR_COPY] = past_caches<R, C, Copy<R, C>, false>;
  s[SXT_VECTOR_FILL] = past_caches<R, C, Fill<R, C>, false>;
  s[SXT_VECTOR_WAXPBY] = past_caches<R, C, Axpby<R, C>, true>;
  s[SXT_VECTOR_MULTIPLY] = past_caches<R, C, Multiply<R, C>, true>;
  s[SXT_VECTOR_REAL_MULTIPLY] = past_caches<R, C, RealMultiply<R, C>, true>;
  s[SXT_VECTOR_REAL_DIVIDE] = past_caches<R, C, RealDivide<R, C>, true>;
}

extern const Table table;
constinit const Table table =
    table_of_types<Table>([]<class R, int C>(Number<R, C>, Table &table, int type) { fill_type<R, C>(table, type); });

}  // namespace sextant_vector_cpu::SXT_ISA
