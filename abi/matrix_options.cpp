// SPDX-License-Identifier: BSD-3-Clause
#include "abi/matrix_options.hpp"

#include "abi/options.hpp"
#include "core/base/aligned.hpp"

namespace sextant::abi {

sxt_matrix_options matrix_defaults() {
  sxt_matrix_options options{};
  options.struct_size = sizeof options;
  options.value_type = SXT_F64;
  options.index_type = SXT_I32;
  options.keep_order = 1;
  options.check_finite = 1;
  return options;
}

void check_duplicates(const sxt_matrix_options &options) {
  require(options.duplicates == SXT_DUPLICATES_SUM || options.duplicates == SXT_DUPLICATES_REFUSE, SXT_E_ARGUMENT,
          "options->duplicates ", options.duplicates, " is not SXT_DUPLICATES_SUM (0) or SXT_DUPLICATES_REFUSE (1)");
}

void check_matrix_options(const sxt_matrix_options &options) {
  with_value_type(options.value_type, [](auto) {});
  with_index_type(options.index_type, [](auto) {});
  if (options.offset_type) with_index_type(options.offset_type, [](auto) {});
  require(options.index_base == 0 || options.index_base == 1, SXT_E_ARGUMENT, "options->index_base is ",
          options.index_base, "; it must be 0 or 1");
  require(options.symmetry >= SXT_GENERAL && options.symmetry <= SXT_SKEW, SXT_E_ARGUMENT, "options->symmetry ",
          options.symmetry, " is not one of SXT_GENERAL (0) to SXT_SKEW (3)");
  require(options.triangle >= SXT_FULL && options.triangle <= SXT_UPPER, SXT_E_ARGUMENT, "options->triangle ",
          options.triangle, " is not one of SXT_FULL (0), SXT_LOWER (1), SXT_UPPER (2)");
  check_duplicates(options);
  require(options.ownership == SXT_COPY || options.ownership == SXT_ADOPT, SXT_E_ARGUMENT, "options->ownership ",
          options.ownership, " is not SXT_COPY (0) or SXT_ADOPT (1)");
}

AssemblyOptions assembly_of(const sxt_matrix_options &options, const Context &context) {
  AssemblyOptions assembly;
  assembly.index_base = options.index_base;
  assembly.symmetry = options.symmetry;
  assembly.triangle = options.triangle;
  assembly.sum_duplicates = options.duplicates == SXT_DUPLICATES_SUM;
  assembly.check_finite = switched(options.check_finite, "options->check_finite");
  assembly.symmetry_tolerance = options.symmetry_tolerance;
  assembly.keep_order = switched(options.keep_order, "options->keep_order");
  assembly.threads = context.threads();
  return assembly;
}

// The host reads the arrays of a matrix, in contexts of every device. Memory that only a device reaches would end the
// process.
void check_on_host(const Context &context, const void *array, const char *name) {
  const Device &device = context.device();
  if (!array || !device.ops().locate) return;
  sxt_space space = SXT_SPACE_HOST;
  std::int32_t ordinal = -1;
  // A device that cannot tell reports an error when the array is used.
  if (device.ops().locate(device.handle(), array, &space, &ordinal) != SXT_OK) return;
  require(space != SXT_SPACE_DEVICE, SXT_E_ARGUMENT, name, " lies in the memory of device ", ordinal,
          "; the arrays of a matrix are read on the host: copy them there first");
}

void check_arrays(const Context &context, const EntryArrays &entries) {
  const bool rows_compressed = entries.layout == EntryArrays::Layout::csr;
  const bool cols_compressed = entries.layout == EntryArrays::Layout::csc;
  const auto check = [&](const void *array, std::int64_t bytes, const char *name) {
    check_on_host(context, array, name);
    require_aligned(array, bytes, name);
  };
  check(entries.row, index_bytes(rows_compressed ? entries.offset_type : entries.index_type),
        rows_compressed ? "row_ptr" : "row");
  check(entries.col, index_bytes(cols_compressed ? entries.offset_type : entries.index_type),
        cols_compressed ? "col_ptr" : "col");
  check(entries.values, value_alignment(entries.value_type), "values");
}

std::int64_t last_pointer(const EntryArrays &entries, int base) {
  const bool by_rows = entries.layout == EntryArrays::Layout::csr;
  const void *pointers = by_rows ? entries.row : entries.col;
  const std::int64_t count = by_rows ? entries.rows : entries.cols;
  if (!pointers || count < 0) return 0;
  return (entries.offset_type == SXT_I64 ? static_cast<const std::int64_t *>(pointers)[count]
                                         : static_cast<const std::int32_t *>(pointers)[count]) -
         base;
}

EntryArrays entries_of(EntryArrays::Layout layout, std::int64_t rows, std::int64_t cols, const void *row,
                       const void *col, const void *values) {
  EntryArrays entries;
  entries.layout = layout;
  entries.rows = rows;
  entries.cols = cols;
  entries.row = row;
  entries.col = col;
  entries.values = values;
  return entries;
}

EntryArrays with_types(EntryArrays entries, const sxt_matrix_options &options) {
  entries.value_type = options.value_type;
  entries.index_type = options.index_type;
  entries.offset_type = options.offset_type ? options.offset_type : options.index_type;
  return entries;
}

}  // namespace sextant::abi
