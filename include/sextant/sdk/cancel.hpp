// SPDX-License-Identifier: BSD-3-Clause
// The word by which another thread cancels a call (sxt_exec.cancel, sxt_solve_options.cancel). Header-only, no part of
// the ABI.
#pragma once

#include <cstdint>

namespace sextant::plugin {

// Acquire: writes of the other thread before it cancelled are visible after. NULL: the call cannot be cancelled.
inline bool is_cancelled(const volatile std::int32_t *word) noexcept {
  return word && __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0;
}

}  // namespace sextant::plugin
