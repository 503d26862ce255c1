// SPDX-License-Identifier: BSD-3-Clause
// The explanation of a choice with what its models see: for each chosen kernel the physical terms that a fit would be
// made on.
#pragma once

#include <string>

#include "core/explain/explain.hpp"
#include "sextant/plugin/plugin.h"

namespace sextant {

// explain_json, with a member "model" in each entry of the plan: {version, model_class, vector_type, matrix_type (null
// where no matrix is read), working_set_bytes, terms: [{name, count, analytic_s}]}. count: of one unit of the machine,
// as fitted coefficients expect it; analytic_s: seconds of one of it without measurements.
std::string explain_json(const Explanation &explanation, const sxt_machine &machine);

}  // namespace sextant
