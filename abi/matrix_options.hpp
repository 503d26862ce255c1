// SPDX-License-Identifier: BSD-3-Clause
// Options and arrays that become a matrix: of one context, or the rows of a world's.
#pragma once

#include <cstdint>

#include "core/context/context.hpp"
#include "core/matrix/assemble.hpp"

#include "sextant/sextant.h"

namespace sextant::abi {

sxt_matrix_options matrix_defaults();
// Throw SXT_E_ARGUMENT, SXT_E_TYPE for a member without meaning.
void check_duplicates(const sxt_matrix_options &options);
void check_matrix_options(const sxt_matrix_options &options);
AssemblyOptions assembly_of(const sxt_matrix_options &options, const Context &context);
// Throws where an array lies in memory that only a device reaches: the host reads the arrays of a matrix.
void check_on_host(const Context &context, const void *array, const char *name);
// Checks arrays by their own types, whether the matrix adopts or copies them.
void check_arrays(const Context &context, const EntryArrays &entries);
// The number of entries that the compressed pointers state; 0 without pointers, which assembly reports.
std::int64_t last_pointer(const EntryArrays &entries, int base);
// Arrays without types, and arrays with the types of the options.
EntryArrays entries_of(EntryArrays::Layout layout, std::int64_t rows, std::int64_t cols, const void *row,
                       const void *col, const void *values);
EntryArrays with_types(EntryArrays entries, const sxt_matrix_options &options);

}  // namespace sextant::abi
