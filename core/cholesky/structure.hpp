// SPDX-License-Identifier: BSD-3-Clause
// Rows of supernodes, and where the entries of A stand among them.
#pragma once

#include "core/cholesky/partition.hpp"

namespace sextant::cholesky {

// Rows of all supernodes, each one's own columns first, ascending; row_ptr as in sxt_symbolic.
Array<std::int32_t> find_rows(const Graph &graph, const Elimination &elimination, const Partition &partition,
                              const Array<std::int64_t> &row_ptr, int threads);

// The supernodes as arrays.
struct Supernodes {
  std::int64_t n, n_super;
  const std::int64_t *super_ptr, *row_ptr, *value_ptr;
  const std::int32_t *rows, *perm, *inverse;
};

// entry_from and entry_to of sxt_symbolic, and n_straight. Of two mirror images the one in the row that is eliminated
// first is used.
struct Entries {
  Array<std::int64_t> from, to;
  std::int64_t straight = 0;
};

// Throws SXT_E_PLAN where an entry has no place among the rows: they are of another pattern.
Entries find_entries(const Pattern &pattern, const Supernodes &supernodes, int threads);

}  // namespace sextant::cholesky
