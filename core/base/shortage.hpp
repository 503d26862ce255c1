// SPDX-License-Identifier: BSD-3-Clause
// Short memory says nothing of what was tried. A handler that would go on with something else lets it through, or goes
// on with less.
#pragma once

#include "core/base/error.hpp"

namespace sextant {

inline bool out_of_memory(const Error &problem) noexcept { return problem.status() == SXT_E_MEMORY; }
// A device that failed says as little of what was tried on it.
inline bool says_nothing(const Error &problem) noexcept {
  return out_of_memory(problem) || problem.status() == SXT_E_DEVICE;
}

}  // namespace sextant
