// SPDX-License-Identifier: BSD-3-Clause
// Solves in graphs that the application captures, from the plugin's edge.
#pragma once

#include "sextant/plugin/kinds/pcg_record.h"

namespace graph {

// NULL where the toolkit has no loops in graphs.
const sxt_pcg_ops *pcg_ops();

}  // namespace graph
