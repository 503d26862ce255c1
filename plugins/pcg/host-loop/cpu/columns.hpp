// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides of one matrix in lock step.
#pragma once

#include "sextant/plugin/plugin.h"

namespace host_loop {

// sxt_pcg_columns_ops.run_columns.
sxt_status run_columns(const void *state, void *session, const sxt_head *args, const sxt_exec *exec);

}  // namespace host_loop
