// SPDX-License-Identifier: BSD-3-Clause
// How conjugate gradients go on after a true residual that missed the target: what core and engines that judge on a
// device have in common. Header-only, no part of the ABI.
#pragma once

namespace sextant::confirming {

// The first confirmation comes this much before the target would be met if the engine's residual and the caller's kept
// their ratio of the start: where the matrix is badly scaled the caller's may be there long before. Later ones aim at
// the target by the ratio last seen, but no further than that much at a time.
inline constexpr double early = 30.0, least_step = 1 / early;
// Aim a little below the target, so that rounding does not cost a further confirmation.
inline constexpr double aim = 0.9;
// A true residual this much above the recursive one means that the recurrence has drifted: replace it, or correct x.
inline constexpr double drift = 1.5;
// Give up after so many confirmations in a row that did not halve the true residual.
inline constexpr int patience = 4;

}  // namespace sextant::confirming
