// SPDX-License-Identifier: BSD-3-Clause
// P A P^T where a storage makes it on its device: nothing of it passes through the host, nor do new values.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "core/base/types.hpp"
#include "core/matrix/matrix.hpp"
#include "core/model/cost.hpp"
#include "sextant/plugin/kinds/storage_permuted.h"

namespace sextant {

namespace {

const sxt_storage_permuted_ops *ops_of(const registry::Kernel *kernel) {
  if (!kernel || !(kernel->table.flags & SXT_KERNEL_PERMUTED)) return nullptr;
  return static_cast<const sxt_storage_permuted_ops *>(kernel->table.ops);
}

}  // namespace

StoredForm::StoredForm(const StoredForm &whole, const void *perm)
    : context_(whole.context_), kernel_(whole.kernel_), ops_(whole.ops_) {
  const sxt_storage_permuted_ops *ops = ops_of(kernel_);
  require(ops != nullptr, SXT_E_NOT_SUPPORTED, name(), " does not permute what it holds");
  Call call(context_.device());
  const sxt_exec exec = make_exec(call);
  try {
    call.finish(call.enter([&] { return ops->permuted(whole.state_, perm, &exec, &state_); }), name(), "permuted");
  } catch (...) {
    release();
    throw;
  }
}

const registry::Kernel *Matrix::permuting_kernel(sxt_candidate *candidate) {
  const registry::Kernel *kernel = storage_kernel(SXT_KIND_STORAGE_CSR);
  const auto *ops = ops_of(kernel);
  if (!ops || context_->device().on_host()) return nullptr;
  *candidate = {};
  candidate->model_class = SXT_CLASS_PERMUTED;
  candidate->setup_s = ops->permuted_s(&storage_query_, &context_->machine());
  return kernel;
}

double Matrix::permuted_seconds() {
  sxt_candidate candidate;
  const registry::Kernel *kernel = permuting_kernel(&candidate);
  return kernel ? predict_setup(kernel->table, storage_query_.q, candidate, context_->profile())
                : std::numeric_limits<double>::quiet_NaN();
}

std::shared_ptr<Matrix> Matrix::permuted(const void *perm, std::uint64_t pattern_hash) {
  const double seconds = permuted_seconds();
  require(!std::isnan(seconds), SXT_E_NOT_SUPPORTED, "no kernel permutes matrices on ", context_->device_name());
  std::shared_ptr<StoredForm> whole = lend(SXT_KIND_STORAGE_CSR);
  auto matrix = std::make_shared<Matrix>(context_, shape(), symmetry_);
  matrix->found_symmetry(known_symmetry());
  matrix->pattern_hash_ = pattern_hash;
  matrix->given_ = std::make_shared<StoredForm>(*whole, perm);
  matrix->given_->holds_values(matrix->version());
  matrix->forms_[SXT_KIND_STORAGE_CSR] = matrix->given_;
  matrix->whole_ = std::move(whole);
  matrix->built_s_ = seconds;
  return matrix;
}

void Matrix::source_changed(Matrix &source) {
  const std::lock_guard lock(mutex_);
  source.freshen(SXT_KIND_STORAGE_CSR, *whole_);
  given_->refresh(source.problem(whole_.get()));
  refresh_forms();
}

CsrArrays Matrix::on_host() {
  CsrArrays out = shape().csr;
  const auto array = [&](const Buffer &here, const void *there, std::uint64_t bytes) {
    if (!given_) return Buffer::borrow(here.data(), here.bytes());
    Buffer copy(bytes, context_->allocator());
    context_->device().copy(copy.data(), there, bytes);
    return copy;
  };
  const sxt_csr *there = given_ ? reinterpret_cast<const sxt_csr *>(given_->view()) : nullptr;
  const CsrArrays &here = data_.csr;
  const auto rows = static_cast<std::uint64_t>(out.rows), entries = static_cast<std::uint64_t>(out.nnz);
  out.row_ptr = array(here.row_ptr, there ? there->row_ptr : nullptr, (rows + 1) * index_bytes(out.offset_type));
  out.col = array(here.col, there ? there->col : nullptr, entries * index_bytes(out.index_type));
  out.values = array(here.values, there ? there->values : nullptr, entries * value_bytes(out.value_type));
  return out;
}

}  // namespace sextant
