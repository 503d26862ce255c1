// SPDX-License-Identifier: BSD-3-Clause
// The contents of this plugin: the reference engine and the kind sxt.pcg/1.
#pragma once

#include "sextant/plugin/plugin.h"

namespace pcg_reference {

const sxt_kernel &kernel();
const sxt_kind &kind();

}  // namespace pcg_reference
