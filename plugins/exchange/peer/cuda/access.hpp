// SPDX-License-Identifier: BSD-3-Clause
// Whether kernels of the current device may write memory that belongs to another device of the process.
#pragma once

#include "sextant/plugin/plugin.h"

namespace sextant::exchange_cuda {

// SXT_OK when they may, after this call at the latest: the pool that the memory comes from is opened to the current
// device. SXT_NOT_APPLICABLE with a sentence when the devices do not reach each other, or the memory is of no pool.
sxt_status open_to_current(const sxt_exec *exec, void *memory);
// The same of all that a plan (sxt_exchange_plan, or NULL) names.
sxt_status open_all_to_current(const sxt_exec *exec, const sxt_head *plan);

}  // namespace sextant::exchange_cuda
