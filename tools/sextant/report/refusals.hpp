// SPDX-License-Identifier: BSD-3-Clause
// The registry's refusals, for the list and for the check.
#pragma once

#include "report/output.hpp"

namespace tool {

// [{path, stage, reason}], in the order in which they were refused.
Json refusals_json();

}  // namespace tool
