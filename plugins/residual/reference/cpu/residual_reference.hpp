// SPDX-License-Identifier: BSD-3-Clause
// The reference kernel of kind sxt.residual/1 and the kind itself.
#pragma once

#include "sextant/plugin/kinds/residual.h"

namespace sextant::residual_reference {

// 113 bits: products of f64 are exact.
#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Quad;
#else
typedef long double Quad;
#endif
static_assert(sizeof(Quad) == 16);

extern const sxt_kernel kernel;
extern const sxt_kind kind;

}  // namespace sextant::residual_reference
