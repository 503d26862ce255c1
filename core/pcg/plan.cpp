// SPDX-License-Identifier: BSD-3-Clause
// Planning: how many iterations a solve will take, from a probe where that costs little beside the solves, and which
// preconditioner has the least predicted total of set-up and solves.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "core/base/error.hpp"
#include "core/base/types.hpp"
#include "core/dispatch/make_choice.hpp"
#include "core/pcg/clock.hpp"
#include "core/pcg/knowing.hpp"
#include "core/pcg/probe.hpp"
#include "core/pcg/solver.hpp"

namespace sextant {

namespace {

// Of the predicted total: what the probe may cost, and what trying other preconditioners may cost together. On a device
// one that needs no trial is there.
constexpr double probe_share = 0.1, trial_share = 0.2, trial_share_on_device = 0.1;
// What a solve takes scatters about the assumption by a factor of 5.5, and about what a short probe leads to expect by
// 2.4 to 3.2 (docs/pcg.md). Seconds are lost by the mean, which lies above the middle.
constexpr double mean_over_assumption = 3, mean_over_first_estimate = 2, mean_over_estimate = 1.3;
// Engines that take long to ask are asked where the least of the others could be beaten by so many times what that
// costs.
constexpr double worth_asking = 1.7;
// Solves that take no more than so many probes may do without one. To ask whether they can takes features of the matrix
// that a probe may show to be needless.
constexpr double short_solves = 3;
// In a device's context set-ups take milliseconds in any case: so much is always allowed.
constexpr double probe_on_device_s = 1e-3;
// Fewer iterations tell nothing; after more, residuals of most matrices have shown their rate.
constexpr std::int64_t least_steps = 10, most_steps = 80;
// On the host a residual that has not begun to fall then is followed further, without another preconditioner so far:
// one that helps shows it sooner.
constexpr std::int64_t most_steps_unfallen = 160, most_steps_of_trial = 2000;
// What a method may take of what all trials have left, where it has to be followed further.
constexpr double share_of_trial = 0.5;
// Asking engines about one more method, on the host.
constexpr double asking_on_host_s = 1e-4;
// On a device, where a total is only roughly known before engines are asked, so many at a time.
constexpr std::int64_t steps_a_stage = 10;
// How far iterations may lie from the assumption, either way, in powers of two.
constexpr int octaves_of_assumption = 3;
// Below this predicted total not even looking at another preconditioner would pay.
constexpr double worth_looking_s = 5e-3;
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

// Without a probe: what a discretised second-order operator needs.
double guess_iterations(std::int64_t n) { return std::clamp(3 * std::sqrt(static_cast<double>(n)), 20.0, 2000.0); }

// Two digits: more would claim to be known.
std::string about(double value) {
  char out[32];
  std::snprintf(out, sizeof out, "%.2g", value);
  return out;
}

std::string from_probe(const Ritz &ritz, bool tells) {
  const std::string condition = "condition at least " + about(ritz.greatest() / ritz.least());
  if (!tells) return text("a guess: |r| did not fall in ", ritz.steps(), " iterations of a probe, ", condition);
  return text("from ", ritz.steps(), " iterations of a probe; |r| fell to ", about(ritz.residual()), " |b|, ",
              condition, ritz.settled() ? "" : " and not yet settled", "; faster where convergence speeds up later");
}

double tolerance_of(const PcgSettings &settings) { return settings.rtol > 0 ? settings.rtol : 1e-8; }

double total_of(const Choice &engine, double solves) {
  return engine.setup_s + engine.storage_s + std::max(1.0, solves) * engine.run_s;
}

}  // namespace

// Choices are made for a number on a grid of powers of the square root of two: a plan that was saved then still fits
// when rounding, or other values on the same pattern, change the estimate a little.
void PcgSolver::expect(double iterations) {
  expected_iterations_ = std::max(1.0, iterations);
  const bool stated = settings_.expected_iterations > 0;
  const double mean = mean_over_expected_ * expected_iterations_;
  assumed_iterations_ = stated ? mean : std::round(std::exp2(std::round(2 * std::log2(mean)) / 2));
}

bool PcgSolver::probes() const {
  return settings_.probe >= 0 && settings_.expected_iterations <= 0 && matrix_->rows() > 1;
}

// Of an engine on a device whose steps are other kernels, at best: four kernels that half overlap, half of the matrix
// without its pattern, and eight passes over vectors.
double PcgSolver::least_iteration_s() const {
  const sxt_machine &machine = matrix_->context().machine();
  const auto value = static_cast<double>(value_bytes(matrix_->value_type()));
  const double vector = static_cast<double>(matrix_->rows()) * value,
               half = static_cast<double>(matrix_->csr().nnz) / 2 * value;
  const bool cached = 5 * vector + half <= static_cast<double>(machine.cache_bytes);
  return 2.2 * machine.launch_s +
         (8 * vector + half) / std::max(1.0, cached ? machine.cache_rate : machine.stream_rate);
}

// What all solves together take, before any engine is asked.
double PcgSolver::rough_total_s() const {
  constexpr double above_least = 1.3;
  return std::max(1.0, settings_.expected_solves) * assumed_iterations_ / mean_over_expected_ * above_least *
         least_iteration_s();
}

bool PcgSolver::chooses_freely() const {
  return settings_.engine.empty() && settings_.preconditioner.empty() && storage_wanted().empty();
}

// The engine where asking those that are composed of other kernels would take longer than the best of them could save.
// NULL: they have been, or must be, asked; never: though they would have to be, they were not.
ChoicePtr PcgSolver::select_without_composed(Selector &selector, const Query &question, double m_s, bool never) {
  if (matrix_->context().device().on_host()) return nullptr;  // there it takes a tenth of that
  const double solves = std::max(1.0, settings_.expected_solves);
  const double at_best_s = solves * assumed_iterations_ * (least_iteration_s() + m_s);
  bool asked = false;
  selector.spare_composed(m_s > 0 ? 1 : 0, [&](double least_total_s) -> std::string {
    asked = !(least_total_s - at_best_s < worth_asking * asking_composed_s);
    return asked && !never ? ""
                           : text("not asked, which would take about ", seconds_text(asking_composed_s),
                                  ": the best of the others takes ", seconds_text(least_total_s), ", it at least ",
                                  seconds_text(at_best_s));
  });
  try {
    ChoicePtr choice = selector.propose(question, "pcg");
    if (asked && never) return nullptr;
    selector.record(*choice);
    predicted_setup_s_ += asked ? asking_composed_s : m_s > 0 ? asking_with_m_s : 0;
    return asked || !choice->kernel->has(SXT_KERNEL_REFERENCE) ? choice : nullptr;
  } catch (const Error &problem) {
    if (asked || problem.status() == SXT_E_MEMORY) throw;
    return nullptr;
  }
}

void PcgSolver::plan() {
  build_product();
  if (!plan_as_saved()) {
    plan_preconditioner();
    consider_order();
    consider_narrow();
  }
  save_plan();
}

void PcgSolver::plan_preconditioner() {
  const bool stated = settings_.expected_iterations > 0, on_host = matrix_->context().device().on_host();
  mean_over_expected_ = stated || on_host ? 1 : mean_over_assumption;
  expect(stated ? settings_.expected_iterations : guess_iterations(matrix_->rows()));
  expected_from_ = stated ? "as the caller expects" : "assumed: 3 sqrt(n), within 20 to 2000";
  choose_preconditioner();
  if (!probes()) return;
  // On a device asking all engines takes longer than the probe; what it finds they are asked about only once.
  const double total_s = on_host ? total_of(*select_engine(method_), settings_.expected_solves) : rough_total_s();
  Probe probe(*matrix_, *product_, scaling_, null_space_);
  if (!probe_base(probe, total_s) || !settings_.preconditioner.empty()) return;
  consider_others(probe, *select_engine(method_));
}

// Whether a probe can save what it costs. On a device, where that is a large part of a short solve; engines are then
// asked for what is assumed, and only for more should they be asked again.
bool PcgSolver::worth_probing(double probe_s) {
  if (!chooses_freely() || settings_.probe > 0 || matrix_->context().device().on_host()) return true;
  return rough_total_s() > short_solves * probe_s || worth_knowing(probe_s);
}

// Whether to know the iterations better than by what is expected now can save so much: asking may cost no more itself.
// The choice is kept.
bool PcgSolver::worth_knowing(double cost_s) {
  const sxt_pcg_query query = engine_query(method_);
  const Query question(&query.m.q);
  // A plan that was made without knowing more has an entry for what is expected now.
  if (matrix_->context().plan().loaded() && !planned("pcg", question)) return true;
  Selector selector = engine_selector(method_);
  selector.build_nothing();
  selector.spend_at_most(cost_s);
  const ChoicePtr choice = select_without_composed(selector, question, 0, true);
  if (!choice || selector.held_back()) return true;
  selected_[{question.hash(), &engine_matrix(method_)}] = choice;
  if (total_of(*choice, settings_.expected_solves) > worth_looking_s) return true;
  const double solves = std::max(1.0, settings_.expected_solves);
  const double gain_s =
      value_of_knowing(choice->considered, assumed_iterations_, expected_iterations_, solves, octaves_of_assumption);
  if (!(gain_s <= cost_s)) return true;
  probe_left_out_ = text("; a probe would cost ", seconds_text(cost_s), ", and to know better save the choice ",
                         seconds_text(gain_s), " in the mean");
  return false;
}

// How many iterations more a probe on a device may take, where a tenth of what the solves are now expected to take pays
// for them. In a short solve there are none: as many as it could pay for would tell no more than the first.
std::int64_t PcgSolver::more_steps(const Probe &probe, const Ritz &ritz, double step_s, double assumed,
                                   double total_s) {
  const std::int64_t steps = ritz.steps();
  const double estimate = estimated(ritz, assumed);
  const double allowed_s = std::max(probe_on_device_s, probe_share * total_s * estimate / assumed);
  const double left_s = allowed_s - probe.start_seconds() - static_cast<double>(steps) * step_s;
  const auto more = std::min({steps_a_stage, most_steps - steps, static_cast<std::int64_t>(left_s / step_s)});
  if (2 * more < steps_a_stage) return 0;
  expect(estimate);
  if (!(rough_total_s() > worth_looking_s)) return 0;
  // Who then solves it may take far less.
  return !chooses_freely() || total_of(*select_engine(method_), settings_.expected_solves) > worth_looking_s ? more : 0;
}

double PcgSolver::estimated(const Ritz &ritz, double assumed) const {
  const double limit = settings_.max_iterations > 0 ? static_cast<double>(settings_.max_iterations) : 1e9;
  return std::min(limit, ritz.iterations(tolerance_of(settings_), assumed));
}

// A preconditioner for a probe whose engine applies it, and has one of its own later.
std::unique_ptr<Runner> PcgSolver::preconditioner_for_probe() {
  count_setup(*preconditioner_choice_);
  const auto choose = [this](const LeftOut &) { return select_preconditioner(method_); };
  return make_choice(matrix_->context(), left_out_, choose, [this](const ChoicePtr &choice) {
    preconditioner_choice_ = choice;
    return std::make_unique<Runner>(matrix_->context(), choice, matrix_.get());
  });
}

// Estimates the iterations with the preconditioner in force. False: there was no probe, for the reason in a note.
bool PcgSolver::probe_base(Probe &probe, double total_s) {
  std::unique_ptr<Runner> own;
  if (method_ != "none" && !preconditioner_) {
    if (preconditioner_choice_->setup_s > probe_share * total_s) return false;
    own = preconditioner_for_probe();
  }
  Runner *const preconditioner = own ? own.get() : preconditioner_.get();
  const double step_s = probe.step_seconds(preconditioner ? &preconditioner->choice() : nullptr);
  const bool on_host = matrix_->context().device().on_host(), asked = settings_.probe > 0;
  const double least_s = on_host ? 0 : probe_on_device_s;
  const double affordable = (std::max(least_s, probe_share * total_s) - probe.start_seconds()) / step_s;
  auto steps = asked ? settings_.probe : static_cast<std::int64_t>(std::clamp<double>(affordable, 0, most_steps));
  if (!asked && steps < least_steps) {
    expected_from_ +=
        text("; ", least_steps, " iterations of a probe would cost ",
             seconds_text(least_steps * step_s + probe.start_seconds()), " beside ", seconds_text(total_s));
    return false;
  }
  const bool by_stages = !asked && !on_host;
  if (by_stages) {
    steps = std::min(steps, steps_a_stage);
    if (!worth_probing(probe.start_seconds() + static_cast<double>(steps) * step_s)) {
      expected_from_ += probe_left_out_;
      return false;
    }
  }
  const double assumed = expected_iterations_, tolerance = tolerance_of(settings_), mean_before = mean_over_expected_;
  mean_over_expected_ = on_host ? 1 : mean_over_first_estimate;
  ProbeOutcome outcome = probe.run(preconditioner, steps, tolerance);
  const Ritz &ritz = outcome.ritz;
  while (by_stages && outcome.defect.empty() && ritz.steps() == steps) {  // fewer: it has converged
    const std::int64_t more = more_steps(probe, ritz, step_s, assumed, total_s);
    if (more < 1) break;
    probe.go_on(preconditioner, more, tolerance, outcome);
    steps += more;
    mean_over_expected_ = mean_over_estimate;
  }
  estimate_tells_ = !on_host || ritz.tells(tolerance);
  if (!estimate_tells_ && !asked && settings_.preconditioner.empty()) {
    const double allowed_s = probe_share * total_s * std::max(1.0, estimated(ritz, assumed) / assumed);
    const double most_s = static_cast<double>(most_steps_unfallen) * step_s;
    lengthen(probe, preconditioner, step_s, std::min(allowed_s, most_s), outcome);
    estimate_tells_ = ritz.tells(tolerance);
  }
  probe_steps_ = ritz.steps();
  probe_residual_ = ritz.least_residual();
  probe_seconds_ += outcome.seconds;
  if (!outcome.defect.empty()) {
    mean_over_expected_ = mean_before;
    expect(assumed);
    notes_.push_back("the probe ended early: " + outcome.defect + "; a solve will say more");
    return false;
  }
  if (ritz.residual() <= tolerance) mean_over_expected_ = 1;  // it has converged
  expect(estimated(ritz, assumed));
  estimate_settled_ = ritz.settled();
  expected_from_ = from_probe(ritz, estimate_tells_);
  return true;
}

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
