// SPDX-License-Identifier: BSD-3-Clause
// Iterative refinement of right-hand sides (Wilkinson 1963; Higham 2002, chapter 12): residuals come in twice the
// working precision from the one kernel that may judge answers, corrections from the factor. The same residual judges
// schedulers of third parties.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/base/types.hpp"
#include "core/cholesky/factor.hpp"
#include "core/device/capturing.hpp"
#include "core/device/stage.hpp"
#include "core/operations/operations.hpp"
#include "core/run/truth.hpp"
#include "sextant/plugin/kinds/residual.h"

namespace sextant::cholesky {

namespace {

// A step that leaves more than this part of the residual does not help any more.
constexpr double least_fall = 0.5;
constexpr std::int64_t most_refined = 8;  // columns at once: each takes four vectors

// 1 and -1, in an order without a pattern: n values of a type.
std::vector<char> signs(sxt_value_type type, std::int64_t n) {
  std::vector<char> out(static_cast<std::size_t>(n * value_bytes(type)));
  with_value_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::uint64_t bits = 1;
    for (std::int64_t i = 0; i < n; ++i) {
      bits = bits * 6364136223846793005u + 1442695040888963407u;  // Knuth's linear congruence
      reinterpret_cast<T *>(out.data())[i] = bits >> 63 ? T(1) : T(-1);
    }
  });
  return out;
}

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
        least(static_cast<std::size_t>(columns)) {
    wanting.reserve(least.size());
  }
  char *column(const DeviceBuffer &of, std::size_t j) const { return of.as<char>() + j * column_bytes; }
  // x is the best of column j so far.
  void keep(std::size_t j, const sxt_residual_norms &its) {
    least[j] = its;
    device.copy(column(best, j), column(x, j), column_bytes);
  }
  Device &device;
  std::uint64_t column_bytes;
  DeviceBuffer b, x, best, correction, norms;
  std::vector<sxt_residual_norms> least;  // of the best of each
  std::vector<std::size_t> wanting;  // columns to correct; the residual of the k-th stands in column k of correction
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

// Norms of b - A x of column j; the residual itself goes where the next one that wants a correction has its own.
sxt_residual_norms Factor::residual_of(Refined &work, std::size_t j) const {
  const std::int64_t n = analysis_->symbolic().n;
  sxt_residual_args args{};
  args.h = {sizeof args, SXT_KIND_RESIDUAL};
  args.n_rhs = 1;
  args.ldx = args.ldb = args.ldr = n;
  args.x = work.column(work.x, j), args.b = work.column(work.b, j);
  args.r = work.column(work.correction, work.wanting.size());
  args.norms = work.norms.as<sxt_residual_norms>();
  truth().run(&args.h);
  if (!work.device.on_host()) work.device.wait(work.device.callers_stream());
  return *args.norms;
}

// Whether a column is to be corrected.
bool Factor::wants(const SolveCall &call, const sxt_residual_norms &norms) const {
  const double tolerance = call.refine_tolerance > 0 ? call.refine_tolerance : epsilon(analysis_->value_type());
  return norms.norm_2 > 0 && norms.norm_2 + norms.bound_2 > tolerance * norms.rhs_2;
}

// In place, in device space.
sxt_status Factor::solve_in_place(const SolveCall &call, const DeviceBuffer &columns, std::size_t count) const {
  SolveCall inner = call;
  inner.ldb = inner.ldx = analysis_->symbolic().n;
  inner.b = inner.x = columns.data();
  DeviceBuffer none;
  return solve_columns(inner, 0, static_cast<std::int64_t>(count), none);
}

// One correction of the columns that want it. Those that it helped, and that want another, stay in the list.
sxt_status Factor::correct(const SolveCall &call, Refined &work) const {
  const std::vector<std::size_t> corrected = work.wanting;
  if (const sxt_status status = solve_in_place(call, work.correction, corrected.size()); status != SXT_OK)
    return status;
  work.wanting.clear();
  for (std::size_t k = 0; k < corrected.size(); ++k) {
    const std::size_t j = corrected[k];
    add(work.column(work.correction, k), work.column(work.x, j));
    const sxt_residual_norms before = work.least[j], now = residual_of(work, j);
    if (now.norm_2 < before.norm_2) work.keep(j, now);
    if (now.norm_2 < least_fall * before.norm_2 && wants(call, now)) work.wanting.push_back(j);
  }
  return SXT_OK;
}

