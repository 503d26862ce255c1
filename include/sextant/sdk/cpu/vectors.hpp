// SPDX-License-Identifier: BSD-3-Clause
// Full-width vectors of reals for files compiled once an instruction set (sdk/cpu/simd.hpp): loads and stores, shuffles
// of complex pairs, sweeps over arrays whose ends are taken by ever narrower vectors. Complex numbers are pairs of
// reals, and positions count reals. Included by ISA sources only; it includes no C++ standard header, and everything
// lies in the namespace of the instruction set, so that no instantiation is shared between two of them.
#pragma once

#ifndef SXT_ISA
#error "sdk/cpu/vectors.hpp is for ISA_SOURCES"
#endif
#include <stdint.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sextant::plugin::SXT_ISA {

#if defined(SXT_ISA_avx512)
inline constexpr int register_bytes = 64;
#elif defined(SXT_ISA_avx2)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif

// R[Bytes / sizeof(R)] as one value with the arithmetic operators.
template <class R, int Bytes>
struct VectorOf {
  typedef R type __attribute__((vector_size(Bytes)));
};
template <class R, int Bytes = register_bytes>
using Vector = typename VectorOf<R, Bytes>::type;
template <class R>
inline constexpr int width = register_bytes / static_cast<int>(sizeof(R));
template <class V>
using Lane = decltype(+V{}[0]);
template <class V>
inline constexpr int lanes_of = static_cast<int>(sizeof(V) / sizeof(Lane<V>));

