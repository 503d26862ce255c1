// SPDX-License-Identifier: BSD-3-Clause
// Rows of a product for one instruction set.
#include "plugins/formats/row_products.hpp"

namespace team_rows::SXT_ISA {

extern const sextant::plugin::RowsTable table;
constinit const sextant::plugin::RowsTable table = sextant::plugin::SXT_ISA::row_products();

}  // namespace team_rows::SXT_ISA
