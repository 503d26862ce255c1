// SPDX-License-Identifier: BSD-3-Clause
// Whether the engine applies, and its cost.
#pragma once

#include <cstdint>

#include "sextant/plugin/kinds/pcg.h"

namespace team {

extern const char *const storages[], *const features[], *const terms[];
extern const double term_defaults[];

sxt_status applicable(bool predicting, const sxt_pcg_query &query, const sxt_features *found, sxt_message *reason);
sxt_status candidates(bool predicting, const sxt_pcg_query &query, const sxt_features *found,
                      const sxt_machine &machine, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count);

}  // namespace team
