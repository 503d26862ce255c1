// SPDX-License-Identifier: BSD-3-Clause
// sextant explain MATRIX --members N --network L,B: what an iteration of conjugate gradients would take on N members
// like this one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "input/matrix_input.hpp"
#include "report/output.hpp"

namespace tool {

struct MembersOptions {
  std::vector<std::int64_t> counts;
  std::string network;  // seconds, bytes a second
};

// Throws exit_usage for a network that cannot be read.
void check_members(const MembersOptions &options);
int explain_members(sxt_context *context, const LoadedMatrix &matrix, const MembersOptions &options, bool json);

}  // namespace tool
