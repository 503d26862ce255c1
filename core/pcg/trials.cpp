// SPDX-License-Identifier: BSD-3-Clause
// Trials of other preconditioners than the one in force: those that could have a lower predicted total of set-up and
// solves are probed, the most promising first, within a share of that total.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "core/base/error.hpp"
#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/choose/make_choice.hpp"
#include "core/pcg/clock.hpp"
#include "core/pcg/planning.hpp"
#include "core/pcg/probe.hpp"
#include "core/pcg/solver.hpp"

namespace sextant {

namespace {

// What trying other preconditioners may cost together, of the predicted total. On a device one that needs no trial is
// there.
constexpr double trial_share = 0.2, trial_share_on_device = 0.1;
// Iterations of a trial at most, and what a method may take of what all trials have left, where it has to be followed
// further.
constexpr std::int64_t most_steps_of_trial = 2000;
constexpr double share_of_trial = 0.5;
// Asking engines about one more method, on the host.
constexpr double asking_on_host_s = 1e-4;
// The least share of the iterations that a method of which nothing is known may need; one that is known may need this
// share of what it typically needs.
constexpr double optimism = 0.125, better_than_typical = 0.6;
// Of an iteration without a preconditioner: the least that one with it is believed to take beside applying it.
constexpr double same_iteration = 0.9;
// A preconditioner that is no scaling must save this share: what it costs is certain, what it saves is estimated.
constexpr double least_gain = 0.1;
// The same while the condition has not settled: the estimate without it is then one from above, by more than that with
// it.
constexpr double unsettled_gain = 0.35;

}  // namespace

// What trials of other preconditioners share. Their cost is counted as it is predicted: what a clock says differs from
// run to run, and the choice would with it.
struct PcgSolver::Trials {
  double base_iterations, iteration_s;  // with what is in force, and of one of them
  bool base_known;                      // false: base_iterations is no estimate, and decides nothing
  double best_s, best_iterations;       // what is to be beaten
  double budget_s;                      // what trials may take together
  PreconditionerMethod best{};

