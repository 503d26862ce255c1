// SPDX-License-Identifier: BSD-3-Clause
// The parts of a solve, and the loop that the host drives.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <utility>

#include "core/base/hash.hpp"
#include "core/base/types.hpp"
#include "core/operations/operations.hpp"
#include "core/world/solve.hpp"
#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/sdk/pcg_confirm.hpp"

namespace sextant {

using namespace confirming;

void WorldSolve::throw_deferred() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void WorldSolve::fill(void *to, std::size_t i, double value) {
  with_value_type(type_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T alpha(static_cast<decltype(std::abs(T{}))>(value));
    Operations::of(world_.context(i))
        .vector({.operation = SXT_VECTOR_FILL, .type = type_, .n = matrix_.rows_of(i), .alpha = &alpha, .y = to});
  });
}

void WorldSolve::copy(const void *from, void *to, std::size_t i) {
  Operations::of(world_.context(i))
      .vector({.operation = SXT_VECTOR_COPY, .type = type_, .n = matrix_.rows_of(i), .x = from, .y = to});
}

// p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s in one pass.
void WorldSolve::update(std::size_t i, double alpha, double beta) {
  WorldPcg::Part &own = part(i);
  with_value_type(type_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using R = decltype(std::abs(T{}));
    const T scalars[2] = {T(static_cast<R>(alpha)), T(static_cast<R>(beta))};
    sxt_vector_group_args args{};
    args.h = {sizeof args, SXT_KIND_VECTOR_GROUP};
    args.n = matrix_.rows_of(i);
    args.group = SXT_GROUP_CHRONOPOULOS_GEAR;
    args.scalars[0].value = &scalars[0];
    args.scalars[1].value = &scalars[1];
    void *const vectors[] = {x_[i], own.r.data(), own.p.data(), own.s.data(), preconditioned(i), own.w.data()};
    std::copy(std::begin(vectors), std::end(vectors), args.vectors);
    Operations::of(world_.context(i))
        .planned({SXT_KIND_VECTOR_GROUP, SXT_GROUP_CHRONOPOULOS_GEAR, type_, 0, false})
        .at(args.n)
        .run(&args.h);
  });
}

// ---- what ranks tell each other

sxt_reason WorldSolve::local_wish() const {
  if (cancelled_here_ || (settings_.cancel && __atomic_load_n(settings_.cancel, __ATOMIC_ACQUIRE)))
    return SXT_REASON_CANCELLED;
  const bool late = settings_.time_limit > 0 && clock_.seconds() > settings_.time_limit;
  return late ? SXT_REASON_TIME_LIMIT : SXT_REASON_NONE;
}

void WorldSolve::own_dots(std::size_t i, std::array<double, 3> &sums) {
  const void *const r = part(i).r.data(), *const u = preconditioned(i), *const w = part(i).w.data();
  const void *const left[] = {u, r, r}, *const right[] = {w, r, u};  // without a preconditioner two are enough
  const std::int32_t count = pcg_.preconditioned() ? 3 : 2;
  with_value_type(type_, [&](auto tag) {
    std::array<typename decltype(tag)::type, 3> found{};
    Operations::of(world_.context(i)).multidot(type_, matrix_.rows_of(i), count, left, right, found.data());
    for (std::size_t k = 0; k < 3; ++k) sums[k] += static_cast<double>(std::real(found[k]));
  });
}

WorldSolve::Scalars WorldSolve::own_scalars() {
  std::vector<const void *> u(own());
  std::vector<void *> w(own());
  for (std::size_t i = 0; i < own(); ++i) u[i] = preconditioned(i), w[i] = part(i).w.data();
  deferred([&](std::size_t i) {
    if (!part(i).preconditioner) return;
    sxt_preconditioner_args args{};
    args.h = {sizeof args, SXT_KIND_PRECONDITIONER};
    args.n = matrix_.rows_of(i);
    args.r = part(i).r.data();
    args.z = part(i).u.data();
    part(i).preconditioner->run(&args.h);
  });
  matrix_.multiply(nullptr, u, nullptr, w, lanes_);  // others wait for it, whatever failed
  ++products_;
  throw_deferred();
  std::array<double, 3> sums{};
  each([&](std::size_t i) { own_dots(i, sums); });
  return {pcg_.preconditioned() ? sums[2] : sums[1], sums[0], sums[1]};
}

