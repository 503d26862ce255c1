// SPDX-License-Identifier: BSD-3-Clause
// For models: what a query says of the levels of the assembly tree, a rough guess where the caller is too old to say
// it, and a candidate's terms.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sextant/plugin/kinds/cholesky.h"

namespace sextant_cholesky {

struct LevelSums {
  double narrow_columns = 0;  // sum over levels whose widest front has up to 64 columns of that front's columns
  double wide_columns = 0;    // the same over the other levels
  double rows = 0, children = 0;
  double large_count = 0, large_columns = 0, large_ancestors = 0;
};

inline LevelSums level_sums(const sxt_cholesky_query &q) {
  constexpr int narrow = 3;  // classes of up to 64 columns
  LevelSums out;
  if (q.m.q.h.struct_size >= offsetof(sxt_cholesky_query, large_ancestors) + sizeof q.large_ancestors) {
    for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c)
      (c < narrow ? out.narrow_columns : out.wide_columns) += q.levels[c].columns;
    out.rows = q.level_rows, out.children = q.level_children;
    out.large_count = q.large_count, out.large_columns = q.large_columns, out.large_ancestors = q.large_ancestors;
    return out;
  }
  // Separators of halves of halves add up to so many times the widest.
  constexpr double widths_on_a_way = 2.4;
  out.wide_columns = widths_on_a_way * static_cast<double>(q.max_width);
  out.rows = 2 * out.wide_columns, out.children = 2 * static_cast<double>(q.height);
  for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c) {
    const double part = c < narrow ? 0.03 : 1;
    out.large_count += part * q.classes[c].count, out.large_columns += part * q.classes[c].columns;
  }
  out.large_ancestors = 3 * out.large_count;
  return out;
}

// The terms of a candidate, as many as a kernel names (its list ends with NULL); it keeps all units busy.
template <std::size_t names>
void put_terms(sxt_candidate &candidate, const char *const (&)[names], const double (&terms)[names - 1]) {
  static_assert(names - 1 <= SXT_MAX_TERMS);
  for (std::size_t k = 0; k + 1 < names; ++k) candidate.terms[k] = terms[k];
  candidate.n_terms = names - 1;
  candidate.units = 0;
}

}  // namespace sextant_cholesky
