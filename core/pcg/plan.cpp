// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "core/base/shortage.hpp"
#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/explain/explain.hpp"
#include "core/pcg/estimate.hpp"
#include "core/pcg/probe.hpp"
#include "core/pcg/trials.hpp"

namespace sextant {

namespace {

// A preconditioner's set-up, the scaled entries, and two more passes of the host's calls: on a device at least
// (docs/pcg.md).
constexpr double scaling_on_device_s = 2.5e-4;
// Iterations fall by this power of the ratio of the diagonal's entries, as a rule: measured on 22 systems
// (docs/pcg.md).
constexpr double usual_power = 0.2;
// Iterations with a rounded matrix beyond those of the matrix itself, as a factor: each correction begins a new
// sequence.
constexpr double more_iterations = 1.4;
// Rounding one entry on the host, and what comes there of one: its value and its column.
constexpr double round_value_s = 3e-9, entry_bytes = 12;
// Asking every engine once more, on the host.
constexpr double asking_s = 1e-3;
// At best so much of an iteration is saved by values of half the size; asking is worth a fraction of what it could
// save.
constexpr double saved_at_best = 0.5, several_roundings = 4;

}  // namespace

// The condition is at most as many times greater without a scaling as the diagonal's greatest entry is than its least,
// and iterations grow by the root of that at most.
std::string why_not_scaled(const PcgProblem &problem, double diagonal_ratio, double total_s) {
  if (diagonal_ratio == 1) return "the diagonal is constant, so scaling by it would change nothing";
  if (problem.on_host()) return "";
  const double saved_s = (1 - std::pow(diagonal_ratio, -usual_power)) * total_s;
  if (!(saved_s < scaling_on_device_s)) return "";
  return text("the diagonal's greatest entry is ", diagonal_ratio, " times its least, so scaling by it would save ",
              seconds_text(saved_s), " as a rule and takes ", seconds_text(scaling_on_device_s));
}

PcgPlan PcgPlanner::plan() {
  std::optional<PcgPlan> saved = plan_as_saved();
  PcgPlan out = saved ? std::move(*saved) : plan_anew();
  save(out);
  return out;
}

PcgPlan PcgPlanner::plan_anew() {
  Outlook outlook = first_outlook(problem_);
  PcgPlan out{first_system(outlook), outlook, nullptr};
  const bool probes =
      problem_.settings.probe >= 0 && problem_.settings.expected_iterations <= 0 && problem_.matrix().rows() > 1;
  if (probes) {
    // On a device asking all engines takes longer than the probe; what it finds they are asked about only once.
    const double total_s =
        problem_.on_host()
            ? total_of(*chooser_.engine(out.system, out.system.method(), outlook.expected), problem_.solves())
            : rough_total_s(problem_, outlook.expected);
    Probe probe(problem_.matrix(), product_, out.system.scaling(), problem_.null_space);
    const Estimator::Estimate found =
        Estimator(problem_, chooser_, notes_).estimate(probe, out.system, outlook, total_s);
    out.outlook = found.outlook;
    if (found.probed && problem_.settings.preconditioner.empty()) consider_others(out, probe);
  }
  consider_order(out, out.system.method(), out.outlook.expected);
  consider_narrow(out);
  return out;
}

// What is in force unless another one pays: the caller's method, else the diagonal.
EngineSystem PcgPlanner::first_system(const Outlook &outlook) {
  EngineSystem system(problem_.taken.shared());
  std::string method = problem_.settings.preconditioner;
  if (method.empty()) {
    const std::string why_not =
        why_not_scaled(problem_, problem_.taken.diagonal_ratio(), rough_total_s(problem_, outlook.expected));
    method = why_not.empty() ? "jacobi" : "none";
    notes_.push_back(why_not.empty() ? "preconditioner jacobi: a diagonal scaling costs nothing in an iteration"
                                     : "no preconditioner: " + why_not);
  }
  if (method == "none") return system;
  check_method(method, problem_.context());
  chooser_.precondition(system, method, outlook.expected);
  if (system.scaling())
    notes_.push_back("A is scaled symmetrically by its diagonal, so no iteration applies the preconditioner");
  return system;
}

// An engine with the polynomial, which was not tried: it may turn out not to suit the matrix.
std::unique_ptr<Runner> PcgPlanner::engine_of_polynomial(EngineSystem &system, const std::string &method,
                                                         const Expectation &expected, bool &fails) {
  fails = false;
  try {
    return std::make_unique<Runner>(problem_.context(), chooser_.engine(system, method, expected), &system.base());
  } catch (const Error &problem) {
    if (problem.status() == SXT_E_DEVICE) throw;
    notes_.push_back("preconditioner " + method + " left out: " + problem.what());
    fails = true;
    return nullptr;
  }
}

// Puts another preconditioner into force where one has a lower total.
void PcgPlanner::consider_others(PcgPlan &plan, Probe &probe) {
  const ChoicePtr engine = chooser_.engine(plan.system, plan.system.method(), plan.outlook.expected);
  Trials trials(problem_, chooser_, probe, plan.system, costs_, notes_);
  Trials::Result result = trials.run(*engine, plan.outlook);
  plan.outlook = result.outlook;
  if (!result.better) return;
  const PreconditionerMethod &method = result.better->method;
  const Expectation &expected = result.better->expected;
  bool fails = false;
  if (method.polynomial) plan.engine = engine_of_polynomial(plan.system, method.name, expected, fails);
  if (fails) return;
  plan.outlook.expected = expected;
  plan.system.leave_to_engine(method.name, chooser_.preconditioner(plan.system, method.name, expected));
  notes_.push_back(text("preconditioner ", method.name, " instead: predicted ", seconds_text(result.better->total_s),
                        " in all, about ", static_cast<std::int64_t>(expected.iterations), " iterations"));
}

// method: a value, since the one in force goes with the system.
void PcgPlanner::consider_order(PcgPlan &plan, std::string method, const Expectation &expected) {
  plan.system =
      OrderSearch(problem_, chooser_, left_out_, costs_, notes_).consider(std::move(plan.system), method, expected);
  if (plan.system.order()) plan.engine.reset();  // it was built for the caller's
}

double PcgPlanner::rounding_seconds(const EngineSystem &system) const {
  const auto nnz = static_cast<double>(problem_.matrix().csr().nnz);
  const bool on_device = system.order() && system.order()->on_device;  // the entries come to the host
  return nnz * round_value_s + (on_device ? nnz * entry_bytes / problem_.context().machine().copy_rate : 0);
}

// The predicted total with the rounded matrix, which the system holds; infinite where no engine takes it.
double PcgPlanner::narrow_seconds(EngineSystem &system, const Expectation &expected, double rounding_s, bool wanted) {
  try {
    const ChoicePtr choice = chooser_.engine(system, system.method(), expected);
    return choice->setup_s + choice->storage_s + rounding_s + problem_.solves() * more_iterations * choice->run_s;
  } catch (const Error &problem) {
    if (wanted || out_of_memory(problem)) throw;
    notes_.push_back(text("values in f64: in f32 ", problem.what()));
    return HUGE_VAL;
  }
}

// The plan's last question: hold the values in f32? Where the caller asks for it, or where less traffic is predicted to
// outweigh rounding, corrections and the work of rounding.
void PcgPlanner::consider_narrow(PcgPlan &plan) {
  EngineSystem &system = plan.system;
  const sxt_value_type type = problem_.matrix().value_type();
  const std::string precision = precision_wanted(problem_.settings, type);
  const bool wanted = precision == "f32";
  const bool possible = type == SXT_F64 && (system.method() == "none" || system.scaling());
  if (precision == "f64" || (!possible && !wanted)) return;
  require(possible, SXT_E_NOT_SUPPORTED, "a matrix in f32 goes with the preconditioners none and jacobi, not ",
          system.method());
  const ChoicePtr wide = chooser_.engine(system, system.method(), plan.outlook.expected);
  const double rounding_s = rounding_seconds(system);
  if (!wanted && saved_at_best * problem_.solves() * wide->run_s < several_roundings * (rounding_s + asking_s)) return;
  std::unique_ptr<NarrowMatrix> narrow = NarrowMatrix::make(system.base(), system.scaling(), problem_.taken.symmetry());
  require(narrow || !wanted, SXT_E_OVERFLOW, "a value of the matrix does not fit f32");
  if (!narrow) return;
  system.hold_narrow(std::move(narrow));
  const double narrow_s = narrow_seconds(system, plan.outlook.expected, rounding_s, wanted);
  const double wide_s = wide->setup_s + problem_.solves() * wide->run_s;
  if (!wanted && !(narrow_s < (1 - least_gain) * wide_s)) return system.hold_wide();
  costs_.add(rounding_s);
  notes_.push_back(text("the engine reads A in f32, corrected by true residuals in f64: predicted ",
                        seconds_text(narrow_s), " in all, ", seconds_text(wide_s), " with f64"));
}

}  // namespace sextant
