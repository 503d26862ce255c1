// SPDX-License-Identifier: BSD-3-Clause
// The reference kernel of kind sxt.convert/1 and the kind itself.
#pragma once

#include "sextant/plugin/kinds/alike.h"
#include "sextant/plugin/kinds/convert.h"

namespace sextant::convert_reference {

extern const sxt_kernel kernel;
extern const sxt_kind_alike kind;

}  // namespace sextant::convert_reference
