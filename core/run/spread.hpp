// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/run/choice.hpp"
#include "sextant/plugin/plugin.h"

namespace sextant {

class Context;
class Matrix;

// The launch of a choice on the threads that there are; the chosen one where the choice does not spread. slots: as they
// were prepared.
sxt_candidate spread(Context &context, const Choice &choice, Matrix *matrix, const std::vector<sxt_filled> &slots);

}  // namespace sextant