// One gather an iteration: scalars, failures and wishes.
WorldSolve::Scalars WorldSolve::meet_scalars() {
  const std::vector<Frame> &frames = world_.together("sxt_pcg_solve", 1, [&](Frame &mine) {
    mine.wish = local_wish();
    const Scalars own = own_scalars();
    mine.values = {own.gamma, own.delta, own.squared};
  });
  ++reductions_;
  Scalars all;
  wished_ = SXT_REASON_NONE;
  for (const Frame &frame : frames) {
    all.gamma += frame.values[0];
    all.delta += frame.values[1];
    all.squared += frame.values[2];
    if (wished_ == SXT_REASON_NONE) wished_ = frame.wish;
  }
  return all;
}

// ---- true residuals

sxt_residual_norms WorldSolve::residual_of(std::size_t i, bool has_ghosts) {
  WorldPcg::Part &own = part(i);
  Device &device = world_.context(i).device();
  const std::int64_t each = value_bytes(type_), rows = matrix_.rows_of(i);
  const void *x = x_[i];
  if (has_ghosts) {
    Operations &operations = Operations::own_of(world_.context(i));
    const auto put = [&](const void *from, void *to, std::int64_t n) {
      operations.vector({.operation = SXT_VECTOR_COPY, .type = type_, .n = n, .x = from, .y = to});
    };
    put(x, own.extended.data(), rows);
    put(matrix_.halo().ghosts(i), own.extended.as<char>() + rows * each, matrix_.halo().received(i));
    x = own.extended.data();
  }
  sxt_residual_args args{};
  args.h = {sizeof args, SXT_KIND_RESIDUAL};
  args.n_rhs = 1;
  args.ldx = own.joined->cols();
  args.ldb = args.ldr = rows;
  args.x = x;
  args.b = b_[i];
  args.r = own.residual.data();
  args.norms = own.norms.as<sxt_residual_norms>();
  own.truth->run(&args.h);
  if (!device.on_host()) device.wait(device.callers_stream());
  return *args.norms;
}

// Of the members' parts into that of the whole, and the bounds with them: a norm of norms, so the exact one is off by
// no more than the norm of the bounds and the few roundings here.
WorldSolve::Truth WorldSolve::true_residual() {
  const bool norm_2 = pcg_.settings_.norm == SXT_NORM_2;
  const auto join = [&](double one, double other) {
    if (std::isnan(one) || std::isnan(other)) return std::numeric_limits<double>::quiet_NaN();
    return norm_2 ? std::hypot(one, other) : std::max(one, other);
  };
  const auto hypot = [](double one, double other) {
    return std::isnan(one) || std::isnan(other) ? std::numeric_limits<double>::quiet_NaN() : std::hypot(one, other);
  };
  const auto add = [&](std::array<double, Frame::most_values> &to, const std::array<double, Frame::most_values> &v) {
    for (std::size_t k = 0; k < 5; ++k) to[k] = join(to[k], v[k]);
    to[5] = hypot(to[5], v[5]);
  };
  const std::vector<Frame> &frames = world_.together("sxt_pcg_solve", 2, [&](Frame &mine) {
    std::vector<const void *> x(x_.begin(), x_.end());
    matrix_.halo().begin(x, lanes_);
    matrix_.halo().finish(lanes_);
    throw_deferred();
    each([&](std::size_t i) {
      const sxt_residual_norms n = residual_of(i, part(i).extended.data() != nullptr);
      if (norm_2)
        add(mine.values, {n.norm_2, n.bound_2, n.rhs_2, n.rhs_bound_2, n.size_2, n.norm_2});
      else
        add(mine.values, {n.norm_max, n.bound_max, n.rhs_max, n.rhs_bound_max, n.size_max, n.norm_2});
    });
  });
  ++confirmations_;
  std::array<double, Frame::most_values> all{};
  for (const Frame &frame : frames) add(all, frame.values);
  const double roundings =
      norm_2 ? 4 * static_cast<double>(world_.members()) * std::numeric_limits<double>::epsilon() : 0;
  Truth out;
  out.norm = all[0], out.rhs = all[2], out.size = all[4], out.norm_2 = all[5];
  out.bound = all[1] * (1 + roundings) + roundings * all[0];
  out.rhs_bound = all[3] * (1 + roundings) + roundings * all[2];
  out.accepted = proves_converged(out.norm, out.bound, out.rhs, out.rhs_bound, settings_.rtol, settings_.atol);
  return last_ = out;
}

// ---- the recurrence

void WorldSolve::save_guess() {
  if (!settings_.use_initial_guess) return;
  guess_.resize(own());
  each([&](std::size_t i) {
    guess_[i] =
        DeviceBuffer(world_.context(i).device(), static_cast<std::uint64_t>(matrix_.rows_of(i) * value_bytes(type_)));
    copy(x_[i], guess_[i].data(), i);
  });
}

