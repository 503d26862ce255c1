// SPDX-License-Identifier: BSD-3-Clause
#include "core/calibrate/sampler.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "core/context/context.hpp"
#include "core/model/quantile.hpp"
#include "core/model/timing.hpp"
#include "core/run/prepared.hpp"
#include "core/threads/pool.hpp"
#include "sextant/plugin/kinds/cholesky.h"
#include "sextant/plugin/kinds/storage.h"

namespace sextant {

namespace {

constexpr double clock_noise_s = 2e-6;  // set-ups shorter than this say nothing

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void CalibrationClock::report(const std::string &what) const {
  const double part = std::clamp(elapsed() / settings_.seconds, 0.0, 1.0);
  if (settings_.progress && settings_.progress(part, what, std::max(0.0, left())) != 0) throw CalibrationCancelled{};
}

bool Sampler::wanted(const registry::Kernel &kernel) {
  return !kernel.has(SXT_KERNEL_REFERENCE) && kernel.table.n_slots == 0 && kernel.table.candidates &&
         kernel.verdict != registry::Verdict::quarantined;
}

// False: it failed. A kernel that fails is left out, and the calibration goes on.
bool Sampler::attempt(const sxt_kernel &kernel, const std::function<void()> &work) const {
  try {
    work();
    return true;
  } catch (const Error &problem) {
    // A form that does not suit a matrix says so when it is built: nothing is wrong then.
    const bool declined = problem.status() == SXT_NOT_APPLICABLE || problem.status() == SXT_E_NOT_SUPPORTED;
    context_.log()(declined ? SXT_LOG_DEBUG : SXT_LOG_WARNING,
                   text("calibration leaves out ", kernel.name, ": ", problem.what()));
    return false;
  }
}

Sampler::Runner Sampler::set_up(const ChoicePtr &choice, Matrix *matrix, const sxt_head *data) {
  const sxt_kernel &kernel = choice->kernel->table;
  Runner runner;
  runner.choice = choice;
  const bool good = attempt(kernel, [&] {
    const double seconds =
        time_once([&] { runner.prepared = std::make_unique<Prepared>(context_, choice, matrix, data); });
    add_setup(kernel, *choice->query.get(), choice->candidate, seconds);
    runner.session = runner.prepared->open();
  });
  if (!good) runner.session.reset();
  return runner;
}

void Sampler::take_turn(Runner &runner, std::span<sxt_head *const> args, double budget_s, int least_samples) {
  if (!runner.session) return;
  const bool good = attempt(runner.choice->kernel->table, [&] {
    const auto timed = [&](std::size_t count) {
      return time_session(context_, *runner.session, args.first(count), runner.choice->run_s, budget_s, least_samples)
          .seconds;
    };
    double seconds = timed(1);
    if (args.size() > 1) seconds = std::sqrt(seconds * timed(args.size()));
    runner.turns.push_back(seconds);
  });
  if (!good) runner.session.reset();
}

double Sampler::keep(const Runner &runner, int family, bool over_one_length) {
  if (!runner.session || runner.turns.empty()) return 0;
  const Choice &choice = *runner.choice;
  const double seconds = quantile(runner.turns, 0.5);
  add_run(choice.kernel->table, *choice.query.get(), choice.candidate, seconds, family, over_one_length);
  return seconds;
}

double Sampler::measure(const ChoicePtr &choice, Matrix *matrix, std::span<sxt_head *const> args, int family,
                        double budget_s, int least_samples, const sxt_head *data) {
  Runner runner = set_up(choice, matrix, data);
  take_turn(runner, args, budget_s, least_samples);
  return keep(runner, family, args.size() > 1);
}

double Sampler::measure_calls(const ChoicePtr &choice, sxt_head *args, int family, int calls, const sxt_head *data) {
  constexpr double least_s = 1e-3;  // of all calls
  Runner runner = set_up(choice, nullptr, data);
  if (!runner.session) return 0;
  const bool good = attempt(choice->kernel->table, [&] {
    runner.session->ask(args);  // code is loaded
    double sum = 0;
    while (static_cast<int>(runner.turns.size()) < calls || sum < least_s) {
      runner.turns.push_back(time_once([&] { runner.session->ask(args); }));
      sum += runner.turns.back();
    }
  });
  if (!good) runner.session.reset();
  return keep(runner, family);
}

std::int64_t Sampler::keep_better(const Profile &known, std::map<ModelKey, FittedModel> &models) const {
  constexpr std::size_t enough = 8;  // samples: fewer tell little of either
  constexpr double as_good = 1.1;    // where noise is most of both errors, they differ by chance
  std::int64_t stay = 0;
  for (auto &[key, model] : models) {
    const auto before = known.models.find(key);
    if (!model.samples || before == known.models.end() || !before->second.samples) continue;
    if (before->second.names != model.names) continue;
    std::vector<double> errors;
    for (const Sample &sample : collected_.at(key).problem.samples)
      if (sample.seconds > 0)
        errors.push_back(
            std::abs(before->second.evaluate(sample.terms.data(), sample.working_set) / sample.seconds - 1));
    if (errors.size() < enough) continue;
    const double known_error = quantile(errors, 0.5) + quantile(errors, 0.9);
    if (!(known_error <= as_good * (model.median_error + model.p90_error))) continue;
    FittedModel setup_alone;
    setup_alone.setup_factor = model.setup_factor;
    setup_alone.setup_samples = model.setup_samples;
    model = std::move(setup_alone);
    ++stay;
  }
  std::erase_if(models, [](const auto &each) { return !each.second.samples && !each.second.setup_samples; });
  return stay;
}

void Sampler::add_setup(const sxt_kernel &kernel, const sxt_query &query, const sxt_candidate &candidate,
                        double seconds) {
  if (!(candidate.setup_s > clock_noise_s) || !(seconds > clock_noise_s)) return;
  collected_[model_key(kernel, query, candidate)].setup_ratios.push_back(seconds / candidate.setup_s);
}

void Sampler::add_run(const sxt_kernel &kernel, const sxt_query &query, const sxt_candidate &candidate, double seconds,
                      int family, bool over_one_length) {
  const ModelTerms terms = model_terms(kernel, query, candidate, context_.machine());
  if (!terms.count) return;
  Collected &collected = collected_[model_key(kernel, query, candidate)];
  if (collected.problem.names.empty())
    for (std::uint32_t i = 0; i < terms.count; ++i) collected.problem.names.emplace_back(term_name(kernel, i));
  if (collected.problem.names.size() != terms.count) return;  // candidates of one class that disagree on their terms
  Sample sample;
  sample.terms = terms.values;
  sample.working_set = candidate.working_set_bytes;
  sample.seconds = seconds;
  sample.family = family;
  std::copy_n(candidate.launch, 4, sample.launch.begin());
  if (query.flags & SXT_QUERY_MATRIX) {
    const auto &about = reinterpret_cast<const sxt_matrix_query &>(query);
    sample.rows = static_cast<double>(about.rows);
    sample.entries = static_cast<double>(about.nnz);
    collected.reads_matrix = true;
  } else if (!std::strcmp(kernel.kind, SXT_KIND_CHOLESKY)) {  // about a structure, which is a matrix's
    const auto &about = reinterpret_cast<const sxt_cholesky_query &>(query).m;
    sample.rows = static_cast<double>(about.rows);
    sample.entries = static_cast<double>(about.nnz);
    collected.has_structure = true;
  }
  collected.problem.samples.push_back(sample);
  collected.problem.over_one_length |= over_one_length;
  collected.analytic.emplace_back(terms.analytic.begin(), terms.analytic.begin() + terms.count);
}

// Samples of the kernel's other classes for the same types; of kernels that read a matrix, whose classes are launches.
std::vector<Sample> Sampler::kin_of(const ModelKey &key, const Collected &own) const {
  std::vector<Sample> kin;
  for (const auto &[other, collected] : collected_) {
    ModelKey same = other;
    same.model_class = key.model_class;
    const bool related = same == key && other.model_class != key.model_class && own.reads_matrix;
    if (!related || collected.problem.names != own.problem.names) continue;
    kin.insert(kin.end(), collected.problem.samples.begin(), collected.problem.samples.end());
  }
  return kin;
}

std::map<ModelKey, FittedModel> Sampler::fit_all(const CalibrationClock &) const {
  std::vector<std::pair<ModelKey, FittedModel>> fitted;
  for (const auto &[key, collected] : collected_) fitted.emplace_back(key, FittedModel());
  const auto fit_one = [&](std::pair<ModelKey, FittedModel> &each) {
    const Collected &collected = collected_.find(each.first)->second;
    FitProblem problem = collected.problem;
    problem.kin = kin_of(each.first, collected);
    problem.over_matrices = collected.reads_matrix || collected.has_structure;
    // What the machine says of a term depends on the working set; the middle of it stands for all.
    for (std::size_t j = 0; j < problem.names.size(); ++j) {
      std::vector<double> column;
      for (const auto &each : collected.analytic) column.push_back(each[j]);
      problem.prior.push_back(median(std::move(column)));
    }
    FittedModel &model = each.second = fit(problem);
    if (collected.setup_ratios.empty()) return;
    model.setup_factor = median(collected.setup_ratios);
    model.setup_samples = static_cast<std::int64_t>(collected.setup_ratios.size());
  };
  std::exception_ptr problem;  // nothing may leave the threads
  std::mutex problem_lock;
  std::atomic<std::size_t> next{0};
  // Hundreds of models take seconds.
  const int team = context_.threads();
  threads::for_parts(team, team, [&](int) {
    for (std::size_t m = next++; m < fitted.size(); m = next++) {
      try {
        fit_one(fitted[m]);
      } catch (...) {
        const std::lock_guard lock(problem_lock);
        problem = std::current_exception();
      }
    }
  });
  if (problem) std::rethrow_exception(problem);
  std::map<ModelKey, FittedModel> models;
  for (auto &[key, model] : fitted)
    if (model.samples || model.setup_samples) models[key] = std::move(model);
  return models;
}

void Sampler::tell(
    const std::map<ModelKey, FittedModel> &models,
    const std::function<void(const ModelKey &, const FittedModel &, const Sample &, double)> &listener) const {
  for (const auto &[key, model] : models)
    for (const Sample &sample : collected_.at(key).problem.samples)
      if (model.samples) listener(key, model, sample, model.evaluate(sample.terms.data(), sample.working_set));
}

}  // namespace sextant
