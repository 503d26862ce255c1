// SPDX-License-Identifier: BSD-3-Clause
// A fitted model as the [[models]] entry of a profile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/fit.hpp"

namespace sextant {

// As a TOML float: the fewest digits that read back to the same number, or so many.
std::string toml_number(double value, int digits_kept = 0);
std::string toml_string(std::string_view plain);

// What a model belongs to; matrix_type "" where no matrix is read.
struct FitLabel {
  std::string kernel, vector_type, matrix_type;
  std::uint32_t version = 0, model_class = 0;
};
// A blank line, then the entry.
std::string fit_toml(const FitLabel &label, const FittedModel &model);

}  // namespace sextant
