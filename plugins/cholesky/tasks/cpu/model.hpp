// SPDX-License-Identifier: BSD-3-Clause
// What a factorisation, a solve or the inverse's entries cost on so many threads.
#pragma once

#include "sextant/plugin/kinds/cholesky.h"
#include "sextant/sdk/cpu/threads.hpp"

namespace sextant_cholesky_tasks {

// Fills the terms of cpu_step_terms.
void fill_model(sxt_candidate &candidate, const sxt_cholesky_query &query, const sxt_machine &machine, int threads);

}  // namespace sextant_cholesky_tasks
