// SPDX-License-Identifier: BSD-3-Clause
// Helpers for orderings (plugin/kinds/ordering.h): a pattern with its types, the checks that every run begins with, and
// whether a query asks for a method.
#pragma once

#include <cstdint>
#include <cstring>

#include "sextant/plugin/kinds/ordering.h"
#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin::ordering {

// Rows and columns of type I, offsets of type O.
template <class I, class O>
struct Pattern {
  std::int64_t n;
  const O *row_ptr;
  const I *col;
  // Entries of a row, the diagonal included: the degree plus one for almost every row.
  std::int64_t degree(I row) const { return static_cast<std::int64_t>(row_ptr[row + 1] - row_ptr[row]); }
};

// Calls f(Pattern, perm) with the arrays in their types, after checking the args; n = 0 is done at once.
template <class F>
sxt_status with_pattern(const sxt_exec *exec, sxt_ordering_args &args, F &&f) {
  args.width = args.levels = args.tree_nodes = 0;
  if (args.n < 0) return error(exec, SXT_E_ARGUMENT, "%lld rows", (long long)args.n);
  if (args.n == 0) return SXT_OK;
  if (!args.row_ptr || !args.perm) return error(exec, SXT_E_ARGUMENT, "row_ptr or perm is NULL");
  return with_index_type(args.index_type, [&](auto index) {
    return with_index_type(args.offset_type, [&](auto offset) -> sxt_status {
      using I = typename decltype(index)::type;
      using O = typename decltype(offset)::type;
      const Pattern<I, O> pattern{args.n, static_cast<const O *>(args.row_ptr), static_cast<const I *>(args.col)};
      if (!args.col && pattern.row_ptr[args.n] > 0) return error(exec, SXT_E_ARGUMENT, "col is NULL");
      return f(pattern, static_cast<I *>(args.perm));
    });
  });
}

// Orderings write to arrays of their args.
inline sxt_ordering_args &writable(const sxt_head *head) {
  return const_cast<sxt_ordering_args &>(as<sxt_ordering_args>(head));
}

// SXT_OK where the query is about a square matrix and asks for the method, or for any.
inline sxt_status offers(const sxt_ordering_query &q, const char *method, sxt_message *reason) {
  if (q.m.rows != q.m.cols)
    return refuse(reason, "%lld rows and %lld columns have no common order", (long long)q.m.rows, (long long)q.m.cols);
  if (q.method[0] && std::strcmp(q.method, method) != 0) return refuse(reason, "it orders by %s", method);
  return SXT_OK;
}

}  // namespace sextant::plugin::ordering
