// SPDX-License-Identifier: BSD-3-Clause
// Whether the engine applies, its number of blocks, and its cost.
#pragma once

#include "sextant/plugin/kinds/pcg.h"
#include "sextant/sdk/kernel.hpp"

namespace cooperative {

extern const char *const features[];  // that the model asks for

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *machine, sxt_message *reason);
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count);

}  // namespace cooperative
