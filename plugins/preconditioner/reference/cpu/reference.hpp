// SPDX-License-Identifier: BSD-3-Clause
// The contents of this plugin: the identity as a preconditioner and the kind sxt.preconditioner/1.
#pragma once

#include "sextant/plugin/plugin.h"

namespace preconditioner_reference {

const sxt_kernel &identity();
const sxt_kind &kind();

}  // namespace preconditioner_reference
