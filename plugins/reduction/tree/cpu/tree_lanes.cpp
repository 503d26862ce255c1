// SPDX-License-Identifier: BSD-3-Clause
// Leaves of the fixed tree and extremes of element ranges in full-width vectors, compiled once an instruction set
// without fused multiply-adds: 32 lanes are 32 lanes in registers of any width, so bits do not depend on it.
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/sdk/cpu/type_table.hpp"
#include "sextant/sdk/cpu/vector_sums.hpp"
#include "tree_table.hpp"

namespace sextant_reduction_tree::SXT_ISA {

using namespace sextant::plugin::SXT_ISA;

template <class R, class T>
void leaves(const T &terms, int64_t n, int64_t first, int64_t last, void *out) {
  R *result = static_cast<R *>(out);
  for (int64_t leaf = first; leaf < last; ++leaf, result += T::parts) {
    const int64_t begin = leaf * 1024;
    if (n - begin >= 1024)
      sum_leaf<R>(begin, 1024, terms, result);  // the usual count as a constant
    else
      sum_leaf<R>(begin, n - begin, terms, result);
  }
}

template <class R, int C>
void value_leaves(const Call &c, int64_t first, int64_t last, void *out) {
  leaves<R>(Values<R, C>{static_cast<const R *>(c.x)}, c.n, first, last, out);
}
template <class R, int C, bool Conjugate>
void product_leaves(const Call &c, int64_t first, int64_t last, void *out) {
  const Products<R, C, Conjugate> terms{static_cast<const R *>(c.x), static_cast<const R *>(c.y)};
  leaves<R>(terms, c.n, first, last, out);
}
template <class R, int C>
void magnitude_leaves(const Call &c, int64_t first, int64_t last, void *out) {
  leaves<R>(RealTerms<R, C, Absolute>{static_cast<const R *>(c.x), {}}, c.n, first, last, out);
}
template <class R, int C>
void square_leaves(const Call &c, int64_t first, int64_t last, void *out) {
  const ScaledSquare<R> square{static_cast<R>(c.scale)};
  leaves<R>(RealTerms<R, C, ScaledSquare<R>>{static_cast<const R *>(c.x), square}, c.n, first, last, out);
}

template <class R, int C>
Place largest(const Call &c, int64_t begin, int64_t end) {
  const auto found = first_largest<R, C>(static_cast<const R *>(c.x), begin, end);
  return {static_cast<double>(found.value), found.index};
}
template <class R, bool Small>
Place outermost(const Call &c, int64_t begin, int64_t end) {
  const R start = Small ? R(__builtin_inf()) : -R(__builtin_inf());
  return {static_cast<double>(extreme<R, Small>(begin, end, start, Values<R, 1>{static_cast<const R *>(c.x)})), 0};
}

template <class R, int C>
constexpr void fill_type(Table &table, int type) {
  auto *l = table.leaves[type];
  l[values] = value_leaves<R, C>;
  l[products] = product_leaves<R, C, false>;
  l[conjugate_products] = product_leaves<R, C, C == 2>;
  l[magnitudes] = magnitude_leaves<R, C>;
  l[squares] = square_leaves<R, C>;
  table.largest[type] = largest<R, C>;
  if constexpr (C == 1) {
    table.least[type] = outermost<R, true>;
    table.most[type] = outermost<R, false>;
  }
}

extern const Table table;
constinit const Table table =
    table_of_types<Table>([]<class R, int C>(Number<R, C>, Table &table, int type) { fill_type<R, C>(table, type); });

}  // namespace sextant_reduction_tree::SXT_ISA
