// SPDX-License-Identifier: BSD-3-Clause
// Tables of functions by value type, for files compiled once an instruction set (sdk/cpu/simd.hpp). Includes no C++
// standard header.
#pragma once

#ifndef SXT_ISA
#error "sdk/cpu/type_table.hpp is for ISA_SOURCES"
#endif
#include "sextant/types.h"

namespace sextant::plugin::SXT_ISA {

// A value type: `parts` reals of type R.
template <class R, int parts>
struct Number {};

// The Table that fill(Number, table, type - 1) fills for each value type. The compiler does so: no code of an
// instruction set may run before it is known to be there.
template <class Table, class Fill>
consteval Table table_of_types(Fill fill) {
  Table table{};
  fill(Number<float, 1>{}, table, SXT_F32 - 1);
  fill(Number<double, 1>{}, table, SXT_F64 - 1);
  fill(Number<float, 2>{}, table, SXT_C64 - 1);
  fill(Number<double, 2>{}, table, SXT_C128 - 1);
  return table;
}

}  // namespace sextant::plugin::SXT_ISA
