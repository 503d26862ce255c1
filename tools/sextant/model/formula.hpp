// SPDX-License-Identifier: BSD-3-Clause
// A fitted model to carry away: as an entry of a profile, as a C function, as a Python function.
#pragma once

#include <string>

#include "core/model/fit_text.hpp"

namespace tool {

// "seconds(terms, working_set_bytes)"; terms in the order that the comment says.
std::string formula_c(const sextant::FitLabel &label, const sextant::FittedModel &model);
std::string formula_python(const sextant::FitLabel &label, const sextant::FittedModel &model);
// "sum", "maximum" or "soft maximum 4", and how many breakpoints.
std::string form_in_words(const sextant::FittedModel &model);

}  // namespace tool
