// SPDX-License-Identifier: BSD-3-Clause
// What the mock preconditioners and their tests agree on.
#pragma once

namespace mock {

inline constexpr char method[] = "mock-indefinite";
inline constexpr char wandering_method[] = "mock-wandering";
inline constexpr int rows = 1021;
inline constexpr double last_weight = -1e4;

}  // namespace mock
