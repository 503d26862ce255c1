// SPDX-License-Identifier: BSD-3-Clause
// For models: the terms of a candidate.
#pragma once

#include <cstddef>

#include "sextant/plugin/plugin.h"

namespace sextant_cholesky {

// As many as a kernel names (its list ends with NULL); the candidate keeps all units busy.
template <std::size_t names>
void put_terms(sxt_candidate &candidate, const char *const (&)[names], const double (&terms)[names - 1]) {
  static_assert(names - 1 <= SXT_MAX_TERMS);
  for (std::size_t k = 0; k + 1 < names; ++k) candidate.terms[k] = terms[k];
  candidate.n_terms = names - 1;
  candidate.units = 0;
}

}  // namespace sextant_cholesky
