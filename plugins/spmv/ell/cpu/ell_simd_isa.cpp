// SPDX-License-Identifier: BSD-3-Clause
// ELL rows in eight lanes, compiled once an instruction set. An entry, padding included, costs sizeof(value) + 4 bytes
// and one gathered element of x, which padding does not read.
#include "ell_isa.hpp"
#include "plugins/formats/ell_lanes.hpp"

namespace sextant::spmv_ell::SXT_ISA {

namespace lanes = plugin::SXT_ISA;

extern const Table table;
const Table table = {{lanes::ell_rows<double, double>, lanes::ell_rows<double, float>, lanes::ell_rows<float, float>}};

}  // namespace sextant::spmv_ell::SXT_ISA
