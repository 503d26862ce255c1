// SPDX-License-Identifier: BSD-3-Clause
// Whether the engine applies, how its planes are shared out, and its cost.
#pragma once

#include "sextant/plugin/kinds/pcg.h"
#include "sextant/sdk/kernel.hpp"

namespace stencil {

sxt_status applicable(const sxt_pcg_query &query, const sxt_features *found, sxt_message *reason);
// Whether the kernels were compiled for the device: bulk copies are missing from translated code.
sxt_status has_kernels_for(const sxt_machine &machine, sxt_message *reason);
sxt_status candidates(const sxt_pcg_query &query, const sxt_features *found, const sxt_machine &machine,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count);

}  // namespace stencil
