// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "abi/handles.hpp"
#include "abi/matrix_options.hpp"
#include "abi/options.hpp"
#include "abi/sized.hpp"
#include "abi/world_calls.hpp"
#include "core/base/aligned.hpp"
#include "core/base/intern.hpp"
#include "core/base/query.hpp"
#include "core/io/matrix_market.hpp"

using namespace sextant;
using namespace sextant::abi;

namespace {

void hand_out(std::shared_ptr<Context> context, Assembled assembled, sxt_symmetry symmetry, bool check_finite,
              int index_base, sxt_matrix **matrix) {
  auto inner = std::make_shared<Matrix>(std::move(context), std::move(assembled), symmetry, check_finite);
  auto made = std::make_unique<sxt_matrix>(std::move(inner));
  made->index_base = index_base;
  *matrix = made.release();
}

sxt_status make(sxt_context *context, EntryArrays entries, const sxt_matrix_options *given_options,
                sxt_matrix **matrix) {
  return guarded(id_of(context), [&] {
    const std::shared_ptr<Context> &inner = given(context, "context").context;
    given(matrix, "matrix");
    const sxt_matrix_options options = read_sized(given_options, matrix_defaults(), "options");
    check_matrix_options(options);
    entries = with_types(entries, options);
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
  write_sized(options, struct_size, matrix_defaults());
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
    sxt_matrix_options file_defaults = matrix_defaults();
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
    if (given(matrix, "matrix").world) return update_world_values(*matrix, values, count);
    Matrix &inner = *matrix->matrix;
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
    if (given(matrix, "matrix").world) return answer_sized(info, world_info(*matrix->world), "info");
    const Matrix &inner = *matrix->matrix;
    const CsrArrays &csr = inner.csr();
    answer_sized(info,
                 {sizeof(sxt_matrix_info), csr.rows, csr.cols, csr.nnz, csr.value_type, csr.index_type, csr.offset_type,
                  inner.symmetry(), inner.storage_bytes()},
                 "info");
  });
}

sxt_status sxt_matrix_get_csr(const sxt_matrix *matrix, const void **row_ptr, const void **col, const void **values) {
  return guarded(id_of(matrix), [&] {
    const CsrArrays &csr = of_context(matrix, "matrix").matrix->csr();
    if (row_ptr) *row_ptr = csr.row_ptr.data();
    if (col) *col = csr.col.data();
    if (values) *values = csr.values.data();
  });
}

sxt_status sxt_matrix_feature(sxt_matrix *matrix, const char *name, double *value) {
  return guarded(id_of(matrix),
                 [&] { given(value, "value") = of_context(matrix, "matrix").matrix->feature(&given(name, "name")); });
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
