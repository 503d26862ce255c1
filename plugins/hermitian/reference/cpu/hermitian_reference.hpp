// SPDX-License-Identifier: BSD-3-Clause
// The reference kernel of kind sxt.hermitian/1, its factorisations by system, and the kind itself.
#pragma once

#include "sextant/sdk/hermitian.hpp"

namespace sextant::hermitian_reference {

// One system, all value types; returns its info. Solves expect a factor of the same definiteness.
std::int32_t factor(const sxt_hermitian_args &args, std::int64_t s);
void solve(const sxt_hermitian_args &args, std::int64_t s);

extern const sxt_kernel kernel;
extern const sxt_kind kind;

}  // namespace sextant::hermitian_reference
