// SPDX-License-Identifier: BSD-3-Clause
// The row functions of one instruction set, one a pair of value types (plugin_type_pair.hpp).
#pragma once

#include "sextant/plugin_dia.hpp"

namespace spmv_dia {

struct Table {
  sextant::plugin::DiaRows rows[6];
};

}  // namespace spmv_dia
