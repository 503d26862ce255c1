// SPDX-License-Identifier: BSD-3-Clause
// How long blocks should be, and what a solve will cost.
#pragma once

#include "session.hpp"

namespace graph {

sxt_status candidates(const pcg::Recurrence &recurrence, const sxt_pcg_query &query, const sxt_filled *slots,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count);

}  // namespace graph
