// SPDX-License-Identifier: BSD-3-Clause
// Iterative refinement of right-hand sides (Wilkinson 1963; Higham 2002, chapter 12): residuals come in twice the
// working precision from the one kernel that may judge answers, corrections from the factor.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

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

}  // namespace

// Some columns and what refining them takes, in device space, one after the other without gaps.
struct Factor::Refined {
  Refined(Device &on, std::int64_t n, std::int64_t each, std::int64_t columns)
      : device(on),
        column_bytes(static_cast<std::uint64_t>(n * each)),
        b(on, column_bytes * static_cast<std::uint64_t>(columns)),
        x(on, b.bytes()),
        best(on, b.bytes()),
        correction(on, b.bytes()),
        norms(on, sizeof(sxt_residual_norms), on.on_host() ? SXT_SPACE_HOST : SXT_SPACE_PINNED),
        least(static_cast<std::size_t>(columns)),
        helped(static_cast<std::size_t>(columns)) {}
  char *column(const DeviceBuffer &of, std::int64_t j) const {
    return of.as<char>() + static_cast<std::uint64_t>(j) * column_bytes;
  }
  // x is the best of column j so far.
  void keep(std::int64_t j, const sxt_residual_norms &its) {
    least[static_cast<std::size_t>(j)] = its;
    device.copy(column(best, j), column(x, j), column_bytes);
  }
  Device &device;
  std::uint64_t column_bytes;
  DeviceBuffer b, x, best, correction, norms;
  std::vector<sxt_residual_norms> least;  // of the best of each
  std::vector<char> helped;               // whether the last step did
};

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

// Norms of b - A x of column j; the residual itself becomes its next correction's right-hand side.
sxt_residual_norms Factor::residual_of(Refined &work, std::int64_t j) const {
  const std::int64_t n = analysis_->symbolic().n;
  sxt_residual_args args{};
  args.h = {sizeof args, SXT_KIND_RESIDUAL};
  args.n_rhs = 1;
  args.ldx = args.ldb = args.ldr = n;
  args.x = work.column(work.x, j), args.b = work.column(work.b, j), args.r = work.column(work.correction, j);
  args.norms = work.norms.as<sxt_residual_norms>();
  truth().run(&args.h);
  if (!work.device.on_host()) work.device.wait(work.device.callers_stream());
  return *args.norms;
}

// One correction of the columns that are not good enough yet; false: there are none.
bool Factor::correct(const SolveCall &call, std::int64_t count, Refined &work, sxt_status &status) const {
  const double tolerance = call.refine_tolerance > 0 ? call.refine_tolerance : epsilon(analysis_->value_type());
  const auto wanting = [&](std::int64_t j) {
    const sxt_residual_norms &least = work.least[static_cast<std::size_t>(j)];
    return work.helped[static_cast<std::size_t>(j)] && least.norm_2 > 0 &&
           least.norm_2 + least.bound_2 > tolerance * least.rhs_2;
  };
  bool any = false;
  for (std::int64_t j = 0; j < count; ++j) any |= wanting(j);
  if (!any) return false;
  SolveCall inner = call;
  inner.ldb = inner.ldx = analysis_->symbolic().n;
  inner.b = inner.x = work.correction.data();
  DeviceBuffer none;  // the columns are in device space
  status = solve_columns(inner, 0, count, none);
  for (std::int64_t j = 0; j < count && status == SXT_OK; ++j) {
    if (!wanting(j)) continue;
    add(work.column(work.correction, j), work.column(work.x, j));
    const sxt_residual_norms now = residual_of(work, j), before = work.least[static_cast<std::size_t>(j)];
    if (now.norm_2 < before.norm_2) work.keep(j, now);
    work.helped[static_cast<std::size_t>(j)] = now.norm_2 < least_fall * before.norm_2;
  }
  return status == SXT_OK;
}

// Solves for some columns and refines each while that helps; the report takes the worst of all columns.
sxt_status Factor::refine(const SolveCall &call, std::int64_t first, std::int64_t count, Refined &work,
                          sxt_cholesky_solve_report &report) const {
  const std::int64_t each = value_bytes(analysis_->value_type());
  const auto at = [&](const void *array, std::int64_t ld, std::int64_t j) {
    return static_cast<char *>(const_cast<void *>(array)) + static_cast<std::uint64_t>((first + j) * ld * each);
  };
  for (std::int64_t j = 0; j < count; ++j)
    work.device.copy(work.column(work.b, j), at(call.b, call.ldb, j), work.column_bytes);
  SolveCall inner = call;
  inner.ldb = inner.ldx = analysis_->symbolic().n;
  inner.b = work.b.data(), inner.x = work.x.data();
  DeviceBuffer none;  // the columns are in device space
  sxt_status status = solve_columns(inner, 0, count, none);
  for (std::int64_t j = 0; j < count && status == SXT_OK; ++j) {
    const sxt_residual_norms norms = residual_of(work, j);
    require(std::isfinite(norms.rhs_2), SXT_E_NOT_FINITE, "column ", first + j,
            " of b (counting from 0) has a value that is NaN or infinite, or its norm leaves the range");
    work.keep(j, norms);
    work.helped[static_cast<std::size_t>(j)] = 1;
  }
  for (std::int32_t step = 1; step <= call.refine_steps && status == SXT_OK && correct(call, count, work, status);
       ++step)
    report.refined = std::max(report.refined, step);
  for (std::int64_t j = 0; j < count && status == SXT_OK; ++j) {
    work.device.copy(at(call.x, call.ldx, j), work.column(work.best, j), work.column_bytes);
    const sxt_residual_norms &least = work.least[static_cast<std::size_t>(j)];
    const double relative = least.rhs_2 > 0 ? least.norm_2 / least.rhs_2 : least.norm_2;
    // Of the first column, and of a worse one; what is no number is the worst.
    if (first + j > 0 && (std::isnan(report.residual) || relative <= report.residual)) continue;
    report.residual = relative;
    report.residual_bound = least.rhs_2 > 0 ? least.bound_2 / least.rhs_2 : least.bound_2;
  }
  return status;
}

sxt_status Factor::solve_refined(const SolveCall &call, sxt_cholesky_solve_report &report) const {
  const std::int64_t most = std::min(call.n_rhs, Analysis::most_columns), n = analysis_->symbolic().n;
  Refined work(analysis_->context().device(), n, value_bytes(analysis_->value_type()), most);
  sxt_status status = SXT_OK;
  for (std::int64_t first = 0; first < call.n_rhs && status == SXT_OK; first += most)
    status = refine(call, first, std::min(call.n_rhs - first, most), work, report);
  return status;
}

}  // namespace sextant::cholesky
