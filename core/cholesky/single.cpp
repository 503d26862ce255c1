// SPDX-License-Identifier: BSD-3-Clause
// Factors in single precision: how they are made, when they do not serve, and the factor in the working precision that
// takes their place then.
#include "core/base/types.hpp"
#include "core/cholesky/factor.hpp"

namespace sextant::cholesky {

// serves: values and pivots are for single precision, as far as a factorisation tells.
Factored Factor::make_in_single(const Matrix &matrix, const volatile std::int32_t *cancel, bool &serves) {
  serves = single_->take(matrix.csr(), analysis_->context().threads());
  if (!serves) return {};
  if (scale_.data()) analysis_->context().device().copy(scale_.data(), single_->scale().data(), scale_.bytes());
  const Factored made = make(own_, matrix, single_->values(), cancel);
  serves = made.status != SXT_OK || made.good();
  return made;
}

// In the precision that was chosen or, where that does not serve and it does, in the working one from then on.
Factored Factor::make_best(const Matrix &matrix, const volatile std::int32_t *cancel) {
  if (in_single()) {
    bool serves = false;
    const Factored made = make_in_single(matrix, cancel, serves);
    if (serves) return made;
    const Factored again = make(working_part(), matrix, matrix.csr().values.data(), cancel);
    if (again.good()) repeated_.store(true, std::memory_order_release);
    return again;
  }
  return make(part(), matrix, matrix.csr().values.data(), cancel);
}

FactorPart &Factor::working_part() const {
  if (!working_.analysis) working_ = make_part(analysis_->in_working_precision());
  return working_;
}

// After corrections that did not lead to the working precision. Other threads may be in solves with the factor in
// single precision: it stays until the next factorisation.
sxt_status Factor::repeat(const volatile std::int32_t *cancel) const {
  const std::lock_guard lock(repeat_mutex_);
  if (repeated()) return SXT_OK;
  check_values();
  const Factored made = make(working_part(), *matrix_, matrix_->csr().values.data(), cancel);
  if (made.status != SXT_OK) return made.status;
  judge(*matrix_, made);
  repeated_.store(true, std::memory_order_release);
  return SXT_OK;
}

}  // namespace sextant::cholesky
