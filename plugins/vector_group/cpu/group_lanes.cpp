// SPDX-License-Identifier: BSD-3-Clause
// The fused groups in full-width vectors, compiled once an instruction set without fused multiply-adds, so that bits do
// not depend on it. Every vector is loaded before one of the same position is stored: read-only vectors may be written
// ones.
#include "group_table.hpp"
#include "sextant/kinds/vector_group.h"
#include "sextant/plugin_vector_sums.hpp"

namespace sextant_vector_group_cpu::SXT_ISA {

using namespace sextant::plugin::SXT_ISA;

template <class R, int C>
Factor<C, R> factor(const void *value, R sign = 1) {
  const R *parts = static_cast<const R *>(value);
  return {sign * parts[0], C == 2 ? sign * parts[C - 1] : R(0)};
}

template <class R>
R *vector(const Call &c, int k) { return static_cast<R *>(c.vectors[k]); }

// x += alpha p; r -= alpha q
template <class R, int C>
struct ClassicalXr {
  R *x, *r;
  const R *p, *q;
  Factor<C, R> alpha, minus_alpha;
  explicit ClassicalXr(const Call &c)
      : x(vector<R>(c, 0)), r(vector<R>(c, 1)), p(vector<R>(c, 2)), q(vector<R>(c, 3)),
        alpha(factor<R, C>(c.alpha)), minus_alpha(factor<R, C>(c.alpha, -1)) {}
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
  explicit ChronopoulosGear(const Call &c)
      : x(vector<R>(c, 0)), r(vector<R>(c, 1)), p(vector<R>(c, 2)), s(vector<R>(c, 3)), u(vector<R>(c, 4)),
        w(vector<R>(c, 5)), alpha(factor<R, C>(c.alpha)), minus_alpha(factor<R, C>(c.alpha, -1)),
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
  explicit PredictRecompute(const Call &c)
      : x(vector<R>(c, 0)), r(vector<R>(c, 1)), p(vector<R>(c, 2)), q(vector<R>(c, 3)),
        alpha(factor<R, C>(c.alpha)), minus_alpha(factor<R, C>(c.alpha, -1)), beta(factor<R, C>(c.beta)) {}
  template <class V>
  void at(int64_t i) const {
    const V pi = load<V>(p + i), ri = load<V>(r + i) + minus_alpha(load<V>(q + i));
    const V xi = load<V>(x + i) + alpha(pi), next = ri + beta(pi);
    store(r + i, ri);
    store(x + i, xi);
    store(p + i, next);
  }
};

template <class R, int C, class Group>
void update(const Call &call, int64_t begin, int64_t end) { sweep<R, C>(begin * C, end * C, Group(call)); }

// Inner products of a leaf follow its update at once: they read from the first caches what it wrote there.
template <class R, int C, class Group>
void update_leaves(const DotsCall &call, int64_t first, int64_t last, void *out) {
  const Group group(call.group);
  const int64_t total = (call.n + 1023) / 1024;
  for (int64_t leaf = first; leaf < last; ++leaf) {
    const int64_t begin = leaf * 1024, end = call.n - begin < 1024 ? call.n : begin + 1024;
    sweep<R, C>(begin * C, end * C, group);
    for (int32_t d = 0; d < call.pairs; ++d)
      sum_product_leaf<R, C>(call.group.vectors[call.a[d]], call.group.vectors[call.b[d]], call.n, leaf,
                             static_cast<R *>(out) + (d * total + leaf) * C);
  }
}

template <class R, int C>
constexpr void fill_type(Table &table, int type) {
  table.update[type][SXT_GROUP_CLASSICAL_XR] = update<R, C, ClassicalXr<R, C>>;
  table.update[type][SXT_GROUP_CHRONOPOULOS_GEAR] = update<R, C, ChronopoulosGear<R, C>>;
  table.update[type][SXT_GROUP_PREDICT_RECOMPUTE] = update<R, C, PredictRecompute<R, C>>;
  table.update_leaves[type][SXT_GROUP_CLASSICAL_XR] = update_leaves<R, C, ClassicalXr<R, C>>;
  table.update_leaves[type][SXT_GROUP_CHRONOPOULOS_GEAR] = update_leaves<R, C, ChronopoulosGear<R, C>>;
  table.update_leaves[type][SXT_GROUP_PREDICT_RECOMPUTE] = update_leaves<R, C, PredictRecompute<R, C>>;
}

// Filled by the compiler: no code of an instruction set may run before it is known to be there.
constexpr Table make_table() {
  Table table{};
  fill_type<float, 1>(table, SXT_F32 - 1);
  fill_type<double, 1>(table, SXT_F64 - 1);
  fill_type<float, 2>(table, SXT_C64 - 1);
  fill_type<double, 2>(table, SXT_C128 - 1);
  return table;
}

extern const Table table;
constinit const Table table = make_table();

}  // namespace sextant_vector_group_cpu::SXT_ISA
