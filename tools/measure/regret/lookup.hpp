// SPDX-License-Identifier: BSD-3-Clause
// The cost of finding a kernel in a call: the decision tree of every subject, looked up at random n.
#pragma once

#include <vector>

#include "core/context/context.hpp"
#include "points.hpp"

namespace regret {

// Prints nanoseconds a lookup: in the whole tree, and as calls by name do it, from the operation to the kernel that is
// ready to run.
void report_lookups(sextant::Context &context, const std::vector<Subject> &subjects);

}  // namespace regret
