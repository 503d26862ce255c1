// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/solve.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/types.hpp"
#include "core/device/stage.hpp"
#include "core/pcg/own_stream.hpp"
#include "sextant/sdk/arithmetic.hpp"
#include "sextant/sdk/cancel.hpp"
#include "sextant/sdk/pcg_confirm.hpp"

namespace sextant {

using namespace confirming;

namespace {

constexpr double negative_one[2] = {-1, 0}, plus_one[2] = {1, 0};
constexpr float negative_one_f[2] = {-1, 0}, plus_one_f[2] = {1, 0};

// The part of b that A can reach is the difference of b and its projection, which rounding makes a few units of b where
// it is 0: sums of up to most_vectors products each, whose roundings add up as their root.
constexpr double roundings_of_projection = 16;

}  // namespace

PcgSolve::PcgSolve(PcgSetup &setup, PcgWorkspace &work, const void *b, void *x, const SolveSettings &settings)
    : setup_(setup),
      work_(work),
      operations_(Operations::own_of(setup.problem().context())),
      crossing_(setup.system().crossing()),
      b_(b),
      callers_b_(b),
      x_(x),
      settings_(settings),
      callers_atol_(settings.atol),
      type_(setup.problem().matrix().value_type()),
      n_(setup.problem().matrix().rows()) {}

void PcgSolve::add(const void *from, void *to) {
  const void *const one = is_single(type_) ? static_cast<const void *>(plus_one_f) : plus_one;
  operations_.vector(
      {.operation = SXT_VECTOR_AXPBY, .type = type_, .n = n_, .alpha = one, .beta = one, .x = from, .y = to});
}

void PcgSolve::zero(void *vector) {
  static constexpr double zeros[2] = {0, 0};
  operations_.vector({.operation = SXT_VECTOR_FILL, .type = type_, .n = n_, .alpha = zeros, .y = vector});
}

void PcgSolve::shift(void *vector, int by) { shift_by(operations_, type_, n_, vector, by); }

double PcgSolve::norm_2(const void *vector) const {
  return operations_.reduce_real(SXT_REDUCTION_NRM2, type_, n_, vector);
}

double PcgSolve::norm(const void *vector) const {
  if (asked().norm == SXT_NORM_2) return norm_2(vector);
  return operations_.reduce_real(SXT_REDUCTION_AMAX, type_, n_, vector);
}

// |re| + |im| of a finite complex number may leave the range; of a quarter of it, it does not.
bool PcgSolve::finite(const void *vector) {
  if (std::isfinite(most(vector))) return true;
  if (type_ != SXT_C64 && type_ != SXT_C128) return false;
  crossing_.copy(vector, work_.iterate.data());  // nothing is there yet
  shift(work_.iterate.data(), -2);
  return std::isfinite(most(work_.iterate.data()));
}

void PcgSolve::check_finite(const void *vector, const char *name) {
  if (finite(vector)) return;
  require(device().on_host(), SXT_E_NOT_FINITE, name, " holds NaN or infinity");
  with_value_type(type_, [&](auto tag) {
    const auto *values = static_cast<const typename decltype(tag)::type *>(vector);
    std::int64_t i = 0;
    while (i + 1 < n_ && std::isfinite(std::real(values[i])) && std::isfinite(std::imag(values[i]))) ++i;
    fail(SXT_E_NOT_FINITE, name, "[", i, "] (counting from 0) is ", values[i]);
  });
}

bool PcgSolve::trivial(sxt_pcg_report &report) {
  if (n_ > 0) {
    rhs_norm_ = norm(b_);
    if (!std::isfinite(rhs_norm_)) check_finite(b_, "b");  // a norm of large numbers may overflow
    if (settings_.use_initial_guess) check_finite(x_, "x, the initial guess,");
    if (!std::isfinite(rhs_norm_) && !std::isfinite(most(b_))) shift_rhs(-2);
    if (!is_near(type_, rhs_norm_)) bring_near(most(b_));
  }
  if (n_ > 0 && !null_space().empty()) report.null_space_norm = callers(leave_out_null_space());
  target_ = std::max(settings_.rtol * rhs_norm_, settings_.atol);
  if (rhs_norm_ > 0) return false;
  if (n_ > 0) zero(x_);  // A x = 0 has the one solution 0
  report.reason = n_ == 0 || really_zero() ? SXT_REASON_CONVERGED : SXT_REASON_BREAKDOWN;
  return true;
}

double PcgSolve::most(const void *vector) const {
  return operations_.reduce_real(SXT_REDUCTION_AMAX, type_, n_, vector);
}

// A power of two changes no digit.
void PcgSolve::bring_near(double size) {
  if (const int by = shift_near(type_, size)) shift_rhs(by);
}

void PcgSolve::shift_rhs(int by) {
  if (!work_.near.data()) work_.near = DeviceBuffer(device(), static_cast<std::uint64_t>(n_) * value_bytes(type_));
  if (b_ != work_.near.data()) crossing_.copy(b_, work_.near.data());
  shift(work_.near.data(), by);
  b_ = work_.near.data();
  shift_ += by;
  settings_.atol = std::ldexp(settings_.atol, by);
  rhs_norm_ = norm(b_);
}

// From then on b is the part that A can reach. Where that is no more than rounding nothing is left to solve.
double PcgSolve::leave_out_null_space() {
  const bool single = is_single(type_);
  crossing_.copy(b_, work_.solvable.data());
  null_space().remove_from(operations_, work_.solvable.data());
  crossing_.copy(b_, work_.residual.data());
  operations_.vector({.operation = SXT_VECTOR_AXPY,
                      .type = type_,
                      .n = n_,
                      .alpha = single ? static_cast<const void *>(negative_one_f) : negative_one,
                      .x = work_.solvable.data(),
                      .y = work_.residual.data()});
  b_ = work_.solvable.data();
  const double whole = rhs_norm_, part = norm(b_);
  const double rounding = single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  rhs_norm_ = part > roundings_of_projection * rounding * whole ? part : 0;
  return norm(work_.residual.data());
}

void PcgSolve::start() {
  start_rhs();
  if (!is_near(type_, system_norm_)) {
    const int before = shift_;
    bring_near(system_norm_);
    target_ = std::ldexp(target_, shift_ - before);
    start_rhs();
  }
  // A guess that leaves the range with b is so far from x that it is dropped.
  if (settings_.use_initial_guess && x_shift() != 0 &&
      std::ldexp(most(x_), x_shift()) > std::ldexp(1, furthest_exponent(type_)))
    settings_.use_initial_guess = false;
  if (settings_.use_initial_guess)
    crossing_.take_in_guess(x_, work_.iterate.data());
  else
    zero(work_.iterate.data());
  if (x_shift() == 0 || !settings_.use_initial_guess) return;
  shift(work_.iterate.data(), x_shift());
  guess_norm_ = true_residual(work_.iterate.data()).norm;
  if (guess_norm_ <= worst_guess * rhs_norm_) return;
  zero(work_.iterate.data());
  settings_.use_initial_guess = false;
}

// b in the engine's system.
void PcgSolve::start_rhs() {
  if (changes_rhs()) crossing_.take_in_rhs(b_, work_.rhs.data());
  system_norm_ = same_norm() ? rhs_norm_ : norm_2(changes_rhs() ? work_.rhs.data() : b_);
}

void PcgSolve::keep(std::int64_t iteration, double residual) {
  if (!settings_.history || iteration >= settings_.history_capacity) return;
  settings_.history[iteration] = callers(residual);
  settings_.publish_length(iteration + 1);
}

sxt_reason PcgSolve::judge(std::int64_t iteration, double residual) {
  if (const sxt_reason seen = progress_.judge(iteration, residual, asked())) return seen;
  if (plugin::is_cancelled(settings_.cancel)) return SXT_REASON_CANCELLED;
  if (settings_.time_limit > 0 && clock_.seconds() > settings_.time_limit) return SXT_REASON_TIME_LIMIT;
  if (!settings_.progress) return SXT_REASON_NONE;
  const double first = progress_.first(), relative = first > 0 ? residual / first : 0;
  return settings_.progress(settings_.progress_user, iteration, relative) ? SXT_REASON_CANCELLED : SXT_REASON_NONE;
}

sxt_reason PcgSolve::observe(std::int64_t first, std::int64_t count, const double *residuals) {
  for (std::int64_t i = 0; i < count; ++i) {
    keep(base_ + first + i, residuals[i]);
    const sxt_reason reason = judge(base_ + first + i, residuals[i]);
    if (reason != SXT_REASON_NONE) return reason;
  }
  return SXT_REASON_NONE;
}

bool PcgSolve::open(sxt_pcg_report &report, sxt_pcg_args &args) {
  report.struct_size = sizeof report;
  report.setup_seconds = setup_.seconds();
  report.predicted_setup_seconds = setup_.predicted_seconds();
  report.predicted_iterations = setup_.expected().iterations;
  report.probe_iterations = setup_.outlook().steps;
  report.probe_seconds = setup_.outlook().seconds;
  if (trivial(report)) return false;
  start();
  args.h = {sizeof args, SXT_KIND_PCG};
  args.n = n_;
  args.b = changes_rhs() ? work_.rhs.data() : b_;
  args.x = work_.iterate.data();
  args.x_is_zero = !settings_.use_initial_guess;
  const double ratio = system_norm_ / rhs_norm_;  // between the two norms, at the start
  args.tolerance = (same_norm() ? 1.0 : early) * target_ * ratio;
  args.max_iterations = settings_.max_iterations;
  args.user = this;
  args.observe = [](void *self, std::int64_t first, std::int64_t count, const double *residuals) -> sxt_reason {
    auto &solve = *static_cast<PcgSolve *>(self);
    try {
      return solve.observe(first, count, residuals);
    } catch (...) {
      solve.failure_ = std::current_exception();
      return SXT_REASON_CANCELLED;
    }
  };
  args.confirm = [](void *self, const void *x, std::int64_t iteration, double residual, double *tolerance,
                    sxt_reason *reason) -> std::int32_t {
    auto &solve = *static_cast<PcgSolve *>(self);
    try {
      return solve.confirm(x, iteration, residual, tolerance, reason);
    } catch (...) {
      solve.failure_ = std::current_exception();
      return *reason = SXT_REASON_CANCELLED, SXT_CONFIRM_STOP;
    }
  };
  return true;
}

void PcgSolve::close(sxt_pcg_report &report, double seconds_an_iteration) const {
  const plugin::FloatScope nearest(plugin::nearest_control);  // norms and bounds may be subnormal numbers
  report.rhs_norm = callers(rhs_norm_);
  report.true_relative_residual = rhs_norm_ > 0 ? report.residual_norm / rhs_norm_ : report.residual_norm;
  report.residual_bound = callers_bound(report.residual_bound, report.residual_norm, shift_);
  for (double *norm : {&report.residual_norm, &report.rounding_limit}) *norm = callers(*norm);
  report.confirmations = confirmations_;
  report.predicted_solve_seconds = seconds_an_iteration * static_cast<double>(report.iterations);
  report.solve_seconds = clock_.seconds();
}

sxt_pcg_report PcgSolve::run() {
  sxt_pcg_report report{};
  sxt_pcg_args args{};
  if (open(report, args)) {
    if (setup_.system().narrow())
      refine(args);
    else
      call(*setup_.engine(), args);
    finish(args, report);
  }
  close(report, 0);
  const SolveCosts &costs = setup_.costs();
  report.predicted_iteration_seconds = costs.iteration_s;
  report.predicted_residual_seconds = costs.residual_s;
  if (report.iterations > 0) report.iteration_seconds = engine_seconds_ / static_cast<double>(report.iterations);
  if (residuals_ > 0) report.residual_seconds = residuals_seconds_ / static_cast<double>(residuals_);
  report.predicted_solve_seconds =
      costs.solve_s(static_cast<double>(report.iterations), static_cast<double>(report.confirmations));
  return report;
}

}  // namespace sextant
