// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "abi/handles.hpp"
#include "abi/options.hpp"
#include "abi/sized.hpp"
#include "core/base/aligned.hpp"
#include "core/base/intern.hpp"
#include "core/base/query.hpp"
#include "core/io/matrix_market.hpp"

using namespace sextant;
using namespace sextant::abi;

namespace {

sxt_matrix_options defaults() {
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

void check(const sxt_matrix_options &options) {
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

// The arrays of a matrix are read on the host, in contexts of every device: memory that only a device reaches would end
// the process there.
void check_on_host(const Context &context, const void *array, const char *name) {
  const Device &device = context.device();
  if (!array || !device.ops().locate) return;
  sxt_space space = SXT_SPACE_HOST;
  std::int32_t ordinal = -1;
  // A device without this information reports an error when it is used.
  if (device.ops().locate(device.handle(), array, &space, &ordinal) != SXT_OK) return;
  require(space != SXT_SPACE_DEVICE, SXT_E_ARGUMENT, name, " lies in the memory of device ", ordinal,
          "; the arrays of a matrix are read on the host: copy them there first");
}

void hand_out(std::shared_ptr<Context> context, Assembled assembled, sxt_symmetry symmetry, bool check_finite,
              int index_base, sxt_matrix **matrix) {
  auto inner = std::make_shared<Matrix>(std::move(context), std::move(assembled), symmetry, check_finite);
  auto made = std::make_unique<sxt_matrix>(std::move(inner));
  made->index_base = index_base;
  *matrix = made.release();
}

// The arrays of a matrix are read with their own types, adopted or not.
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

// The number of entries by the compressed pointers; 0 when there are no pointers, which assembly then reports.
std::int64_t last_pointer(const EntryArrays &entries, int base) {
  const bool by_rows = entries.layout == EntryArrays::Layout::csr;
  const void *pointers = by_rows ? entries.row : entries.col;
  const std::int64_t count = by_rows ? entries.rows : entries.cols;
  if (!pointers || count < 0) return 0;
  return (entries.offset_type == SXT_I64 ? static_cast<const std::int64_t *>(pointers)[count]
                                         : static_cast<const std::int32_t *>(pointers)[count]) -
         base;
}

// Types and the number of entries follow from the options.
EntryArrays entries_of(EntryArrays::Layout layout, int64_t rows, int64_t cols, const void *row, const void *col,
                       const void *values) {
  EntryArrays entries;
  entries.layout = layout;
  entries.rows = rows;
  entries.cols = cols;
  entries.row = row;
  entries.col = col;
  entries.values = values;
  return entries;
}

sxt_status make(sxt_context *context, EntryArrays entries, const sxt_matrix_options *given_options,
                sxt_matrix **matrix) {
  return guarded(id_of(context), [&] {
    const std::shared_ptr<Context> &inner = given(context, "context").context;
    given(matrix, "matrix");
    const sxt_matrix_options options = read_sized(given_options, defaults(), "options");
    check(options);
    entries.value_type = options.value_type;
    entries.index_type = options.index_type;
    entries.offset_type = options.offset_type ? options.offset_type : options.index_type;
    check_arrays(*inner, entries);
    if (entries.layout != EntryArrays::Layout::coo) entries.nnz = last_pointer(entries, options.index_base);
    const AssemblyOptions assembly = assembly_of(options, *inner);
    counting_from(options.index_base, [&] {
      hand_out(inner,
               options.ownership == SXT_ADOPT ? adopt(entries, assembly, inner->allocator())
                                              : assemble(entries, assembly, inner->allocator()),
               options.symmetry, assembly.check_finite, options.index_base, matrix);
    });
  });
}

}  // namespace

void sxt_matrix_options_init(sxt_matrix_options *options, uint64_t struct_size) {
  write_sized(options, struct_size, defaults());
}

sxt_status sxt_matrix_from_coo(sxt_context *context, int64_t rows, int64_t cols, int64_t nnz, const void *row,
                               const void *col, const void *values, const sxt_matrix_options *options,
                               sxt_matrix **matrix) {
  EntryArrays entries = entries_of(EntryArrays::Layout::coo, rows, cols, row, col, values);
  entries.nnz = nnz;
  return make(context, entries, options, matrix);
}

sxt_status sxt_matrix_from_csr(sxt_context *context, int64_t rows, int64_t cols, const void *row_ptr, const void *col,
                               const void *values, const sxt_matrix_options *options, sxt_matrix **matrix) {
  return make(context, entries_of(EntryArrays::Layout::csr, rows, cols, row_ptr, col, values), options, matrix);
}

sxt_status sxt_matrix_from_csc(sxt_context *context, int64_t rows, int64_t cols, const void *col_ptr, const void *row,
                               const void *values, const sxt_matrix_options *options, sxt_matrix **matrix) {
  return make(context, entries_of(EntryArrays::Layout::csc, rows, cols, row, col_ptr, values), options, matrix);
}

sxt_status sxt_matrix_from_file(sxt_context *context, const char *path, const sxt_matrix_options *given_options,
                                sxt_matrix **matrix) {
  return guarded(id_of(context), [&] {
    const std::shared_ptr<Context> &inner = given(context, "context").context;
    given(matrix, "matrix");
    sxt_matrix_options file_defaults = defaults();
    file_defaults.value_type = 0;
    const sxt_matrix_options options = read_sized(given_options, file_defaults, "options");
    check_duplicates(options);
    io::ReadOptions read;
    read.value_type = options.value_type;
    read.sum_duplicates = options.duplicates == SXT_DUPLICATES_SUM;
    read.check_finite = switched(options.check_finite, "options->check_finite");
    require(!std::isnan(options.most_rows_per_byte), SXT_E_ARGUMENT, "options->most_rows_per_byte is not a number");
    if (options.most_rows_per_byte != 0) read.most_rows_per_byte = std::max(0.0, options.most_rows_per_byte);
    read.symmetry_tolerance = options.symmetry_tolerance;
    read.threads = inner->threads();
    io::MatrixMarketMatrix file = io::read_matrix(&given(path, "path"), read, inner->allocator());
    if (!file.note.empty()) inner->log()(SXT_LOG_WARNING, file.note);
    Assembled assembled;
    assembled.csr = std::move(file.csr);
    assembled.order.symmetry = file.symmetry;
    assembled.order.symmetry_tolerance = options.symmetry_tolerance;
    assembled.order.mirrored = file.symmetry != SXT_GENERAL;
    hand_out(inner, std::move(assembled), file.symmetry, read.check_finite, 1, matrix);
  });
}

sxt_status sxt_matrix_update_values(sxt_matrix *matrix, const void *values, int64_t count) {
  return guarded(id_of(matrix), [&] {
    Matrix &inner = *given(matrix, "matrix").matrix;
    check_on_host(inner.context(), values, "values");
    require_aligned(values, value_alignment(inner.value_type()), "values");
    counting_from(matrix->index_base, [&] {
      inner.update_values(values, count);
      inner.update_twin();
    });
  });
}

sxt_status sxt_matrix_get_info(const sxt_matrix *matrix, sxt_matrix_info *info) {
  return guarded(id_of(matrix), [&] {
    const Matrix &inner = *given(matrix, "matrix").matrix;
    const CsrArrays &csr = inner.csr();
    answer_sized(info,
                 {sizeof(sxt_matrix_info), csr.rows, csr.cols, csr.nnz, csr.value_type, csr.index_type, csr.offset_type,
                  inner.symmetry(), inner.storage_bytes()},
                 "info");
  });
}

sxt_status sxt_matrix_get_csr(const sxt_matrix *matrix, const void **row_ptr, const void **col, const void **values) {
  return guarded(id_of(matrix), [&] {
    const CsrArrays &csr = given(matrix, "matrix").matrix->csr();
    if (row_ptr) *row_ptr = csr.row_ptr.data();
    if (col) *col = csr.col.data();
    if (values) *values = csr.values.data();
  });
}

sxt_status sxt_matrix_feature(sxt_matrix *matrix, const char *name, double *value) {
  return guarded(id_of(matrix),
                 [&] { given(value, "value") = given(matrix, "matrix").matrix->feature(&given(name, "name")); });
}

const char *sxt_feature_name(int64_t i) {
  const char *name = nullptr;
  guarded(0, [&] {
    const std::vector<std::string> names = feature_names(registry::Registry::instance());
    if (i >= 0 && i < static_cast<int64_t>(names.size())) name = intern(names[static_cast<std::size_t>(i)]);
  });
  return name;
}

void sxt_matrix_destroy(sxt_matrix *matrix) { destroy(matrix); }
