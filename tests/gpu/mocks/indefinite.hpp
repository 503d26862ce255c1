// SPDX-License-Identifier: BSD-3-Clause
// What the indefinite mock preconditioner and its test agree on.
#pragma once

namespace mock {

inline constexpr char method[] = "mock-indefinite";
inline constexpr int rows = 1021;
inline constexpr double last_weight = -1e4;

}  // namespace mock
