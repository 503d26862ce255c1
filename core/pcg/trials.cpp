// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/trials.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "core/base/shortage.hpp"
#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/explain/explain.hpp"
#include "core/pcg/estimate.hpp"

namespace sextant {

namespace {

// What trying other preconditioners may cost together, of the predicted total. On a device one that needs no trial is
// there.
constexpr double trial_share = 0.2, trial_share_on_device = 0.1;
// What a method may take of what all trials have left, where it has to be followed further.
constexpr double share_of_trial = 0.5;
// Asking engines about one more method, on the host.
constexpr double asking_on_host_s = 1e-4;
// The least share of the iterations that a method of which nothing is known may need; one that is known may need this
// share of what it typically needs.
constexpr double optimism = 0.125, better_than_typical = 0.6;
// Of an iteration without a preconditioner: the least that one with it is believed to take beside applying it.
constexpr double same_iteration = 0.9;
// What a method must save while the condition has not settled: the estimate without it is then one from above, by more
// than that with it.
constexpr double unsettled_gain = 0.35;

constexpr double never = HUGE_VAL;

// Of the iterations so far, the least that a method may need.
double least_share(const PreconditionerMethod &method) {
  return method.typical_iterations > 0 ? better_than_typical * method.typical_iterations : optimism;
}

}  // namespace

struct Trials::Race {
  Outlook base;        // with what is in force
  double iteration_s;  // of one of its iterations
  bool known;          // false: its iterations are no estimate, and decide nothing
  double best_s;       // what is to be beaten
  double budget_s;     // what trials may take together
  std::optional<Found> best;

