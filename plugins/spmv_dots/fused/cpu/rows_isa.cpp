// SPDX-License-Identifier: BSD-3-Clause
// Rows of y for one instruction set.
#include "plugins/formats/row_products.hpp"

namespace spmv_dots_rows::SXT_ISA {

extern const sextant::plugin::RowsTable table;
constinit const sextant::plugin::RowsTable table = sextant::plugin::SXT_ISA::row_products();

}  // namespace spmv_dots_rows::SXT_ISA
