// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/sdk/cholesky.hpp"

namespace sextant_cholesky {

// One call on one thread, any phase; the arguments have been checked.
void run_reference(const sxt_symbolic &s, const sxt_cholesky_args &args);

extern const sxt_kernel reference;
extern const sxt_kind kind;

}  // namespace sextant_cholesky