  void take(const PreconditionerMethod &method, const Offer &offer) {
    if (offer.total_s >= best_s) return;
    best = {method, offer.expected, offer.total_s};
    best_s = offer.total_s;
  }
  Expectation expected(double share) const { return base.expected.with(share * base.expected.iterations); }
};

// Those with the least total as far as is known without a trial come first: what they show spares others theirs.
std::vector<PreconditionerMethod> Trials::by_promise(const std::vector<PreconditionerMethod> &methods,
                                                     const Race &race) {
  const double times = problem_.solves() * race.base.expected.iterations;
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    double total_s = never;
    if (methods[i].typical_iterations > 0 && !methods[i].scales && !methods[i].reference) try {
        const ChoicePtr choice = chooser_.preconditioner(system_, methods[i].name, race.base.expected);
        total_s = choice->setup_s + choice->storage_s +
                  times * methods[i].typical_iterations * (same_iteration * race.iteration_s + choice->run_s);
      } catch (const Error &problem) {  // the trial tells why
        if (says_nothing(problem)) throw;
      }
    order.emplace_back(total_s, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<PreconditionerMethod> sorted;
  for (const auto &[total_s, i] : order) sorted.push_back(methods[i]);
  return sorted;
}

// Whether another preconditioner has a lower total. What a polynomial does is known without a trial. The effect of
// others is not, so those that could pay at best are set up and tried for a few iterations.
Trials::Result Trials::run(const Choice &engine, const Outlook &outlook) {
  const bool on_host = problem_.on_host();
  // Of matrices with a null space nothing is known.
  const bool free = !on_host && problem_.chooses_freely() && problem_.null_space.empty();
  const double solves = problem_.settings.expected_solves;
  const double total_s = total_of(engine, solves) - engine.features_s;  // those are known by now
  const double gain = outlook.tells ? least_gain : unsettled_gain;
  Race race{.base = outlook,
            .iteration_s = engine.run_s / outlook.expected.assumed,
            .known = outlook.tells,
            .best_s = (1 - gain) * total_s,
            .budget_s = (on_host ? trial_share : trial_share_on_device) * total_s,
            .best = {}};
  std::vector<PreconditionerMethod> methods = preconditioner_methods(problem_.context());
  for (const PreconditionerMethod &method : methods)
    if (free && method.polynomial) race.take(method, consider_polynomial(method, race));
  // On a device a probe is short.
  if (!race.best && !on_host && !outlook.settled) race.best_s = (1 - unsettled_gain) * total_s;
  const double least_s = on_host ? 0 : static_cast<double>(least_steps) * probe_.step_seconds(nullptr);
  if (on_host && total_s >= worth_looking_s) methods = by_promise(methods, race);
  for (const PreconditionerMethod &method : methods) {
    if (method.scales || method.reference || (free && method.polynomial)) continue;
    if (total_s < worth_looking_s || race.budget_s < least_s) break;
    const Offer offer = consider(method, race);
    race.take(method, offer);
  }
  return {race.best, race.base};
}

Trials::Offer Trials::left_out(const PreconditionerMethod &method, const std::string &why) {
  notes_.push_back("preconditioner " + method.name + " left out: " + why);
  return {never, {}};
}

// The predicted total with a polynomial, of which iterations are known without a trial.
Trials::Offer Trials::consider_polynomial(const PreconditionerMethod &method, const Race &race) {
  const Expectation expected = race.expected(method.typical_iterations);
  const auto out = [&](double seconds) {
    return left_out(method, text("about ", static_cast<std::int64_t>(expected.iterations), " iterations, at least ",
                                 seconds_text(seconds), " in all"));
  };
  try {
    const double times = problem_.solves() * expected.assumed, iteration_s = least_iteration_s(problem_);
    // First what is known without asking any kernel.
    if (const double least_s = times * iteration_s; least_s >= race.best_s) return out(least_s);
    const ChoicePtr choice = chooser_.preconditioner(system_, method.name, expected);
    const double least_s =
        choice->setup_s + choice->storage_s + asking_with_m_s + times * (iteration_s + choice->run_s);
    if (least_s >= race.best_s) return out(least_s);
    const ChoicePtr engine = chooser_.engine(system_, method.name, expected, choice->run_s);
    const double total_s = total_of(*engine, problem_.settings.expected_solves);
    return total_s < race.best_s ? Offer{total_s, expected} : out(total_s);
  } catch (const Error &problem) {
    if (says_nothing(problem)) throw;
    return left_out(method, problem.what());
  }
}

// What a method that was tried shows of the iterations without it, where those were unknown: the share that it
// typically takes. What was taken on a guess before is dropped.
void Trials::infer_base(Race &race, const PreconditionerMethod &method, const Ritz &ritz, double iterations) {
  if (race.known || !(method.typical_iterations > 0)) return;
  // And at least the share of the steps to the residual at which the probe ended.
  const auto sooner = static_cast<double>(std::max<std::int64_t>(1, ritz.reached(race.base.residual)));
  race.base.expected = race.base.expected.with(
      std::max(iterations / method.typical_iterations, iterations * static_cast<double>(race.base.steps) / sooner));
  race.known = true;
  race.best.reset();
  const ChoicePtr engine = chooser_.engine(system_, system_.method(), race.base.expected);
  race.best_s = (1 - least_gain) * total_of(*engine, problem_.settings.expected_solves);
  race.base.from += text("; ", method.name, " takes about ", static_cast<std::int64_t>(iterations));
}

Trials::Offer Trials::consider(const PreconditionerMethod &method, Race &race) {
  for (;;) try {
      return try_out(method, race);
    } catch (const Declined &declined) {  // another kernel may offer the same method
      if (!chooser_.leave_out(declined)) return left_out(method, declined.what());
      system_.answers.clear();
    } catch (const Error &problem) {
      if (says_nothing(problem)) throw;
      return left_out(method, problem.what());
    }
}

// Why a preconditioner is not worth a probe; "": it may have so many steps.
std::string Trials::why_not_tried(const Choice &choice, const PreconditionerMethod &method, Race &race,
                                  std::int64_t &steps) {
  const bool on_host = problem_.on_host();
  const double share = least_share(method);
  const auto too_slow = [&](const char *how, double seconds) {
    const double solves = problem_.solves();
    return text("even with ", about(share), " of the iterations it would take ", how, seconds_text(seconds),
                solves > 1 ? text(" for all ", solves, " solves") : "");
  };
  const Expectation expected = race.expected(share);
  const double setup_s = choice.setup_s + choice.storage_s;
  // An iteration is hardly cheaper for having to apply it as well; on a device only engines whose steps are other
  // kernels do. They are asked, which takes its time, only about those that this leaves.
  const double alone_s = std::max(same_iteration * race.iteration_s, on_host ? 0 : least_iteration_s(problem_));
  const double asking_s = on_host ? 0 : asking_with_m_s;
  const double least_s = setup_s + asking_s + problem_.solves() * expected.iterations * (alone_s + choice.run_s);
  if (least_s >= race.best_s) return too_slow("at least ", least_s);
  if (setup_s > race.budget_s)
    return text("to try it would cost ", seconds_text(setup_s), ", and trials may take ", seconds_text(race.budget_s));
  const double step_s = probe_.step_seconds(&choice);
  steps = static_cast<std::int64_t>(std::clamp<double>((race.budget_s - setup_s) / step_s, 0, most_steps));
  if (steps < least_steps)
    return text(least_steps, " iterations with it would cost ", seconds_text(least_steps * step_s),
                ", and trials may take ", seconds_text(race.budget_s - setup_s));
  race.budget_s -= on_host ? asking_on_host_s : asking_with_m_s;
  const ChoicePtr engine = chooser_.engine(system_, method.name, expected, choice.run_s);
  const double at_best_s = total_of(*engine, problem_.settings.expected_solves);
  return at_best_s >= race.best_s ? too_slow("", at_best_s) : "";
}

// left_s: what the trials had left before engines were asked.
ProbeOutcome Trials::probe_with(const Choice &choice, Runner &preconditioner, std::int64_t steps, double left_s,
                                Race &race) {
  const double step_s = probe_.step_seconds(&choice), tolerance = problem_.tolerance();
  ProbeOutcome outcome = probe_.run(&preconditioner, std::min(steps, race.base.steps), tolerance);
  if (problem_.on_host()) lengthen(probe_, &preconditioner, tolerance, step_s, share_of_trial * left_s, outcome);
  race.budget_s -= choice.setup_s + choice.storage_s + static_cast<double>(outcome.ritz.steps()) * step_s;
  race.base.seconds += outcome.seconds;
  return outcome;
}

// The predicted total with this preconditioner, infinite where it does not apply or is not worth trying, with the
// reason in a note.
Trials::Offer Trials::try_out(const PreconditionerMethod &method, Race &race) {
  const ChoicePtr choice = chooser_.preconditioner(system_, method.name, race.expected(least_share(method)));
  const double left_s = race.budget_s - (choice->setup_s + choice->storage_s);
  std::int64_t steps = 0;
  if (const std::string why = why_not_tried(*choice, method, race, steps); !why.empty()) return left_out(method, why);
  costs_.count(*choice);
  Runner preconditioner(problem_.context(), choice, &problem_.matrix());
  const ProbeOutcome outcome = probe_with(*choice, preconditioner, steps, left_s, race);
  if (!outcome.defect.empty()) return left_out(method, "in its probe " + outcome.defect);
  const double iterations = outcome.ritz.iterations(problem_.tolerance(), race.base.expected.iterations);
  const bool tells = !problem_.on_host() || outcome.ritz.tells(problem_.tolerance());
  if (!tells && (race.known || !(method.typical_iterations > 0)))
    return left_out(method, text("its residual does not fall in ", outcome.ritz.steps(), " iterations"));
  if (tells) infer_base(race, method, outcome.ritz, iterations);
  const Expectation expected = tells ? race.base.expected.with(iterations) : race.expected(method.typical_iterations);
  const ChoicePtr engine = chooser_.engine(system_, method.name, expected, choice->run_s);
  const double total_s = total_of(*engine, problem_.settings.expected_solves);
  if (total_s < race.best_s) return {total_s, expected};
  return left_out(method, text("about ", static_cast<std::int64_t>(expected.iterations), " iterations, ",
                               seconds_text(total_s), " in all"));
}

}  // namespace sextant
