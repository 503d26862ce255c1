// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/plugin/kinds/dense.h"

namespace sextant_dense {

extern const sxt_kernel reference;
extern const sxt_kind kind;

}  // namespace sextant_dense
