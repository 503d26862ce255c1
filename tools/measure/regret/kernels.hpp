// SPDX-License-Identifier: BSD-3-Clause
// Launch policies on kernels that no decision tree chooses: sparse products, sets of Hermitian systems, vector groups
// with inner products.
#pragma once

#include "core/context/context.hpp"
#include "report.hpp"

namespace regret {

// Measures every configuration of every kernel that has several, on generated matrices and sets, for about so many
// seconds, and adds the regret of each policy to the table. For kernels that do not describe their launches to
// policies, the models' choice is evaluated.
void judge_other_kernels(sextant::Context &context, double seconds, PolicyTable &table);

}  // namespace regret
