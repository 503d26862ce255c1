// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/explain/explain.hpp"
#include "core/pcg/knowing.hpp"

namespace sextant {

namespace {

// Of the predicted total: what the probe may cost, which bounds by a tenth what a needless one loses.
constexpr double probe_share = 0.1;
// Seconds are lost by the mean, which lies above the middle by e^(s^2 / 2) for a scatter by a factor of e^s. Over the
// geometric means of the estimates that docs/pcg.md has that makes 2.1 to 3.3 from ten iterations of a probe and 1.1 to
// 1.6 from 24 and more; 4.3 of the assumption, which is off by a factor of 5.5, if its middle is right.
constexpr double mean_over_assumption = 3, mean_over_first_estimate = 2, mean_over_estimate = 1.3;
// Solves that take no more than so many probes may do without one. To ask whether they can takes features of the matrix
// that a probe may show to be needless.
constexpr double short_solves = 3;
// In a device's context set-ups take milliseconds in any case: so much is always allowed.
constexpr double probe_on_device_s = 1e-3;
// On the host a residual that has not begun to fall then is followed further, without another preconditioner so far:
// one that helps shows it sooner. Twice the steps of a probe.
constexpr std::int64_t most_steps_unfallen = 2 * most_steps;
// On a device, where a total is only roughly known before engines are asked, so many at a time: 18 steps told no more
// than ten (docs/pcg.md), and fewer than half of them are not worth beginning.
constexpr std::int64_t steps_a_stage = 10;
// How far iterations may lie from the assumption, either way, in powers of two: 8 is beyond the scatter of 5.5.
constexpr int octaves_of_assumption = 3;
// Iterations of a probe at most, wherever its residual goes.
constexpr std::int64_t most_steps_of_any = 2000;
// Where the caller sets no limit.
constexpr double limit_of_iterations = 1e9;
// Without a probe: what a discretised second-order operator needs. Its condition grows with the square of the points
// along an edge; in two dimensions, sqrt(n), the iterations to 1e-8 with them, three times as many for a five-point
// Laplacian. Bounded where other problems than that are as likely.
constexpr double assumed_of_root = 3, least_assumed = 20, most_assumed = 2000;

double assumed_iterations(std::int64_t n) {
  return std::clamp(assumed_of_root * std::sqrt(static_cast<double>(n)), least_assumed, most_assumed);
}

std::string from_probe(const Ritz &ritz, bool tells) {
  const std::string condition = "condition at least " + about(ritz.greatest() / ritz.least());
  if (!tells) return text("a guess: |r| did not fall in ", ritz.steps(), " iterations of a probe, ", condition);
  return text("from ", ritz.steps(), " iterations of a probe; |r| fell to ", about(ritz.residual()), " |b|, ",
              condition, ritz.settled() ? "" : " and not yet settled", "; faster where convergence speeds up later");
}

}  // namespace

Outlook first_outlook(const PcgProblem &problem) {
  const double stated = problem.settings.expected_iterations;
  Outlook out;
  out.expected.stated = stated > 0;
  out.expected.mean_over = stated > 0 || problem.on_host() ? 1 : mean_over_assumption;
  out.expected = out.expected.with(stated > 0 ? stated : assumed_iterations(problem.matrix().rows()));
  out.from = stated > 0 ? "as the caller expects" : "assumed: 3 sqrt(n), within 20 to 2000";
  return out;
}

void lengthen(Probe &probe, Runner *preconditioner, double tolerance, double step_s, double allowed_s,
              ProbeOutcome &outcome) {
  const double affordable = std::clamp<double>(allowed_s / step_s, 0, static_cast<double>(most_steps_of_any));
  while (outcome.defect.empty() && !outcome.ritz.tells(tolerance)) {
    const std::int64_t steps = outcome.ritz.steps();
    const std::int64_t more = std::min(steps, static_cast<std::int64_t>(affordable) - steps);
    if (steps < least_steps || 2 * more < steps) return;
    probe.go_on(preconditioner, more, tolerance, outcome);
    if (outcome.ritz.steps() < steps + more) return;  // it has ended
  }
}

struct Estimator::Probing {
  Probe &probe;
  EngineSystem &system;
  Runner *preconditioner;
  double total_s;  // predicted seconds of all solves
  double assumed;  // iterations that it was predicted for
  double step_s;   // of an iteration of the probe
};

// Whether a probe can save what it costs; "": it may. On a device, where that is a large part of a short solve; engines
// are then asked for what is assumed, and only for more should they be asked again.
std::string Estimator::why_not_worth_probing(EngineSystem &system, const Expectation &expected, double probe_s) {
  if (!problem_.chooses_freely() || problem_.settings.probe > 0 || problem_.on_host()) return "";
  return rough_total_s(problem_, expected) > short_solves * probe_s ? ""
                                                                    : why_not_worth_knowing(system, expected, probe_s);
}

// Whether to know the iterations better than by what is expected now can save so much: asking may cost no more itself.
std::string Estimator::why_not_worth_knowing(EngineSystem &system, const Expectation &expected, double cost_s) {
  const ChoicePtr choice = chooser_.engine_within(system, expected, cost_s);
  if (!choice || total_of(*choice, problem_.settings.expected_solves) > worth_looking_s) return "";
  const double gain_s = value_of_knowing(choice->considered, expected.assumed, expected.iterations, problem_.solves(),
                                         octaves_of_assumption);
  if (!(gain_s <= cost_s)) return "";
  return text("; a probe would cost ", seconds_text(cost_s), ", and knowing the iterations would gain ",
              seconds_text(gain_s), " on average");
}

// How many iterations more a probe on a device may take, where a tenth of what the solves are now expected to take pays
// for them. In a short solve there are none: as many as it could pay for would tell no more than the first.
std::int64_t Estimator::more_steps(const Probing &of, const Ritz &ritz, const Expectation &scattering) {
  const std::int64_t steps = ritz.steps();
  const double estimate = iterations(ritz, of.assumed);
  const double allowed_s = std::max(probe_on_device_s, probe_share * of.total_s * estimate / of.assumed);
  const double left_s = allowed_s - of.probe.start_seconds() - static_cast<double>(steps) * of.step_s;
  const auto more = std::min({steps_a_stage, most_steps - steps, static_cast<std::int64_t>(left_s / of.step_s)});
  if (2 * more < steps_a_stage) return 0;
  const Expectation expected = scattering.with(estimate);
  if (!(rough_total_s(problem_, expected) > worth_looking_s)) return 0;
  if (!problem_.chooses_freely()) return more;
  // Who then solves it may take far less.
  const ChoicePtr engine = chooser_.engine(of.system, of.system.method(), expected);
  return total_of(*engine, problem_.settings.expected_solves) > worth_looking_s ? more : 0;
}

double Estimator::iterations(const Ritz &ritz, double assumed) const {
  const auto most = static_cast<double>(problem_.settings.max_iterations);
  return std::min(most > 0 ? most : limit_of_iterations, ritz.iterations(problem_.tolerance(), assumed));
}

// On a device: as long as more tells more. Returns how expectations scatter about what it has found.
Expectation Estimator::run_by_stages(const Probing &of, std::int64_t steps, const Expectation &first,
                                     ProbeOutcome &outcome) {
  Expectation scattering = first;
  while (outcome.defect.empty() && outcome.ritz.steps() == steps) {  // fewer: it has converged
    const std::int64_t more = more_steps(of, outcome.ritz, scattering);
    if (more < 1) break;
    of.probe.go_on(of.preconditioner, more, problem_.tolerance(), outcome);
    steps += more;
    scattering = scattering.scattering(mean_over_estimate, scattering.iterations);
  }
  return scattering;
}

Estimator::Estimate Estimator::estimate(Probe &probe, EngineSystem &system, const Outlook &before, double total_s) {
  Estimate out{before};
  std::unique_ptr<Runner> own;
  if (system.method() != "none" && !system.preconditioner()) {
    if (system.preconditioner_choice()->setup_s > probe_share * total_s) return out;
    own = chooser_.preconditioner_for_probe(system, before.expected);
  }
  Runner *const preconditioner = own ? own.get() : system.preconditioner();
  const double assumed = before.expected.iterations, tolerance = problem_.tolerance();
  const Probing of{probe,   system,  preconditioner,
                   total_s, assumed, probe.step_seconds(preconditioner ? &preconditioner->choice() : nullptr)};
  const bool on_host = problem_.on_host(), asked = problem_.settings.probe > 0;
  const double least_s = on_host ? 0 : probe_on_device_s;
  const double affordable = (std::max(least_s, probe_share * total_s) - probe.start_seconds()) / of.step_s;
  auto steps =
      asked ? problem_.settings.probe : static_cast<std::int64_t>(std::clamp<double>(affordable, 0, most_steps));
  if (!asked && steps < least_steps) {
    out.outlook.from +=
        text("; ", least_steps, " iterations of a probe would cost ",
             seconds_text(least_steps * of.step_s + probe.start_seconds()), " beside ", seconds_text(total_s));
    return out;
  }
  const bool by_stages = !asked && !on_host;
  if (by_stages) {
    steps = std::min(steps, steps_a_stage);
    const double probe_s = probe.start_seconds() + static_cast<double>(steps) * of.step_s;
    if (const std::string why = why_not_worth_probing(system, before.expected, probe_s); !why.empty()) {
      out.outlook.from += why;
      return out;
    }
  }
  Expectation expected = before.expected.scattering(on_host ? 1 : mean_over_first_estimate, assumed);
  ProbeOutcome outcome = probe.run(preconditioner, steps, tolerance);
  if (by_stages) expected = run_by_stages(of, steps, expected, outcome);
  const Ritz &ritz = outcome.ritz;
  out.outlook.tells = !on_host || ritz.tells(tolerance);
  if (!out.outlook.tells && !asked && problem_.settings.preconditioner.empty()) {
    const double allowed_s = probe_share * total_s * std::max(1.0, iterations(ritz, assumed) / assumed);
    const double most_s = static_cast<double>(most_steps_unfallen) * of.step_s;
    lengthen(probe, preconditioner, tolerance, of.step_s, std::min(allowed_s, most_s), outcome);
    out.outlook.tells = ritz.tells(tolerance);
  }
  out.outlook.steps = ritz.steps();
  out.outlook.residual = ritz.least_residual();
  out.outlook.seconds += outcome.seconds;
  if (!outcome.defect.empty()) {
    notes_.push_back("the probe ended early: " + outcome.defect + "; a solve will say more");
    return out;
  }
  const bool converged = ritz.residual() <= tolerance;
  out.outlook.expected = expected.scattering(converged ? 1 : expected.mean_over, iterations(ritz, assumed));
  out.outlook.settled = ritz.settled();
  out.outlook.from = from_probe(ritz, out.outlook.tells);
  out.probed = true;
  return out;
}

}  // namespace sextant