  void take(const PreconditionerMethod &method, double found_s, double iterations) {
    if (found_s >= best_s) return;
    best = method;
    best_s = found_s;
    best_iterations = iterations;
  }
};

// Goes on with a probe whose residual has not begun to fall, each time as far again, within the predicted seconds.
void PcgSolver::lengthen(Probe &probe, Runner *preconditioner, double step_s, double allowed_s,
                         ProbeOutcome &outcome) const {
  const double tolerance = tolerance_of(settings_);
  const double affordable = std::clamp<double>(allowed_s / step_s, 0, static_cast<double>(most_steps_of_trial));
  while (outcome.defect.empty() && !outcome.ritz.tells(tolerance)) {
    const std::int64_t steps = outcome.ritz.steps();
    const std::int64_t more = std::min(steps, static_cast<std::int64_t>(affordable) - steps);
    if (steps < least_steps || 2 * more < steps) return;
    probe.go_on(preconditioner, more, tolerance, outcome);
    if (outcome.ritz.steps() < steps + more) return;  // it has ended
  }
}

// Those with the least total as far as is known without a trial come first: what they show spares others theirs.
std::vector<PreconditionerMethod> PcgSolver::by_promise(std::vector<PreconditionerMethod> methods, double iterations,
                                                        double iteration_s) {
  const double times = std::max(1.0, settings_.expected_solves) * iterations;
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    double total_s = HUGE_VAL;
    if (methods[i].typical_iterations > 0 && !methods[i].scales && !methods[i].reference) try {
        const ChoicePtr choice = select_preconditioner(methods[i].name);
        total_s = choice->setup_s + choice->storage_s +
                  times * methods[i].typical_iterations * (same_iteration * iteration_s + choice->run_s);
      } catch (const Error &problem) {  // the trial tells why
        if (problem.status() == SXT_E_MEMORY || problem.status() == SXT_E_DEVICE) throw;
      }
    order.emplace_back(total_s, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<PreconditionerMethod> sorted;
  for (const auto &[total_s, i] : order) sorted.push_back(methods[i]);
  return sorted;
}

// Whether another preconditioner has a lower total. What a polynomial does is known; of others only with one that is
// asked of no one is the effect known, so those that could pay at best are set up and tried for a few iterations.
void PcgSolver::consider_others(Probe &probe, const Choice &engine) {
  const bool on_host = matrix_->context().device().on_host();
  // Of matrices with a null space nothing is known.
  const bool free = !on_host && chooses_freely() && null_space_.empty();
  const double total_s = total_of(engine, settings_.expected_solves) - engine.features_s;  // those are known by now
  const double gain = estimate_tells_ ? least_gain : unsettled_gain;
  Trials trials{.base_iterations = expected_iterations_,
                .iteration_s = engine.run_s / assumed_iterations_,
                .base_known = estimate_tells_,
                .best_s = (1 - gain) * total_s,
                .best_iterations = expected_iterations_,
                .budget_s = (on_host ? trial_share : trial_share_on_device) * total_s};
  std::vector<PreconditionerMethod> methods = preconditioner_methods(matrix_->context());
  for (const PreconditionerMethod &method : methods)
    if (free && method.polynomial) {
      const double found_s = consider_polynomial(method, trials.base_iterations, trials.best_s);
      trials.take(method, found_s, expected_iterations_);
    }
  // On a device a probe is short.
  if (trials.best.name.empty() && !on_host && !estimate_settled_) trials.best_s = (1 - unsettled_gain) * total_s;
  const double least_s = on_host ? 0 : static_cast<double>(least_steps) * probe.step_seconds(nullptr);
  if (on_host && total_s >= worth_looking_s)
    methods = by_promise(std::move(methods), trials.base_iterations, trials.iteration_s);
  for (const PreconditionerMethod &method : methods) {
    if (method.scales || method.reference || (free && method.polynomial)) continue;
    if (total_s < worth_looking_s || trials.budget_s < least_s) break;
    expect(trials.base_iterations);
    const double found_s = consider(probe, method, trials);
    trials.take(method, found_s, expected_iterations_);
  }
  expect(trials.best_iterations);
  if (!trials.best.name.empty() && !adopt(trials.best, trials.best_s)) expect(trials.base_iterations);
}

// Puts another preconditioner into force. One that was not tried may turn out not to suit the matrix: then false.
bool PcgSolver::adopt(const PreconditionerMethod &method, double total_s) {
  if (method.polynomial) try {
      engine_ = std::make_unique<Runner>(matrix_->context(), select_engine(method.name), base_.get());
    } catch (const Error &problem) {
      if (problem.status() == SXT_E_DEVICE) throw;
      notes_.push_back("preconditioner " + method.name + " left out: " + problem.what());
      return false;
    }
  // Nothing is scaled any more.
  scaling_ = nullptr;
  system_ = base_;
  preconditioner_.reset();
  method_ = method.name;
  preconditioner_choice_ = select_preconditioner(method_);
  notes_.push_back(text("preconditioner ", method_, " instead: predicted ", seconds_text(total_s), " in all, about ",
                        static_cast<std::int64_t>(expected_iterations_), " iterations"));
  return true;
}

// The predicted total with a polynomial, of which iterations are known without a trial; as below.
double PcgSolver::consider_polynomial(const PreconditionerMethod &method, double base_iterations, double best_s) {
  const auto out = [&](double seconds) {
    notes_.push_back(text("preconditioner ", method.name, " left out: about ",
                          static_cast<std::int64_t>(expected_iterations_), " iterations, at least ",
                          seconds_text(seconds), " in all"));
    return HUGE_VAL;
  };
  try {
    expect(std::max(1.0, method.typical_iterations * base_iterations));
    const double times = std::max(1.0, settings_.expected_solves) * assumed_iterations_;
    // First what is known without asking anybody.
    if (const double least_s = times * least_iteration_s(); least_s >= best_s) return out(least_s);
    const ChoicePtr choice = select_preconditioner(method.name);
    const double least_s =
        choice->setup_s + choice->storage_s + asking_with_m_s + times * (least_iteration_s() + choice->run_s);
    if (least_s >= best_s) return out(least_s);
    const double total_s = total_of(*select_engine(method.name, choice->run_s), settings_.expected_solves);
    return total_s < best_s ? total_s : out(total_s);
  } catch (const Error &problem) {
    if (problem.status() == SXT_E_MEMORY || problem.status() == SXT_E_DEVICE) throw;
    notes_.push_back("preconditioner " + method.name + " left out: " + problem.what());
    return HUGE_VAL;
  }
}

// What a method that was tried shows of the iterations without it, where those were unknown: the share that it
// typically takes. What was taken on a guess before is dropped.
void PcgSolver::infer_base(Trials &trials, const PreconditionerMethod &method, const Ritz &ritz, double iterations) {
  if (trials.base_known || !(method.typical_iterations > 0)) return;
  // And at least the share of the steps to the residual at which the probe ended.
  const auto sooner = static_cast<double>(std::max<std::int64_t>(1, ritz.reached(probe_residual_)));
  trials.base_iterations =
      std::max(iterations / method.typical_iterations, iterations * static_cast<double>(probe_steps_) / sooner);
  trials.base_known = true;
  trials.best = {};
  trials.best_iterations = trials.base_iterations;
  expect(trials.base_iterations);
  trials.best_s = (1 - least_gain) * total_of(*select_engine(method_), settings_.expected_solves);
  expected_from_ += text("; ", method.name, " takes about ", static_cast<std::int64_t>(iterations));
}

// The predicted total with this preconditioner, infinite where it does not apply or is not worth trying, with the
// reason in a note; leaves what it is expected to take in expected_iterations_.
double PcgSolver::consider(Probe &probe, const PreconditionerMethod &method, Trials &trials) {
  constexpr double never = HUGE_VAL;
  const auto out = [&](const std::string &why) {
    notes_.push_back("preconditioner " + method.name + " left out: " + why);
    return never;
  };
  try {
    const double solves = settings_.expected_solves;
    const double share = method.typical_iterations > 0 ? better_than_typical * method.typical_iterations : optimism;
    const auto too_slow = [&](const char *how, double seconds) {
      return out(text("even with ", about(share), " of the iterations it would take ", how, seconds_text(seconds)));
    };
    expect(share * trials.base_iterations);
    const ChoicePtr choice = select_preconditioner(method.name);
    const double setup_s = choice->setup_s + choice->storage_s;
    // An iteration is hardly cheaper for having to apply it as well; on a device only engines whose steps are other
    // kernels do. They are asked, which takes its time, only about those that this leaves.
    const bool on_host = matrix_->context().device().on_host();
    const double alone_s = std::max(same_iteration * trials.iteration_s, on_host ? 0 : least_iteration_s());
    const double asking_s = on_host ? 0 : asking_with_m_s;
    const double least_s =
        setup_s + asking_s + std::max(1.0, solves) * expected_iterations_ * (alone_s + choice->run_s);
    if (least_s >= trials.best_s) return too_slow("at least ", least_s);
    if (setup_s > trials.budget_s) return out("to try it would cost " + seconds_text(setup_s));
    const double step_s = probe.step_seconds(choice.get());
    const double left_s = trials.budget_s - setup_s;
    const auto steps = static_cast<std::int64_t>(std::clamp<double>(left_s / step_s, 0, most_steps));
    if (steps < least_steps)
      return out(text(least_steps, " iterations with it would cost ", seconds_text(least_steps * step_s)));
    trials.budget_s -= on_host ? asking_on_host_s : asking_with_m_s;
    const double at_best_s = total_of(*select_engine(method.name, choice->run_s), solves);
    if (at_best_s >= trials.best_s) return too_slow("", at_best_s);
    count_setup(*choice);
    Runner preconditioner(matrix_->context(), choice, matrix_.get());
    const double tolerance = tolerance_of(settings_);
    ProbeOutcome outcome = probe.run(&preconditioner, std::min(steps, probe_steps_), tolerance);
    if (on_host) lengthen(probe, &preconditioner, step_s, share_of_trial * left_s, outcome);
    trials.budget_s -= setup_s + static_cast<double>(outcome.ritz.steps()) * step_s;
    probe_seconds_ += outcome.seconds;
    if (!outcome.defect.empty()) return out("in its probe " + outcome.defect);
    const double iterations = outcome.ritz.iterations(tolerance, trials.base_iterations);
    const bool tells = !on_host || outcome.ritz.tells(tolerance);
    if (!tells && (trials.base_known || !(method.typical_iterations > 0)))
      return out(text("its residual does not fall in ", outcome.ritz.steps(), " iterations"));
    if (tells) infer_base(trials, method, outcome.ritz, iterations);
    expect(tells ? iterations : method.typical_iterations * trials.base_iterations);
    const double total_s = total_of(*select_engine(method.name, choice->run_s), solves);
    if (total_s >= trials.best_s)
      return out(text("about ", static_cast<std::int64_t>(expected_iterations_), " iterations, ", seconds_text(total_s),
                      " in all"));
    return total_s;
  } catch (const Declined &declined) {  // another kernel may offer the same method
    if (!left_out_.try_emplace(&declined.kernel(), declined.what()).second) return out(declined.what());
    selected_.clear();
  } catch (const Error &problem) {
    if (problem.status() == SXT_E_MEMORY || problem.status() == SXT_E_DEVICE) throw;
    return out(problem.what());
  }
  return consider(probe, method, trials);
}

}  // namespace sextant
