// SPDX-License-Identifier: BSD-3-Clause
// What a factorisation, a solve or the inverse's entries cost on so many threads.
#pragma once

#include "sextant/plugin/kinds/cholesky.h"
#include "sextant/sdk/cpu/threads.hpp"

namespace sextant_cholesky_tasks {

// A call; a team; bytes of the factor; columns, numbers of contribution blocks, rows of lists, fronts of up to 4
// columns and wider ones, each in nanoseconds; operations by the widths of fronts, as many times as each class runs
// slower than the peak, and those of L D L^H once more.
inline constexpr const char *task_terms[] = {
    "launches",     "barriers",     "stream_bytes", "steps.columns", "steps.numbers",  "steps.rows", "steps.narrow",
    "steps.fronts", "flops.narrow", "flops.middle", "flops.wide",    "flops.weighted", nullptr};
inline constexpr std::int64_t sets_apart = 1;  // of sxt_candidate.launch[1]: sets side by side, one thread each

// Fills the terms of task_terms. apart: sets go side by side.
void fill_model(sxt_candidate &candidate, const sxt_cholesky_query &query, int threads, bool apart);

}  // namespace sextant_cholesky_tasks
