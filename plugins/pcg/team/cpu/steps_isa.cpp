// SPDX-License-Identifier: BSD-3-Clause
// Vector updates and the inner products of leaves for one instruction set. Products are rounded before they are added.
#include "sextant/sdk/cpu/vector_sums.hpp"
#include "steps_table.hpp"

namespace team::SXT_ISA {

using namespace sextant::plugin::SXT_ISA;
using sextant::plugin::GroupCall;

// p = r + beta p
template <class R, int C>
struct Turn {
  R *p;
  const R *r;
  Factor<C, R> beta;
  explicit Turn(const GroupCall &c) : p(vector_of<R>(c, 0)), r(vector_of<R>(c, 1)), beta(factor<R, C>(c.beta)) {}
  template <class V>
  void at(int64_t i) const {
    store(p + i, load<V>(r + i) + beta(load<V>(p + i)));
  }
};

template <class R, int C, class Group>
void update(const GroupCall &call, int64_t begin, int64_t end) {
  sweep<R, C>(begin * C, end * C, Group(call));
}

template <class R, int C>
void dot(const void *u, const void *v, int64_t first, int64_t count, void *out) {
  const Products<R, C, C == 2> terms{static_cast<const R *>(u), static_cast<const R *>(v)};
  sum_leaf<R>(first, count, terms, static_cast<R *>(out));
}

template <class R, int C>
constexpr Steps steps() {
  return {update<R, C, PredictRecompute<R, C>>, update<R, C, ClassicalXr<R, C>>, update<R, C, Turn<R, C>>, dot<R, C>};
}

extern const StepsTable table;
constinit const StepsTable table = {{steps<float, 1>(), steps<double, 1>(), steps<float, 2>(), steps<double, 2>()}};

}  // namespace team::SXT_ISA
