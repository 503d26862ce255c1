// SPDX-License-Identifier: BSD-3-Clause
// How conjugate gradients continue after a true residual that missed the target: shared by core and by engines that
// decide on a device. Header-only, no part of the ABI.
#pragma once

namespace sextant::confirming {

// The first confirmation comes earlier by this factor than the initial ratio of the engine's residual to the caller's
// predicts: where the matrix is badly scaled, the caller's residual may reach the target long before. Later ones aim at
// the target by the latest ratio, but by no more than this factor at a time.
inline constexpr double early = 30.0, least_step = 1 / early;
// Aim a little below the target, so that rounding does not cost a further confirmation.
inline constexpr double aim = 0.9;
// A true residual this much above the recursive one means that the recurrence has drifted: replace it, or correct x.
inline constexpr double drift = 1.5;
// Give up after so many confirmations in a row that did not halve the true residual.
inline constexpr int patience = 4;

#if defined(__CUDACC__)
#define SXT_CONFIRM_CALL __host__ __device__
#else
#define SXT_CONFIRM_CALL
#endif
// Whether a residual's norm and the norm of b, each with a bound of its own rounding, prove that the exact
// |b - A x| <= max(rtol |b|, atol). The factors allow for the few roundings here. False where a norm is not a number.
SXT_CONFIRM_CALL inline bool proves_converged(double norm, double bound, double rhs, double rhs_bound, double rtol,
                                              double atol) {
  const double most = (norm + bound) * (1 + 0x1p-50), least_rhs = rhs - rhs_bound;
  const double relative = least_rhs > 0 ? rtol * least_rhs * (1 - 0x1p-50) - 0x1p-1073 : 0;
  return most <= (relative > atol ? relative : atol);
}
#undef SXT_CONFIRM_CALL

}  // namespace sextant::confirming
