// SPDX-License-Identifier: BSD-3-Clause
// Matrices over CSR arrays that another owner keeps, on the host or on a device.
#include <cstdint>
#include <limits>

#include "core/base/types.hpp"
#include "core/matrix/matrix.hpp"

namespace sextant {

namespace {

constexpr std::int64_t narrow_limit = std::numeric_limits<std::int32_t>::max();

bool on_device(const Context &context, const sxt_csr &view) {
  return !context.device().on_host() && view.s.space != SXT_SPACE_HOST;
}

void check_view(const Context &context, const sxt_csr &view) {
  const sxt_storage &s = view.s;
  require(s.rows >= 0 && s.cols >= 0 && s.nnz >= 0, SXT_E_ARGUMENT, "a view of CSR arrays has ", s.rows, " rows, ",
          s.cols, " columns and ", s.nnz, " entries");
  require(view.row_ptr && ((view.col && view.values) || s.nnz == 0), SXT_E_ARGUMENT, "a view of CSR arrays lacks one");
  require(s.index_type == (s.cols < narrow_limit ? SXT_I32 : SXT_I64), SXT_E_ARGUMENT, "a view of ", s.cols,
          " columns holds them in ", s.index_type == SXT_I32 ? "32" : "64", " bits");
  const bool narrow = s.offset_type == SXT_I32, fits = s.nnz < narrow_limit;
  require(narrow ? fits : !fits || !on_device(context, view), SXT_E_ARGUMENT, "a view of ", s.nnz,
          " entries holds its offsets in ", narrow ? "32" : "64", " bits");
}

}  // namespace

std::shared_ptr<Matrix> Matrix::of_view(std::shared_ptr<Context> context, const sxt_csr &view, sxt_symmetry symmetry,
                                        std::uint64_t pattern_hash) {
  check_view(*context, view);
  const bool there = on_device(*context, view);
  require(!there || pattern_hash, SXT_E_ARGUMENT, "a view of arrays on a device needs a hash of its pattern");
  Assembled shape;
  CsrArrays &csr = shape.csr;
  csr.rows = view.s.rows;
  csr.cols = view.s.cols;
  csr.nnz = view.s.nnz;
  csr.value_type = view.s.value_type;
  csr.index_type = view.s.index_type;
  csr.offset_type = csr.nnz < narrow_limit ? SXT_I32 : SXT_I64;
  if (csr.offset_type != view.s.offset_type) {  // on the host, where check_view lets it pass
    csr.row_ptr = Buffer(static_cast<std::uint64_t>(csr.rows + 1) * sizeof(std::int32_t), context->allocator());
    const auto *wide = static_cast<const std::int64_t *>(view.row_ptr);
    for (std::int64_t i = 0; i <= csr.rows; ++i) csr.row_ptr.as<std::int32_t>()[i] = static_cast<std::int32_t>(wide[i]);
  }
  auto matrix = std::make_shared<Matrix>(std::move(context), std::move(shape), symmetry);
  matrix->pattern_hash_ = pattern_hash;
  if (there) {
    sxt_csr kept = view;
    kept.s.h = {sizeof kept, SXT_KIND_STORAGE_CSR};
    kept.s.space = SXT_SPACE_DEVICE;
    kept.s.symmetry = symmetry;
    matrix->given_ = std::make_shared<StoredForm>(*matrix->context_, kept);
    matrix->given_->holds_values(matrix->version());
    matrix->forms_[SXT_KIND_STORAGE_CSR] = matrix->given_;
  } else {
    matrix->borrow_view(view);
  }
  return matrix;
}

void Matrix::borrow_view(const sxt_csr &view) {
  CsrArrays &own = data_.csr;
  const auto entries = static_cast<std::uint64_t>(own.nnz);
  if (!own.row_ptr.owned())
    own.row_ptr = Buffer::borrow(view.row_ptr, static_cast<std::uint64_t>(own.rows + 1) * index_bytes(own.offset_type));
  own.col = Buffer::borrow(view.col, entries * index_bytes(own.index_type));
  own.values = Buffer::borrow(view.values, entries * value_bytes(own.value_type));
  csr_view_.row_ptr = own.row_ptr.data();
  csr_view_.col = own.col.data();
  csr_view_.values = own.values.data();
}

void Matrix::view_changed(const sxt_csr &view) {
  check_view(*context_, view);
  require(view.s.rows == rows() && view.s.cols == cols() && view.s.nnz == data_.csr.nnz &&
              view.s.value_type == value_type() && on_device(*context_, view) == (given_ != nullptr),
          SXT_E_ARGUMENT, "a changed view is not of the matrix it was made for");
  const std::lock_guard lock(mutex_);
  if (given_) {
    sxt_csr kept = reinterpret_cast<const sxt_csr &>(*given_->view());
    kept.row_ptr = view.row_ptr;
    kept.col = view.col;
    kept.values = view.values;
    given_->keep(kept);
  } else {
    borrow_view(view);
  }
  refresh_forms();
}

}  // namespace sextant
