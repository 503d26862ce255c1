// SPDX-License-Identifier: BSD-3-Clause
// Whether factors are of A's own precision or of the single one, and the way back from there.
#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/cholesky/analysis.hpp"
#include "core/run/truth.hpp"

namespace sextant::cholesky {

namespace {

// AUTO takes single precision where it is predicted to take less than this part of the time: a factor may have to be
// made again.
constexpr double worth_single = 0.9;
// Scaling and rounding a row and an entry on the host, for each factorisation
// (docs/measurements/cholesky_precision.md).
constexpr double round_row_s = 30e-9, round_entry_s = 2e-9;

constexpr sxt_value_type single_of(sxt_value_type type) {
  return type == SXT_F64 ? SXT_F32 : type == SXT_C128 ? SXT_C64 : type;
}

}  // namespace

Analysis::Analysis(const Analysis &single, Working)
    : matrix_(single.matrix_),
      settings_(single.settings_),
      factor_type_(single.value_type()),
      symbolic_(single.symbolic_),
      shape_(single.shape_),
      method_(single.method_) {
  settings_.precision = SXT_PRECISION_WORKING;
  settings_.recorded = false;
  find_scheduler();
}

// Before the structure is found, or for AUTO after it.
void Analysis::choose_precision() {
  const sxt_value_type working = value_type(), single = single_of(working);
  if (settings_.precision == SXT_PRECISION_WORKING || single == working) return;
  std::string passed_over;
  const bool asks = settings_.precision == SXT_PRECISION_AUTO;
  if (asks) {
    const std::string why_not = why_not_single(settings_);
    if (!why_not.empty()) return notes_.push_back("precision: not single with " + why_not);
  }
  try {
    residual_s_ = choose_truth(*matrix_, settings_.expected_solves, "cholesky/truth", passed_over)->run_s;
  } catch (const Error &problem) {
    if (!asks || problem.status() != SXT_E_NO_KERNEL) throw;
    return notes_.push_back(text("precision: not single, as nothing judges corrections: ", problem.what()));
  }
  if (!asks) {
    factor_type_ = single;
    return;
  }
  const double working_s = least_seconds(shape_) * settings_.expected_factors;
  factor_type_ = single;
  const double rounding_s =
      round_row_s * static_cast<double>(matrix_->csr().rows) + round_entry_s * static_cast<double>(matrix_->csr().nnz);
  const double single_s = (least_seconds(shape_) + rounding_s) * settings_.expected_factors;
  if (!(single_s < worth_single * working_s)) factor_type_ = working;
  notes_.push_back(text("precision: ", value_name(factor_type_), "; all that is expected is predicted to take ",
                        seconds_text(working_s), " in ", value_name(working), ", ", seconds_text(single_s), " in ",
                        value_name(single), " with corrections"));
}

const Analysis &Analysis::in_working_precision() const {
  if (!single()) return *this;
  const std::lock_guard lock(working_mutex_);
  if (!working_) working_.reset(new Analysis(*this, Working{}));
  return *working_;
}

}  // namespace sextant::cholesky