// x, and r = b - A x by the kernel that judges.
void WorldSolve::start() {
  const double asked[] = {settings_.rtol, settings_.atol, static_cast<double>(settings_.max_iterations),
                          static_cast<double>(settings_.use_initial_guess)};
  world_.together("sxt_pcg_solve", fnv1a(asked, sizeof asked), [&](Frame &) {
    save_guess();
    each([&](std::size_t i) {
      if (!settings_.use_initial_guess) fill(x_[i], i, 0);
    });
  });
  begun_ = true_residual();
  require(std::isfinite(begun_.rhs), SXT_E_NOT_FINITE, "b holds NaN or infinity, or its norm leaves the range");
  require(std::isfinite(begun_.norm), SXT_E_NOT_FINITE, "x, the initial guess, holds NaN or infinity");
  target_ = std::max(settings_.rtol * begun_.rhs, settings_.atol);
  // The recurrence's residual is of the 2-norm; the caller's, of the largest element, may meet the target long before.
  tolerance_ = pcg_.settings_.norm == SXT_NORM_2 ? target_ : early * target_;
  deferred([&](std::size_t i) { copy(part(i).residual.data(), part(i).r.data(), i); });
}

sxt_reason WorldSolve::usable(double value, sxt_reason not_positive) const {
  if (!std::isfinite(value)) return SXT_REASON_NOT_A_NUMBER;
  if (value <= 0) return not_positive;
  const double smallest = is_single(type_) ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
  return value >= smallest ? SXT_REASON_NONE : SXT_REASON_BREAKDOWN;
}

sxt_reason WorldSolve::observe(double residual) {
  residual_ = residual;
  if (!std::isfinite(residual)) return SXT_REASON_NOT_A_NUMBER;
  if (replaced_) return SXT_REASON_NONE;  // the same iterate
  if (k_ == 0) first_ = residual;
  if (settings_.history && k_ < settings_.history_capacity) {
    settings_.history[k_] = residual;
    settings_.publish_length(k_ + 1);
  }
  if (residual < least_) least_ = residual, least_at_ = k_;
  if (residual > pcg_.settings_.divergence_limit * first_) return SXT_REASON_DIVERGED;
  const std::int64_t window = pcg_.settings_.stagnation_window > 0 ? pcg_.settings_.stagnation_window : 10000;
  if (k_ - least_at_ >= window) return SXT_REASON_STAGNATED;
  // What this process's callback wants is a wish that the others hear of at the next gather.
  if (settings_.progress &&
      settings_.progress(settings_.progress_user, k_, begun_.rhs > 0 ? residual / begun_.rhs : residual))
    cancelled_here_ = true;
  return SXT_REASON_NONE;
}

sxt_reason WorldSolve::confirm(double residual, bool &replace) {
  const double before = last_.norm;
  const bool first = confirmations_ <= 1;
  const Truth now = true_residual();
  if (!std::isfinite(now.norm)) return SXT_REASON_NOT_A_NUMBER;
  if (now.accepted) return SXT_REASON_CONVERGED;
  fruitless_ = !first && now.norm > 0.5 * before ? fruitless_ + 1 : 0;
  if (residual == 0 || fruitless_ >= patience) return SXT_REASON_STAGNATED;
  tolerance_ = std::clamp(aim * now.norm_2 * (target_ / now.norm), least_step * now.norm_2, 0.9 * now.norm_2);
  replace = !replaced_ && now.norm_2 > drift * residual;
  return SXT_REASON_NONE;
}

// Convergence first: an accepted answer outweighs a limit or a wish at the same iterate.
sxt_reason WorldSolve::judge(const Scalars &now) {
  const sxt_reason seen = observe(std::sqrt(now.squared));
  if (seen != SXT_REASON_NONE) return seen;
  bool replace = false;
  if (residual_ <= tolerance_)
    if (const sxt_reason end = confirm(residual_, replace)) return end;
  if (wished_ != SXT_REASON_NONE) return wished_;
  if (k_ >= settings_.max_iterations) return SXT_REASON_ITERATION_LIMIT;
  if (!replace) return replaced_ = false, SXT_REASON_NONE;
  deferred([&](std::size_t i) { copy(part(i).residual.data(), part(i).r.data(), i); });
  ++replacements_;
  replaced_ = restart_ = true;
  return SXT_REASON_NONE;
}

