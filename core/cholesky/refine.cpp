// SPDX-License-Identifier: BSD-3-Clause
// Iterative refinement of one right-hand side (Wilkinson 1963; Higham 2002, chapter 12): residuals come in twice the
// working precision from the one kernel that may judge answers, corrections from the factor.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/types.hpp"
#include "core/cholesky/factor.hpp"
#include "core/device/stage.hpp"
#include "core/operations/operations.hpp"
#include "core/run/truth.hpp"
#include "sextant/plugin/kinds/residual.h"

namespace sextant::cholesky {

namespace {

// A step that leaves more than this part of the residual does not help any more.
constexpr double least_fall = 0.5;

// x and what refining it takes, in device space.
struct Vectors {
  Vectors(Device &device, std::uint64_t bytes)
      : b(device, bytes),
        x(device, bytes),
        best(device, bytes),
        correction(device, bytes),
        norms(device, sizeof(sxt_residual_norms), device.on_host() ? SXT_SPACE_HOST : SXT_SPACE_PINNED) {}
  DeviceBuffer b, x, best, correction, norms;
};

}  // namespace

Runner &Factor::truth() const {
  const std::lock_guard lock(mutex_);
  if (!truth_) {
    std::string ignored;
    truth_ = std::make_unique<Runner>(
        matrix_->context(), choose_truth(*matrix_, analysis_->settings().expected_solves, "cholesky/truth", ignored),
        matrix_.get());
  }
  return *truth_;
}

// x += correction, in device space.
void Factor::add(const void *correction, void *x) const {
  static constexpr double one[2] = {1, 0};
  static constexpr float one_narrow[2] = {1, 0};
  const sxt_value_type type = analysis_->value_type();
  const void *const unit = is_single(type) ? static_cast<const void *>(one_narrow) : one;
  Operations::own_of(analysis_->context())
      .vector({.operation = SXT_VECTOR_AXPBY,
               .type = type,
               .n = analysis_->symbolic().n,
               .alpha = unit,
               .beta = unit,
               .x = correction,
               .y = x});
}

// Norms of b - A x, in device space; the residual itself goes to `residual`.
sxt_residual_norms Factor::residual_of(const void *b, const void *x, void *residual, DeviceBuffer &norms) const {
  const std::int64_t n = analysis_->symbolic().n;
  sxt_residual_args args{};
  args.h = {sizeof args, SXT_KIND_RESIDUAL};
  args.n_rhs = 1;
  args.ldx = args.ldb = args.ldr = n;
  args.x = x, args.b = b, args.r = residual;
  args.norms = norms.as<sxt_residual_norms>();
  truth().run(&args.h);
  const Device &device = analysis_->context().device();
  if (!device.on_host()) device.wait(device.callers_stream());
  return *args.norms;
}

// Solves for one column and refines it while that helps; the report takes the worst of all columns.
sxt_status Factor::refine(const SolveCall &call, std::int64_t column, sxt_cholesky_solve_report &report) const {
  Device &device = analysis_->context().device();
  const std::int64_t n = analysis_->symbolic().n, each = value_bytes(analysis_->value_type());
  const auto bytes = static_cast<std::uint64_t>(n * each);
  const auto at = [&](const void *array, std::int64_t ld) {
    return static_cast<char *>(const_cast<void *>(array)) + static_cast<std::uint64_t>(column * ld * each);
  };
  Vectors v(device, bytes);
  device.copy(v.b.data(), at(call.b, call.ldb), bytes);
  SolveCall inner = call;
  inner.ldb = inner.ldx = n;
  DeviceBuffer kept;
  const auto solve = [&](const void *b, void *x) {
    inner.b = b, inner.x = x;
    return solve_columns(inner, 0, 1, kept);
  };
  if (const sxt_status status = solve(v.b.data(), v.x.data()); status != SXT_OK) return status;
  sxt_residual_norms best = residual_of(v.b.data(), v.x.data(), v.correction.data(), v.norms);
  require(std::isfinite(best.rhs_2), SXT_E_NOT_FINITE, "column ", column,
          " of b (counting from 0) has a value that is NaN or infinite, or its norm leaves the range");
  device.copy(v.best.data(), v.x.data(), bytes);
  const double tolerance = call.refine_tolerance > 0 ? call.refine_tolerance : epsilon(analysis_->value_type());
  std::int32_t steps = 0;
  while (steps < call.refine_steps && best.norm_2 + best.bound_2 > tolerance * best.rhs_2 && best.norm_2 > 0) {
    if (const sxt_status status = solve(v.correction.data(), v.correction.data()); status != SXT_OK) return status;
    add(v.correction.data(), v.x.data());
    ++steps;
    const sxt_residual_norms now = residual_of(v.b.data(), v.x.data(), v.correction.data(), v.norms);
    const bool helps = now.norm_2 < least_fall * best.norm_2;
    if (now.norm_2 < best.norm_2) {
      best = now;
      device.copy(v.best.data(), v.x.data(), bytes);
    }
    if (!helps) break;
  }
  device.copy(at(call.x, call.ldx), v.best.data(), bytes);
  report.refined = std::max(report.refined, steps);
  const double relative = best.rhs_2 > 0 ? best.norm_2 / best.rhs_2 : best.norm_2;
  // Of the first column, and of a worse one; what is no number is the worst.
  if (column == 0 || (!std::isnan(report.residual) && !(relative <= report.residual))) {
    report.residual = relative;
    report.residual_bound = best.rhs_2 > 0 ? best.bound_2 / best.rhs_2 : best.bound_2;
  }
  return SXT_OK;
}

}  // namespace sextant::cholesky
