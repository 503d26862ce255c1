// SPDX-License-Identifier: BSD-3-Clause
// The fused updates of conjugate gradients' vectors (plugin/kinds/vector_group.h) in full-width vectors, for
// ISA_SOURCES compiled with -ffp-contract=off. Every vector is loaded before one of the same position is stored:
// read-only vectors may also be written ones. Elements of different indices are never combined: bits depend neither on
// threads nor on the instruction set.
#pragma once

#include <stdint.h>
#ifdef SXT_ISA
#include "sextant/sdk/cpu/vectors.hpp"
#endif

namespace sextant::plugin {

// Operands of one update, vectors in the order of its formula; the scalars that it has are never NULL.
struct GroupCall {
  void *const *vectors;
  const void *alpha, *beta;
};

#ifdef SXT_ISA
namespace SXT_ISA {

template <class R, int C>
Factor<C, R> factor(const void *value, R sign = 1) {
  const R *parts = static_cast<const R *>(value);
  return {sign * parts[0], C == 2 ? sign * parts[C - 1] : R(0)};
}

template <class R>
R *vector_of(const GroupCall &c, int k) {
  return static_cast<R *>(c.vectors[k]);
}

// x += alpha p; r -= alpha q
template <class R, int C>
struct ClassicalXr {
  R *x, *r;
  const R *p, *q;
  Factor<C, R> alpha, minus_alpha;
  explicit ClassicalXr(const GroupCall &c)
      : x(vector_of<R>(c, 0)),
        r(vector_of<R>(c, 1)),
        p(vector_of<R>(c, 2)),
        q(vector_of<R>(c, 3)),
        alpha(factor<R, C>(c.alpha)),
        minus_alpha(factor<R, C>(c.alpha, -1)) {}
  template <class V>
  void at(int64_t i) const {
    const V xi = load<V>(x + i) + alpha(load<V>(p + i)), ri = load<V>(r + i) + minus_alpha(load<V>(q + i));
    store(x + i, xi);
    store(r + i, ri);
  }
};

// p = u + beta p; s = w + beta s; x += alpha p; r -= alpha s
template <class R, int C>
struct ChronopoulosGear {
  R *x, *r, *p, *s;
  const R *u, *w;
  Factor<C, R> alpha, minus_alpha, beta;
  explicit ChronopoulosGear(const GroupCall &c)
      : x(vector_of<R>(c, 0)),
        r(vector_of<R>(c, 1)),
        p(vector_of<R>(c, 2)),
        s(vector_of<R>(c, 3)),
        u(vector_of<R>(c, 4)),
        w(vector_of<R>(c, 5)),
        alpha(factor<R, C>(c.alpha)),
        minus_alpha(factor<R, C>(c.alpha, -1)),
        beta(factor<R, C>(c.beta)) {}
  template <class V>
  void at(int64_t i) const {
    const V pi = load<V>(u + i) + beta(load<V>(p + i)), si = load<V>(w + i) + beta(load<V>(s + i));
    const V xi = load<V>(x + i) + alpha(pi), ri = load<V>(r + i) + minus_alpha(si);
    store(p + i, pi);
    store(s + i, si);
    store(x + i, xi);
    store(r + i, ri);
  }
};

// r -= alpha q; x += alpha p; p = r + beta p
template <class R, int C>
struct PredictRecompute {
  R *x, *r, *p;
  const R *q;
  Factor<C, R> alpha, minus_alpha, beta;
  explicit PredictRecompute(const GroupCall &c)
      : x(vector_of<R>(c, 0)),
        r(vector_of<R>(c, 1)),
        p(vector_of<R>(c, 2)),
        q(vector_of<R>(c, 3)),
        alpha(factor<R, C>(c.alpha)),
        minus_alpha(factor<R, C>(c.alpha, -1)),
        beta(factor<R, C>(c.beta)) {}
  template <class V>
  void at(int64_t i) const {
    const V pi = load<V>(p + i), ri = load<V>(r + i) + minus_alpha(load<V>(q + i));
    const V xi = load<V>(x + i) + alpha(pi), next = ri + beta(pi);
    store(r + i, ri);
    store(x + i, xi);
    store(p + i, next);
  }
};

}  // namespace SXT_ISA
#endif

}  // namespace sextant::plugin
