// SPDX-License-Identifier: BSD-3-Clause
// Common declarations of this plugin's files.
#pragma once

#include "plugins/partition/shared/partition.hpp"

namespace sextant::partition_rows {

extern const sxt_kernel contiguous;  // the kind's reference
extern const sxt_kind kind;

}  // namespace sextant::partition_rows
