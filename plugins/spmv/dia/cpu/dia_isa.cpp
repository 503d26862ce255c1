// SPDX-License-Identifier: BSD-3-Clause
// The row code for one instruction set.
#include "dia_table.hpp"
#include "plugins/formats/dia_rows.hpp"

namespace spmv_dia::SXT_ISA {

using namespace sextant::plugin::SXT_ISA;

extern const Table table;
const Table table = {{
#define SXT_X(V, M) &dia_rows<V, M>,
    SXT_FOR_TYPE_PAIRS(SXT_X)
#undef SXT_X
}};

}  // namespace spmv_dia::SXT_ISA
