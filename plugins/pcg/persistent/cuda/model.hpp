// SPDX-License-Identifier: BSD-3-Clause
// Whether the engine applies, its number of blocks, and its cost.
#pragma once

#include "sextant/plugin/kinds/pcg.h"
#include "sextant/sdk/kernel.hpp"

namespace persistent {

sxt_status applicable(const sxt_pcg_query &query, const sxt_machine &machine, sxt_message *reason);
// Whether the kernels were compiled for the device: packets are missing from translated code.
sxt_status has_kernels_for(const sxt_machine &machine, sxt_message *reason);
extern const char *const features[];
sxt_status candidates(const sxt_pcg_query &query, const sxt_features *found, const sxt_machine &machine,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count);

}  // namespace persistent