// Vectors of so many bytes: the type tells load how much to read.
template <class V, class R>
inline V load(const R *p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class V, class R>
inline void store(R *p, V v) { __builtin_memcpy(p, &v, sizeof v); }

// Past the caches, to an address that is a multiple of the vector.
template <class V, class R>
inline void store_past_caches(R *p, V v) {
#if defined(SXT_ISA_avx512)
  _mm512_stream_si512(reinterpret_cast<__m512i *>(p), reinterpret_cast<__m512i &>(v));
#elif defined(SXT_ISA_avx2)
  _mm256_stream_si256(reinterpret_cast<__m256i *>(p), reinterpret_cast<__m256i &>(v));
#elif defined(__x86_64__)
  _mm_stream_si128(reinterpret_cast<__m128i *>(p), reinterpret_cast<__m128i &>(v));
#else
  store(p, v);
#endif
}
// Orders stores past the caches before all that follow.
inline void finish_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

template <class V, class R>
inline V spread(R value) { return V{} + value; }

// 0 .. N-1 as template arguments.
template <int... I>
struct Pack {};
template <int N, int... I>
struct Count : Count<N - 1, N - 1, I...> {};
template <int... I>
struct Count<0, I...> { using type = Pack<I...>; };
// Calls f(0), ..., f(N-1) written out, so that arrays of vectors indexed in f stay in registers.
template <class F, int... I>
__attribute__((always_inline)) inline void written_out(F &&f, Pack<I...>) { (f(I), ...); }
template <int N, class F>
__attribute__((always_inline)) inline void written_out(F &&f) { written_out(f, typename Count<N>::type{}); }
// The sum of v[0] .. v[N-1], N a power of two: the upper half added to the lower half until one is left.
template <int N, class V>
__attribute__((always_inline)) inline V folded(V *v) {
  if constexpr (N > 1) {
    written_out<N / 2>([&](int k) __attribute__((always_inline)) { v[k] += v[k + N / 2]; });
    return folded<N / 2>(v);
  }
  return v[0];
}

template <class V>
using Lanes_of = typename Count<lanes_of<V>>::type;

// Re and im of each pair exchanged; re twice; im twice.
template <class V, int... I>
inline V exchanged(V v, Pack<I...>) { return __builtin_shufflevector(v, v, (I ^ 1)...); }
template <class V, int... I>
inline V real_twice(V v, Pack<I...>) { return __builtin_shufflevector(v, v, (I & ~1)...); }
template <class V, int... I>
inline V imaginary_twice(V v, Pack<I...>) { return __builtin_shufflevector(v, v, (I | 1)...); }
template <class V>
inline V exchanged(V v) { return exchanged(v, Lanes_of<V>{}); }
template <class V>
inline V real_twice(V v) { return real_twice(v, Lanes_of<V>{}); }
template <class V>
inline V imaginary_twice(V v) { return imaginary_twice(v, Lanes_of<V>{}); }
// -1, 1, -1, 1, ...
template <class V, int... I>
inline V alternating(Pack<I...>) { return V{(I & 1 ? 1 : -1)...}; }
template <class V>
inline V alternating() { return alternating<V>(Lanes_of<V>{}); }

// The even and the odd lanes of a, b in order.
template <class V, int... I>
inline V evens(V a, V b, Pack<I...>) { return __builtin_shufflevector(a, b, (2 * I)...); }
template <class V, int... I>
inline V odds(V a, V b, Pack<I...>) { return __builtin_shufflevector(a, b, (2 * I + 1)...); }
// The vector of half the lanes: the lower or the upper ones.
template <class V>
using Half = Vector<Lane<V>, static_cast<int>(sizeof(V)) / 2>;
template <class V, int... I>
inline Half<V> lower(V v, Pack<I...>) { return __builtin_shufflevector(v, v, I...); }
template <class V, int... I>
inline Half<V> upper(V v, Pack<I...>) { return __builtin_shufflevector(v, v, (I + int{sizeof...(I)})...); }

// |v|, also of NaN: the sign bit cleared.
template <class V>
inline V absolute(V v) {
  if constexpr (sizeof(Lane<V>) == 4) {
    using Bits = Vector<int32_t, static_cast<int>(sizeof(V))>;
    return reinterpret_cast<V>(reinterpret_cast<Bits>(v) & 0x7fffffff);
  } else {
    using Bits = Vector<int64_t, static_cast<int>(sizeof(V))>;
    return reinterpret_cast<V>(reinterpret_cast<Bits>(v) & int64_t{0x7fffffffffffffff});
  }
}

// (re + i im) v for C = 2, re v for C = 1; products rounded before they are added.
template <int C, class R>
struct Factor {
  R re, im;
  template <class V>
  V operator()(V v) const {
    if constexpr (C == 1)
      return re * v;
    else
      return re * v + (im * alternating<V>()) * exchanged(v);
  }
};
// x y element by element, of complex pairs for C = 2.
template <int C, class V>
inline V multiplied(V x, V y) {
  if constexpr (C == 1)
    return x * y;
  else
    return real_twice(x) * y + imaginary_twice(x) * (alternating<V>() * exchanged(y));
}

// Calls body.at<V>(i) on what is left of a sweep, with ever narrower vectors down to one element of C reals.
template <class R, int C, int Bytes, class Body>
inline void sweep_rest(int64_t i, int64_t end, const Body &body) {
  constexpr int W = Bytes / static_cast<int>(sizeof(R));
  if constexpr (W >= C) {
    if (end - i >= W) {
      body.template at<Vector<R, Bytes>>(i);
      i += W;
    }
    if constexpr (W > C) sweep_rest<R, C, Bytes / 2>(i, end, body);
  }
}

// Calls body.at<V>(i) for vectors V that cover the reals begin .. end-1, which hold whole elements; body.four<V>(i), if
// there is one, for four in a row.
template <class R, int C, class Body>
inline void sweep(int64_t begin, int64_t end, const Body &body) {
  constexpr int W = width<R>;
  using V = Vector<R>;
  int64_t i = begin;
  for (; end - i >= 4 * W; i += 4 * W) {
    if constexpr (requires { body.template four<V>(i); })
      body.template four<V>(i);
    else
      written_out<4>([&](int k) __attribute__((always_inline)) { body.template at<V>(i + k * W); });
  }
  for (; end - i >= W; i += W) body.template at<V>(i);
  if constexpr (W > C) sweep_rest<R, C, register_bytes / 2>(i, end, body);
}

}  // namespace sextant::plugin::SXT_ISA
