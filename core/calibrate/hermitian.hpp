// SPDX-License-Identifier: BSD-3-Clause
// The stage of a calibration that is about sets of Hermitian systems.
#pragma once

#include <string_view>

#include "core/calibrate/sampler.hpp"
#include "sextant/types.h"

namespace sextant {

bool is_hermitian_kind(std::string_view kind);
void calibrate_hermitian(Context &context, const CalibrationSettings &settings, const CalibrationClock &clock,
                         Sampler &sampler, sxt_value_type type, double until);

}  // namespace sextant
