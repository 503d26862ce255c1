// SPDX-License-Identifier: BSD-3-Clause
// The cost of a solve.
#pragma once

#include <cstdint>

#include "parts.hpp"

namespace host_loop {

sxt_status candidates(const Recurrence &recurrence, const sxt_pcg_query &query, const sxt_machine &machine,
                      const sxt_filled *slots, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count);

}  // namespace host_loop