sxt_reason WorldSolve::step(const Scalars &now) {
  found_in_ = k_ + 1;
  if (const sxt_reason end = usable(now.gamma, SXT_REASON_M_INDEFINITE)) return end;
  if (const sxt_reason end = usable(now.delta, SXT_REASON_A_INDEFINITE)) return end;
  double beta = restart_ ? 0 : now.gamma / gamma_old_;
  double p_a_p = restart_ ? now.delta : now.delta - beta * now.gamma / alpha_old_;
  // p'A p comes from a difference; where most of it cancels the direction is begun anew: u'A u is measured.
  if (!(p_a_p > std::sqrt(epsilon(type_)) * now.delta)) restart_ = true, beta = 0, p_a_p = now.delta;
  const double alpha = now.gamma / p_a_p;
  if (const sxt_reason end = usable(alpha, SXT_REASON_BREAKDOWN)) return end;
  deferred([&](std::size_t i) {
    if (restart_) {  // times beta = 0, but finite
      copy(preconditioned(i), part(i).p.data(), i);
      copy(part(i).w.data(), part(i).s.data(), i);
    }
    update(i, alpha, beta);
  });
  gamma_old_ = now.gamma;
  alpha_old_ = alpha;
  restart_ = false;
  ++k_;
  return SXT_REASON_NONE;
}

// A solve that failed gives back nothing worse than it began with: the guess, or 0.
void WorldSolve::take_back() {
  deferred([&](std::size_t i) {
    if (settings_.use_initial_guess)
      copy(guess_[i].data(), x_[i], i);
    else
      fill(x_[i], i, 0);
  });
}

void WorldSolve::conclude(sxt_pcg_report &report) {
  report.iterations = found_in_ > k_ ? found_in_ : k_;
  if (report.reason != SXT_REASON_CONVERGED) {
    true_residual();
    const bool cut_short = report.reason == SXT_REASON_ITERATION_LIMIT || report.reason == SXT_REASON_STAGNATED;
    if (last_.accepted && cut_short) report.reason = SXT_REASON_CONVERGED;
    if (!last_.accepted && !(last_.norm <= begun_.norm)) {
      take_back();
      last_ = begun_;
    }
  }
  report.rhs_norm = last_.rhs;
  report.residual_norm = last_.norm;
  report.true_relative_residual = last_.rhs > 0 ? last_.norm / last_.rhs : last_.norm;
  report.residual_bound = last_.bound;
  report.rounding_limit = 0.5 * epsilon(type_) * last_.size;
  report.recursive_residual = residual_;
  report.confirmations = confirmations_;
  report.replacements = replacements_;
  report.products = products_ + confirmations_;
  report.reductions = reductions_ + confirmations_;
}

sxt_reason WorldSolve::run_by_host() {
  for (;;) {
    const Scalars now = meet_scalars();
    if (const sxt_reason end = judge(now)) return end;
    if (replaced_) continue;
    if (const sxt_reason end = step(now)) return end;
  }
}

sxt_pcg_report WorldSolve::run() {
  sxt_pcg_report report{};
  report.struct_size = sizeof report;
  start();
  if (begun_.rhs == 0) {
    deferred([&](std::size_t i) { fill(x_[i], i, 0); });  // A x = 0 has the one solution 0
    true_residual();
    report.reason = last_.norm == 0 ? SXT_REASON_CONVERGED : SXT_REASON_BREAKDOWN;
  } else if (begun_.accepted) {
    report.reason = SXT_REASON_CONVERGED;
  }
  if (report.reason == SXT_REASON_NONE) report.reason = pcg_.loop_ ? run_on_devices() : run_by_host();
  conclude(report);
  world_.together("sxt_pcg_solve", 3, [&](Frame &) {
    throw_deferred();
    lanes_.finish();
  });
  report.solve_seconds = clock_.seconds();
  report.iteration_seconds = k_ > 0 ? report.solve_seconds / static_cast<double>(k_) : 0;
  return report;
}

sxt_pcg_report WorldPcg::solve(const std::vector<const void *> &b, const std::vector<void *> &x,
                               const SolveSettings &settings) {
  if (version_ != matrix_->version()) set_up();  // every rank's values changed together
  const double product = matrix_->product_seconds(), exchange = matrix_->exchange_seconds(),
               waited = matrix_->world().comm().waited();
  if (loop_) loop_->clear_times();
  sxt_pcg_report report = WorldSolve(*this, b, x, settings).run();
  product_s_ = matrix_->product_seconds() - product;
  exchange_s_ = matrix_->exchange_seconds() - exchange;
  waiting_s_ = matrix_->world().comm().waited() - waited;
  report.setup_seconds = setup_s_;
  return report;
}

}  // namespace sextant
