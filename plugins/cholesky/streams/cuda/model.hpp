// SPDX-License-Identifier: BSD-3-Clause
// What a factorisation costs with a mapping of tasks on so many streams, and a solve.
#pragma once

#include "plan.hpp"
#include "sextant/sdk/cuda/exec.hpp"

namespace sextant_cholesky_streams {

// Real operations of a multiplication and an addition.
inline double operations_of(sxt_value_type type) { return type == SXT_C64 || type == SXT_C128 ? 8 : 2; }

// Fill the terms of cuda_terms.
void fill_factor_model(sxt_candidate &candidate, const sxt_cholesky_query &query, const sxt_machine &machine,
                       int streams, Mapping mapping);
void fill_solve_model(sxt_candidate &candidate, const sxt_cholesky_query &query, const sxt_machine &machine);
void estimate_bytes(const sxt_cholesky_query &query, int streams, std::uint64_t *host, std::uint64_t *device);

}  // namespace sextant_cholesky_streams
