// SPDX-License-Identifier: BSD-3-Clause
// Why a block of iterations on a device ends: the code that kernels store, and that their host side passes to the
// conversation of plugins/pcg/shared/blocks.hpp. Plain data; included from C++ and from CUDA. Header-only, no part of
// the ABI.
#pragma once

#include <cstdint>

namespace sextant::plugin::pcg {

enum class Ended : std::int32_t {
  running = -1,  // not ended; the host treats it as at_last
  at_last,       // its last iterate was reached
  met,           // the residual met the tolerance
  not_a_number,  // r'r, or a number of the coming iteration, is not finite
  a_indefinite,  // p'Ap <= 0 in the coming iteration
  m_indefinite,  // r'Mr <= 0 in the coming iteration
  breakdown,     // a number that would be divided by has no digits left
  far,           // r was replaced and is far from the recursive one: the direction is invalid
  first_own      // codes from here on are an engine's own, which it turns into one of the above
};

// r = b - A x computed again may differ from the recursive one by this fraction before the direction is dropped.
inline constexpr double near_enough = 0.1;

}  // namespace sextant::plugin::pcg
