// SPDX-License-Identifier: BSD-3-Clause
// The kinds whose kernels serve operations on vectors alone.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/vector.h"
#include "sextant/plugin/kinds/vector_group.h"

namespace sextant {

inline constexpr std::string_view operation_kinds[] = {SXT_KIND_VECTOR, SXT_KIND_VECTOR_GROUP, SXT_KIND_REDUCTION,
                                                       SXT_KIND_MULTIDOT};

inline bool serves_operations(std::string_view kind) noexcept {
  return std::find(std::begin(operation_kinds), std::end(operation_kinds), kind) != std::end(operation_kinds);
}

}  // namespace sextant
