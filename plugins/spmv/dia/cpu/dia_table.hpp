// SPDX-License-Identifier: BSD-3-Clause
// The row functions of one instruction set, one a pair of value types (sdk/type_pair.hpp).
#pragma once

#include "plugins/formats/dia.hpp"

namespace spmv_dia {

struct Table {
  sextant::plugin::DiaRows rows[6];
};

}  // namespace spmv_dia