// Solves for some columns and refines each while that helps; the report takes the worst of all columns.
sxt_status Factor::refine(const SolveCall &call, std::int64_t first, std::size_t count, Refined &work,
                          sxt_cholesky_solve_report &report) const {
  const std::int64_t each = value_bytes(analysis_->value_type());
  const auto at = [&](const void *array, std::int64_t ld, std::size_t j) {
    const std::int64_t column = first + static_cast<std::int64_t>(j);
    return static_cast<char *>(const_cast<void *>(array)) + static_cast<std::uint64_t>(column * ld * each);
  };
  for (std::size_t j = 0; j < count; ++j)
    work.device.copy(work.column(work.b, j), at(call.b, call.ldb, j), work.column_bytes);
  work.device.copy(work.x.data(), work.b.data(), count * work.column_bytes);
  sxt_status status = solve_in_place(call, work.x, count);
  work.wanting.clear();
  for (std::size_t j = 0; j < count && status == SXT_OK; ++j) {
    const sxt_residual_norms norms = residual_of(work, j);
    require(std::isfinite(norms.rhs_2), SXT_E_NOT_FINITE, "column ", first + static_cast<std::int64_t>(j),
            " of b (counting from 0) has a value that is NaN or infinite, or its norm leaves the range");
    work.keep(j, norms);
    if (wants(call, norms)) work.wanting.push_back(j);
  }
  for (std::int32_t step = 1; step <= call.refine_steps && status == SXT_OK && !work.wanting.empty(); ++step) {
    report.refined = std::max(report.refined, step);
    status = correct(call, work);
  }
  for (std::size_t j = 0; j < count && status == SXT_OK; ++j) {
    work.device.copy(at(call.x, call.ldx, j), work.column(work.best, j), work.column_bytes);
    const sxt_residual_norms &least = work.least[j];
    const double relative = least.rhs_2 > 0 ? least.norm_2 / least.rhs_2 : least.norm_2;
    // Of the first column, and of a worse one; what is no number is the worst.
    if (first + static_cast<std::int64_t>(j) > 0 && (std::isnan(report.residual) || relative <= report.residual))
      continue;
    report.residual = relative;
    report.residual_bound = least.rhs_2 > 0 ? least.bound_2 / least.rhs_2 : least.bound_2;
  }
  return status;
}

// A factor that a third party's scheduler made or solves with must solve one system of ours first: cases that a kernel
// was proven on are small, and what it does with large ones is not known. An LDLH without interchanges may lose half
// of the digits and more, so only what is far off is refused. Throws SXT_E_PLUGIN.
void Factor::try_solver(std::int64_t n_rhs) const {
  const Settings &settings = analysis_->settings();
  Runner &solver = analysis_->solver(n_rhs);
  const registry::Kernel &maker = analysis_->factor_kernel(), &kernel = *solver.choice().kernel;
  if (maker.plugin->own && kernel.plugin->own) return;
  if (outcome_.changed > 0 || !settings.schur_rows.empty() || analysis_->symbolic().n == 0)
    return;  // of another matrix
  Device &device = analysis_->context().device();
  {
    const std::lock_guard lock(mutex_);
    if (std::find(tried_.begin(), tried_.end(), &solver) != tried_.end()) return;
  }
  if (matrix_->version() != version_ || capturing(device)) return;
  const sxt_value_type type = analysis_->value_type();
  const std::int64_t n = analysis_->symbolic().n;
  Refined work(device, n, value_bytes(type), 1);
  device.copy(work.b.data(), signs(type, n).data(), work.column_bytes);
  device.copy(work.x.data(), work.b.data(), work.column_bytes);
  sxt_cholesky_args args = this->args(SXT_CHOLESKY_SOLVE);
  args.b = work.x.data(), args.ldb = n, args.n_rhs = 1;
  solver.ask(&args.h);
  const sxt_residual_norms norms = residual_of(work, 0);
  require(!(norms.norm_2 - norms.bound_2 > std::cbrt(epsilon(type)) * norms.size_2), SXT_E_PLUGIN, "what ",
          kernel.name(), " solves with the factor of ", maker.name(), " leaves a residual of ",
          norms.norm_2 / norms.size_2,
          " of |b| + |A| |x|: one of the two kernels is wrong; name another in "
          "options->scheduler, or leave its plugin out");
  const std::lock_guard lock(mutex_);
  tried_.push_back(&solver);
}

sxt_status Factor::solve_refined(const SolveCall &call, sxt_cholesky_solve_report &report) const {
  const std::int64_t most = std::min(call.n_rhs, most_refined), n = analysis_->symbolic().n;
  Refined work(analysis_->context().device(), n, value_bytes(analysis_->value_type()), most);
  sxt_status status = SXT_OK;
  try_solver(most);
  for (std::int64_t first = 0; first < call.n_rhs && status == SXT_OK; first += most)
    status = refine(call, first, static_cast<std::size_t>(std::min(call.n_rhs - first, most)), work, report);
  return status;
}

}  // namespace sextant::cholesky
