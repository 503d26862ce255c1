// SPDX-License-Identifier: BSD-3-Clause
// What an engine says before it runs: whether it applies, what it asks of its parts, what a solve will cost.
#pragma once

#include <cstdint>

#include "parts.hpp"

namespace host_loop {

sxt_status applicable(const Recurrence &recurrence, const sxt_pcg_query &query, sxt_message *reason);
sxt_status candidates(const Recurrence &recurrence, const sxt_pcg_query &query, const sxt_filled *slots,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count);
sxt_status slot_query(const Recurrence &recurrence, const sxt_pcg_query &query, std::uint64_t slot,
                      std::uint64_t instance, const char *kind, void *out, std::uint64_t capacity);

}  // namespace host_loop
