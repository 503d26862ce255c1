// SPDX-License-Identifier: BSD-3-Clause
// Planning: how many iterations a solve will take, from a probe where that costs little beside the solves. Which
// preconditioner has the least predicted total of set-up and solves is found in trials.cpp.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "core/base/error.hpp"
#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/choose/make_choice.hpp"
#include "core/pcg/clock.hpp"
#include "core/pcg/knowing.hpp"
#include "core/pcg/planning.hpp"
#include "core/pcg/probe.hpp"
#include "core/pcg/solver.hpp"

namespace sextant {

namespace {

// Of the predicted total: what the probe may cost.
constexpr double probe_share = 0.1;
// What a solve takes scatters about the assumption by a factor of 5.5, and about what a short probe leads to expect by
// 2.4 to 3.2 (docs/measurements/pcg.md). Seconds are lost by the mean, which lies above the middle.
constexpr double mean_over_assumption = 3, mean_over_first_estimate = 2, mean_over_estimate = 1.3;
// Engines that take long to ask are asked where the least of the others could be beaten by so many times what that
// costs.
constexpr double worth_asking = 1.7;
// Solves that take no more than so many probes may do without one. To ask whether they can takes features of the matrix
// that a probe may show to be needless.
constexpr double short_solves = 3;
// In a device's context set-ups take milliseconds in any case: so much is always allowed.
constexpr double probe_on_device_s = 1e-3;
// On the host a residual that has not begun to fall then is followed further, without another preconditioner so far:
// one that helps shows it sooner.
constexpr std::int64_t most_steps_unfallen = 160;
// On a device, where a total is only roughly known before engines are asked, so many at a time.
constexpr std::int64_t steps_a_stage = 10;
// How far iterations may lie from the assumption, either way, in powers of two.
constexpr int octaves_of_assumption = 3;
// Without a probe: what a discretised second-order operator needs.
double guess_iterations(std::int64_t n) { return std::clamp(3 * std::sqrt(static_cast<double>(n)), 20.0, 2000.0); }

std::string from_probe(const Ritz &ritz, bool tells) {
  const std::string condition = "condition at least " + about(ritz.greatest() / ritz.least());
  if (!tells) return text("a guess: |r| did not fall in ", ritz.steps(), " iterations of a probe, ", condition);
  return text("from ", ritz.steps(), " iterations of a probe; |r| fell to ", about(ritz.residual()), " |b|, ",
              condition, ritz.settled() ? "" : " and not yet settled", "; faster where convergence speeds up later");
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
ChoicePtr PcgSolver::select_without_composed(const std::string &method, SelectorOptions options, const Query &question,
                                             double m_s, bool never) {
  if (matrix_->context().device().on_host()) return nullptr;  // there it takes a tenth of that
  const double solves = std::max(1.0, settings_.expected_solves);
  const double at_best_s = solves * assumed_iterations_ * (least_iteration_s() + m_s);
  bool asked = false;
  options.slots_not_spared = m_s > 0 ? 1 : 0;
  options.why_not_composed = [&](double least_total_s) -> std::string {
    asked = !(least_total_s - at_best_s < worth_asking * asking_composed_s);
    return asked && !never ? ""
                           : text("not asked, which would take about ", seconds_text(asking_composed_s),
                                  ": the best of the others takes ", seconds_text(least_total_s), ", it at least ",
                                  seconds_text(at_best_s));
  };
  Selector selector = engine_selector(method, std::move(options));
  try {
    ChoicePtr choice = selector.propose({question, "pcg"});
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
  const ChoicePtr choice =
      select_without_composed(method_, {.builds = false, .most_features_s = cost_s}, question, 0, true);
  if (!choice || choice->held_back) return true;
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

}  // namespace sextant
