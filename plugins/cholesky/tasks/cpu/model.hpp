// SPDX-License-Identifier: BSD-3-Clause
// What a factorisation, a solve or the inverse's entries cost on so many threads.
#pragma once

#include "sextant/plugin/kinds/cholesky.h"
#include "sextant/sdk/cpu/threads.hpp"

namespace sextant_cholesky_tasks {

inline constexpr std::int64_t sets_apart = 1;  // of sxt_candidate.launch[1]: sets side by side, one thread each

// Fills the terms of cpu_step_terms. apart: sets go side by side.
void fill_model(sxt_candidate &candidate, const sxt_cholesky_query &query, const sxt_machine &machine, int threads,
                bool apart);

}  // namespace sextant_cholesky_tasks
