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
#include "sextant/sdk/rendezvous.hpp"

namespace sextant {

using namespace confirming;

static constexpr const char *solve_call = "sxt_pcg_solve";

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

void WorldSolve::own_dots(std::size_t i, std::array<double, Frame::most_values> &sums) {
  const void *const r = part(i).r.data(), *const u = preconditioned(i), *const w = part(i).w.data();
  const void *const left[] = {u, r, r}, *const right[] = {w, r, u};  // without a preconditioner two are enough
  const std::int32_t count = pcg_.preconditioned() ? 3 : 2;
  with_value_type(type_, [&](auto tag) {
    std::array<typename decltype(tag)::type, 3> found{};
    Operations::of(world_.context(i)).multidot(type_, matrix_.rows_of(i), count, left, right, found.data());
    for (std::size_t k = 0; k < 3; ++k) sums[k] = static_cast<double>(std::real(found[k]));
  });
}

void WorldSolve::own_scalars(Frame &mine) {
  mine.wish = local_wish();
  matrix_.halo().with_exchange([&] {
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
    const auto product = [&](std::size_t i) { pcg_.multiply_own(i, u[i], w[i]); };
    matrix_.multiply_by(product, nullptr, u, w, lanes_);  // others wait for it, whatever failed
  });
  ++products_;
  throw_deferred();
  each([&](std::size_t i) { own_dots(i, mine.members[i].values); });
}

// One gather an iteration: scalars, failures and wishes.
WorldSolve::Scalars WorldSolve::meet_scalars() {
  const std::vector<Frame> &frames = world_.together(solve_call, 1, [&](Frame &mine) { own_scalars(mine); });
  ++reductions_;
  Scalars all;
  double r_u = 0;
  each_member(frames, [&](const Frame::OfMember &member) {
    all.delta += member.values[0];
    all.squared += member.values[1];
    r_u += member.values[2];
  });
  all.gamma = pcg_.preconditioned() ? r_u : all.squared;
  wished_ = SXT_REASON_NONE;
  for (const Frame &frame : frames)
    if (wished_ == SXT_REASON_NONE) wished_ = frame.wish;
  return all;
}

// ---- true residuals

sxt_residual_norms WorldSolve::residual_of(std::size_t i, const void *x, bool has_ghosts) {
  WorldPcg::Part &own = part(i);
  Device &device = world_.context(i).device();
  const std::int64_t each = value_bytes(type_), rows = matrix_.rows_of(i);
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
WorldSolve::Truth WorldSolve::true_residual_of(const std::vector<void *> &x) {
  const bool norm_2 = pcg_.settings_.norm == SXT_NORM_2;
  const auto hypot = [](double one, double other) {
    return std::isnan(one) || std::isnan(other) ? std::numeric_limits<double>::quiet_NaN() : std::hypot(one, other);
  };
  const auto join = [&](double one, double other) {
    if (norm_2 || std::isnan(one) || std::isnan(other)) return hypot(one, other);
    return std::max(one, other);
  };
  const std::vector<Frame> &frames = world_.together(solve_call, 2, [&](Frame &mine) {
    matrix_.halo().with_exchange([&] {
      const std::vector<const void *> of(x.begin(), x.end());
      matrix_.halo().begin(of, lanes_);
      matrix_.halo().finish(lanes_);
    });
    throw_deferred();
    each([&](std::size_t i) {
      const sxt_residual_norms n = residual_of(i, x[i], part(i).extended.data() != nullptr);
      if (norm_2)
        mine.members[i].values = {n.norm_2, n.bound_2, n.rhs_2, n.rhs_bound_2, n.size_2, n.norm_2};
      else
        mine.members[i].values = {n.norm_max, n.bound_max, n.rhs_max, n.rhs_bound_max, n.size_max, n.norm_2};
    });
  });
  ++confirmations_;
  std::array<double, 6> all{};
  each_member(frames, [&](const Frame::OfMember &member) {
    for (std::size_t k = 0; k < 5; ++k) all[k] = join(all[k], member.values[k]);
    all[5] = hypot(all[5], member.values[5]);
  });
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

void WorldSolve::shift(void *vector, std::size_t i, int by) {
  shift_by(Operations::of(world_.context(i)), type_, matrix_.rows_of(i), vector, by);
}

// The largest magnitude of a number, of real and imaginary parts: finite where all are.
double WorldSolve::most(const void *vector, std::size_t i) {
  const bool complex = type_ == SXT_C64 || type_ == SXT_C128;
  return Operations::of(world_.context(i))
      .reduce_real(SXT_REDUCTION_AMAX, is_single(type_) ? SXT_F32 : SXT_F64, (complex ? 2 : 1) * matrix_.rows_of(i),
                   vector);
}

// The first gather of a solve: that all ask for the same, and how large b and the guess are.
WorldSolve::Sizes WorldSolve::meet_sizes() {
  const double asked[] = {settings_.rtol, settings_.atol, static_cast<double>(settings_.max_iterations),
                          static_cast<double>(settings_.use_initial_guess)};
  const bool norm_2 = pcg_.settings_.norm == SXT_NORM_2;
  const std::vector<Frame> &frames = world_.together(solve_call, fnv1a(asked, sizeof asked), [&](Frame &mine) {
    each([&](std::size_t i) {
      const std::int32_t norm = norm_2 ? SXT_REDUCTION_NRM2 : SXT_REDUCTION_AMAX;
      mine.members[i].values = {Operations::of(world_.context(i)).reduce_real(norm, type_, matrix_.rows_of(i), b_[i]),
                                most(b_[i], i), settings_.use_initial_guess ? most(x_[i], i) : 0};
    });
  });
  Sizes all;
  const auto larger = [](double one, double other) { return one >= other || std::isnan(one) ? one : other; };
  each_member(frames, [&](const Frame::OfMember &member) {
    all.rhs = norm_2 ? std::hypot(all.rhs, member.values[0]) : larger(all.rhs, member.values[0]);
    all.rhs_most = larger(all.rhs_most, member.values[1]);
    all.guess_most = larger(all.guess_most, member.values[2]);
  });
  return all;
}

// As a solver of one context does it: b where its squares would vanish or overflow, in memory of this solve.
void WorldSolve::bring_near(const Sizes &sizes) {
  if (!is_near(type_, sizes.rhs)) shift_ = shift_near(type_, sizes.rhs_most);
  settings_.atol = std::ldexp(settings_.atol, shift_);
  // A guess that leaves the range with b is so far from x that it is dropped.
  const double guess_most = std::ldexp(sizes.guess_most, x_shift());
  if (x_shift() != 0 && guess_most > std::ldexp(1, furthest_exponent(type_))) settings_.use_initial_guess = false;
  world_.together(solve_call, 4, [&](Frame &) {
    save_guess();
    if (shift_ != 0) near_.resize(own());
    each([&](std::size_t i) {
      if (settings_.use_initial_guess)
        shift(x_[i], i, x_shift());
      else
        fill(x_[i], i, 0);
      if (shift_ == 0) return;
      near_[i] =
          DeviceBuffer(world_.context(i).device(), static_cast<std::uint64_t>(matrix_.rows_of(i) * value_bytes(type_)));
      copy(b_[i], near_[i].data(), i);
      shift(near_[i].data(), i, shift_);
      b_[i] = near_[i].data();
    });
  });
}

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
  const Sizes sizes = meet_sizes();
  require(std::isfinite(sizes.rhs_most), SXT_E_NOT_FINITE, "b holds NaN or infinity");
  require(std::isfinite(sizes.guess_most), SXT_E_NOT_FINITE, "x, the initial guess, holds NaN or infinity");
  bring_near(sizes);
  begun_ = true_residual();
  require(std::isfinite(begun_.rhs), SXT_E_NOT_FINITE, "the norm of b leaves the range");
  const bool lost = x_shift() != 0 && !(begun_.norm <= worst_guess * begun_.rhs);
  if (settings_.use_initial_guess && lost) {
    settings_.use_initial_guess = false;
    deferred([&](std::size_t i) { fill(x_[i], i, 0); });
    begun_ = true_residual();
  }
  require(std::isfinite(begun_.norm), SXT_E_NOT_FINITE, "A times the initial guess leaves the range");
  target_ = std::max(settings_.rtol * begun_.rhs, settings_.atol);
  // The recurrence's residual is of the 2-norm; the caller's, of the largest element, may meet the target long before.
  tolerance_ = pcg_.settings_.norm == SXT_NORM_2 ? target_ : early * target_;
  deferred([&](std::size_t i) { copy(part(i).residual.data(), part(i).r.data(), i); });
}

sxt_reason WorldSolve::observe(double residual) {
  residual_ = residual;
  if (!std::isfinite(residual)) return SXT_REASON_NOT_A_NUMBER;
  if (replaced_) return SXT_REASON_NONE;  // the same iterate
  if (settings_.history && k_ < settings_.history_capacity) {
    settings_.history[k_] = callers(residual);
    settings_.publish_length(k_ + 1);
  }
  if (const sxt_reason seen = progress_.judge(k_, residual, pcg_.settings_)) return seen;
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
  if (misses_.hopeless(first, now.norm, before, residual)) return SXT_REASON_STAGNATED;
  tolerance_ = Misses::next_tolerance(now.norm_2, now.norm, target_);
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

// The scalars are those of members that meet on their devices: one piece of code decides for both.
sxt_reason WorldSolve::step(const Scalars &now) {
  found_in_ = k_ + 1;
  plugin::rendezvous::Coefficients next;
  recurrence_.restart = restart_;
  const std::int32_t end = plugin::rendezvous::coefficients(recurrence_, now.delta, now.gamma, is_single(type_), next);
  if (end != SXT_RENDEZVOUS_RUNNING) return reason_of(end);
  deferred([&](std::size_t i) {
    if (next.beta == 0) {  // begun anew: times 0, but finite
      copy(preconditioned(i), part(i).p.data(), i);
      copy(part(i).w.data(), part(i).s.data(), i);
    }
    update(i, next.alpha, next.beta);
  });
  restart_ = false;
  ++k_;
  return SXT_REASON_NONE;
}

// A solve that failed gives back nothing worse than it began with: the guess, or 0.
void WorldSolve::take_back() {
  deferred([&](std::size_t i) {
    if (!settings_.use_initial_guess)
      fill(x_[i], i, 0);
    else if (i < guess_.size() && guess_[i].data())  // else x is still the guess
      copy(guess_[i].data(), x_[i], i);
  });
}

// The answer into the caller's scale, and its residual from what the caller gets: brought back, x may have left the
// range, or digits. What vanished grows the bound, as it does for a solver of one context.
void WorldSolve::hand_over() {
  std::vector<void *> returned(own());
  for (std::size_t i = 0; i < own(); ++i) returned[i] = part(i).p.data();
  deferred([&](std::size_t i) {
    shift(x_[i], i, -x_shift());
    copy(x_[i], returned[i], i);
    shift(returned[i], i, x_shift());
  });
  true_residual_of(returned);
  if (shift_ >= 0 && x_shift() >= 0) return;
  const Vanished lost = vanished(type_, static_cast<double>(pcg_.callers_->given().rows), shift_, pcg_.exponent_ != 0);
  last_.bound += lost.bound;
  last_.rhs_bound += lost.rhs_bound;
  const double atol = atol_after_shift(settings_.atol);
  last_.accepted = proves_converged(last_.norm, last_.bound, last_.rhs, last_.rhs_bound, settings_.rtol, atol);
}

// What is given back, and what is true of it.
void WorldSolve::settle(sxt_pcg_report &report) {
  if (report.reason != SXT_REASON_CONVERGED) true_residual();
  bool good = std::isfinite(last_.norm) && !is_worse_than_start();
  if (good && x_shift() != 0) {
    hand_over();
    good = std::isfinite(last_.norm) && !is_worse_than_start();
  }
  const bool cut_short = report.reason == SXT_REASON_ITERATION_LIMIT || report.reason == SXT_REASON_STAGNATED;
  if (good && last_.accepted && cut_short) report.reason = SXT_REASON_CONVERGED;
  if (!good) {
    take_back();
    last_ = begun_;
  }
  if (report.reason == SXT_REASON_CONVERGED && !last_.accepted) report.reason = SXT_REASON_STAGNATED;
}

void WorldSolve::conclude(sxt_pcg_report &report) {
  report.iterations = found_in_ > k_ ? found_in_ : k_;
  if (begun_.rhs > 0) settle(report);  // of b = 0 the answer is known
  report.rhs_norm = callers(last_.rhs);
  report.residual_norm = callers(last_.norm);
  report.true_relative_residual = last_.rhs > 0 ? last_.norm / last_.rhs : callers(last_.norm);
  report.residual_bound = callers_bound(last_.bound, last_.norm, shift_);
  report.rounding_limit = callers(0.5 * epsilon(type_) * last_.size);
  report.recursive_residual = callers(residual_);
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

// An error leaves no x in another scale than the caller's.
sxt_pcg_report WorldSolve::run() {
  try {
    return solve();
  } catch (...) {
    failure_ = nullptr;
    if (x_shift() != 0) take_back();
    throw;
  }
}

sxt_pcg_report WorldSolve::solve() {
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
  world_.together(solve_call, 3, [&](Frame &) {
    throw_deferred();
    lanes_.finish();
  });
  report.solve_seconds = clock_.seconds();
  report.iteration_seconds = k_ > 0 ? report.solve_seconds / static_cast<double>(k_) : 0;
  return report;
}

sxt_pcg_report WorldPcg::solve(const std::vector<const void *> &b, const std::vector<void *> &x,
                               const SolveSettings &settings) {
  if (version_ != callers_->version()) set_up();  // every rank's values changed together
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
