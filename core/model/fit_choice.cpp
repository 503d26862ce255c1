// SPDX-License-Identifier: BSD-3-Clause
// Which form and which breakpoints: by cross-validation over families of samples, the simpler one unless more is
// gained than chance would give.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

#include "core/model/fit_form.hpp"
#include "core/model/quantile.hpp"

namespace sextant {

namespace {

constexpr int folds = 5;
constexpr double worth_another = 0.95;  // a more complex form must bring the error below this part of the simpler one's
constexpr std::size_t breakpoint_places = 13;
constexpr std::size_t least_in_regime = 8;  // samples, about one a term, else a regime says nothing of others
constexpr double few_families_scatter = 0.5;
constexpr double noises[] = {0.1, 1};     // of corrections by neighbours
constexpr double worth_neighbours = 1.1;  // matrices resemble families more than families each other
constexpr double kin_weight = 0.2;        // of a sample of another class of the same kernel
constexpr double powers[] = {1, 2, 4, 8, std::numeric_limits<double>::infinity()};

using Samples = std::vector<const Sample *>;

// Families in order of first appearance, dealt out to the folds one by one.
std::vector<int> folds_of(const Samples &samples) {
  std::map<int, int> fold_of_family;
  std::vector<int> fold;
  for (const Sample *sample : samples)
    fold.push_back(
        fold_of_family.try_emplace(sample->family, static_cast<int>(fold_of_family.size()) % folds).first->second);
  return fold;
}

// One form, its breakpoints, and how well it predicts samples that its fit has not seen.
struct Trial {
  double power = 1;
  std::vector<double> breakpoints;
  std::vector<double> errors;  // relative, one a sample
  double score = std::numeric_limits<double>::infinity();
};

// The usual case counts, and so does every bad one, but none for more than a factor of two.
double score_of(const std::vector<double> &errors) {
  double sum = 0;
  for (const double error : errors) sum += std::min(error, 1.0);
  return quantile(errors, 0.5) + sum / static_cast<double>(errors.size());
}

// Those that can be fitted to: terms, working sets and times that are finite and not negative.
Samples usable(const std::vector<Sample> &samples) {
  Samples good;
  for (const Sample &sample : samples) {
    const bool terms_good =
        std::all_of(sample.terms.begin(), sample.terms.end(), [](double t) { return std::isfinite(t) && t >= 0; });
    if (terms_good && std::isfinite(sample.working_set) && std::isfinite(sample.seconds) && sample.seconds > 0)
      good.push_back(&sample);
  }
  return good;
}

// Samples of other classes as they enter the fit of one that has too few.
std::vector<Sample> lighter(std::vector<Sample> kin) {
  for (Sample &each : kin) each.weight *= kin_weight;
  return kin;
}

class Search {
 public:
  Search(const Layout &layout, const Samples &samples) : layout_(layout), samples_(samples), fold_(folds_of(samples)) {}

  Trial best() {
    Trial best = trial(1, {});
    const std::vector<double> places = possible_breakpoints();
    // Breakpoints first, on the sum, then the form, then the breakpoints again on that form.
    add_breakpoints(best, places);
    if (has_both()) {
      const std::vector<double> found = best.breakpoints;
      for (double power : powers)
        if (power != 1) take_if_better(best, trial(power, found));
      if (best.power != 1) add_breakpoints(best, places);
    }
    return best;
  }

 private:
  // Whether there is anything to join: two of memory, compute and tail.
  bool has_both() const {
    const auto has = [&](Group g) {
      return std::find(layout_.groups.begin(), layout_.groups.end(), g) != layout_.groups.end();
    };
    return has(Group::memory) + has(Group::compute) + has(Group::tail) > 1;
  }

  void take_if_better(Trial &best, Trial other) const {
    if (other.score < worth_another * best.score) best = std::move(other);
  }

  // The best single breakpoint, then the best second one beside it.
  void add_breakpoints(Trial &best, const std::vector<double> &places) {
    while (best.breakpoints.size() + 1 < most_regimes) {
      Trial next;
      for (double place : places) {
        std::vector<double> breakpoints = best.breakpoints;
        breakpoints.push_back(place);
        std::sort(breakpoints.begin(), breakpoints.end());
        if (!enough_samples(breakpoints)) continue;
        Trial other = trial(best.power, breakpoints);
        if (other.score < next.score) next = std::move(other);
      }
      if (!(next.score < worth_another * best.score)) return;
      best = std::move(next);
    }
  }

  bool enough_samples(const std::vector<double> &breakpoints) const {
    std::array<double, most_regimes> in{};
    for (const Sample *sample : samples_) {
      const auto weights = regime_weights(breakpoints, sample->working_set);
      for (std::size_t r = 0; r < most_regimes; ++r) in[r] += weights[r] > 0.5;
    }
    for (std::size_t r = 0; r <= breakpoints.size(); ++r)
      if (in[r] < static_cast<double>(least_in_regime)) return false;
    for (std::size_t b = 1; b < breakpoints.size(); ++b)
      if (breakpoints[b] < 2 * breakpoints[b - 1]) return false;  // blended over an octave each
    return true;
  }

  // Quantiles of the working sets: between samples, never beyond them.
  std::vector<double> possible_breakpoints() const {
    std::vector<double> sizes, places;
    for (const Sample *sample : samples_)
      if (sample->working_set > 0) sizes.push_back(sample->working_set);
    if (sizes.size() < 2 * least_in_regime) return {};
    for (std::size_t i = 1; i <= breakpoint_places; ++i) {
      const double place = quantile(sizes, static_cast<double>(i) / (breakpoint_places + 1));
      if (places.empty() || place > 1.5 * places.back()) places.push_back(place);
    }
    return places;
  }

  Trial trial(double power, const std::vector<double> &breakpoints) const {
    Trial out{power, breakpoints, std::vector<double>(samples_.size(), 0), 0};
    const int used = 1 + *std::max_element(fold_.begin(), fold_.end());
    for (int fold = 0; fold < used; ++fold) {
      Samples others;
      for (std::size_t s = 0; s < samples_.size(); ++s)
        if (used == 1 || fold_[s] != fold) others.push_back(samples_[s]);
      const FormFit fit = fit_form(layout_, others, power, breakpoints);
      for (std::size_t s = 0; s < samples_.size(); ++s)
        if (fold_[s] == fold)
          out.errors[s] = std::abs(
              fit.evaluate(layout_, samples_[s]->terms.data(), samples_[s]->working_set) / samples_[s]->seconds - 1);
    }
    out.score = score_of(out.errors);
    return out;
  }

  const Layout &layout_;
  const Samples &samples_;
  std::vector<int> fold_;
};

// The factor on the prior that suits the samples: the median of measured over predicted.
double factor_of(const std::vector<double> &prior, const std::vector<Group> &groups, const Samples &samples) {
  std::vector<double> ratios;
  for (const Sample *sample : samples) {
    double sums[group_count] = {};
    for (std::size_t j = 0; j < prior.size(); ++j) sums[static_cast<int>(groups[j])] += prior[j] * sample->terms[j];
    const double seconds = sums[0] + std::max({sums[1], sums[2], sums[3]});
    if (seconds > 0) ratios.push_back(sample->seconds / seconds);
  }
  return ratios.empty() ? 0 : quantile(ratios, 0.5);
}

std::size_t active_terms(const Samples &samples, std::size_t count) {
  std::size_t active = 0;
  for (std::size_t j = 0; j < count; ++j)
    active += std::any_of(samples.begin(), samples.end(), [&](const Sample *s) { return s->terms[j] > 0; });
  return active;
}

void set_errors(FittedModel &model, const std::vector<double> &errors) {
  model.median_error = quantile(errors, 0.5);
  model.p90_error = quantile(errors, 0.9);
  model.scatter = std::max(quantile(errors, 0.6827), 0.01);
}

// The machine's own coefficients times one factor; errors by leaving one family out.
void fit_factor(FittedModel &model, const Layout &layout, const Samples &samples) {
  model.power = std::numeric_limits<double>::infinity();
  model.coefficients = {layout.prior};
  const std::vector<int> fold = folds_of(samples);
  std::vector<double> errors;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    Samples others;
    for (std::size_t k = 0; k < samples.size(); ++k)
      if (fold[k] != fold[s]) others.push_back(samples[k]);
    const double factor = others.empty() ? 1 : factor_of(layout.prior, layout.groups, others);
    errors.push_back(std::abs(factor * model.evaluate(samples[s]->terms.data(), 0) / samples[s]->seconds - 1));
  }
  set_errors(model, errors);
}

std::vector<double> form_seconds(const Layout &layout, const FormFit &form, const Samples &samples) {
  std::vector<double> seconds;
  for (const Sample *sample : samples)
    seconds.push_back(form.evaluate(layout, sample->terms.data(), sample->working_set));
  return seconds;
}

// A curve over the form, where it predicts samples that it has not seen better than the form alone does.
void add_curve(FittedModel &model, const Layout &layout, const Samples &samples, const Trial &best,
               const FormFit &form) {
  const std::vector<int> fold = folds_of(samples);
  std::vector<double> errors(samples.size(), 0);
  for (int each = 0; each < folds; ++each) {
    Samples others;
    for (std::size_t s = 0; s < samples.size(); ++s)
      if (fold[s] != each) others.push_back(samples[s]);
    if (others.empty() || others.size() == samples.size()) continue;
    const FormFit part = fit_form(layout, others, best.power, best.breakpoints);
    const Curve curve = fit_curve(others, form_seconds(layout, part, others));
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const Sample &sample = *samples[s];
      const double seconds = part.evaluate(layout, sample.terms.data(), sample.working_set);
      if (fold[s] == each) errors[s] = std::abs((seconds + curve.at(sample.working_set)) / sample.seconds - 1);
    }
  }
  if (!(score_of(errors) < worth_another * best.score)) return;
  model.curve = fit_curve(samples, form_seconds(layout, form, samples));
  set_errors(model, errors);
}

// Corrections by neighbours, where they predict families that they have not seen no worse than the form alone does; of
// two strengths the better.
void add_neighbours(FittedModel &model, const Layout &layout, const Samples &samples, const Trial &best,
                    const FormFit &form) {
  const std::vector<int> fold = folds_of(samples);
  const std::size_t n_terms = layout.groups.size();
  std::array<std::vector<double>, std::size(noises)> errors;
  for (auto &each : errors) each = best.errors;
  for (int f = 0; f < folds; ++f) {
    Samples others;
    for (std::size_t s = 0; s < samples.size(); ++s)
      if (fold[s] != f) others.push_back(samples[s]);
    if (others.empty() || others.size() == samples.size()) continue;
    const FormFit part = fit_form(layout, others, best.power, best.breakpoints);
    const std::vector<double> seconds = form_seconds(layout, part, others);
    for (std::size_t k = 0; k < std::size(noises); ++k) {
      const Neighbours neighbours = fit_neighbours(others, seconds, n_terms, noises[k]);
      for (std::size_t s = 0; s < samples.size(); ++s) {
        const double *terms = samples[s]->terms.data();
        const double predicted = part.evaluate(layout, terms, samples[s]->working_set) * neighbours.factor(terms);
        if (fold[s] == f) errors[k][s] = std::abs(predicted / samples[s]->seconds - 1);
      }
    }
  }
  const std::size_t k = score_of(errors[0]) <= score_of(errors[1]) ? 0 : 1;
  if (score_of(errors[k]) > worth_neighbours * best.score) return;
  model.neighbours = fit_neighbours(samples, form_seconds(layout, form, samples), n_terms, noises[k]);
  set_errors(model, errors[k]);
}

}  // namespace

FittedModel fit(const FitProblem &problem) {
  FittedModel model;
  model.names = problem.names;
  for (const std::string &name : model.names) model.groups.push_back(group_of(name.c_str()));
  Samples samples = usable(problem.samples);
  const std::size_t active = active_terms(samples, problem.names.size());
  if (samples.empty() || active == 0) return model;
  const std::vector<int> fold = folds_of(samples);
  const bool few_families = *std::max_element(fold.begin(), fold.end()) < 2;
  model.samples = static_cast<std::int64_t>(samples.size());
  Layout layout;
  layout.groups = model.groups;
  layout.prior = problem.prior;
  layout.prior.resize(problem.names.size(), 0);
  const double factor = factor_of(layout.prior, layout.groups, samples);
  for (double &each : layout.prior) each *= factor;
  const bool few_samples = few_families || samples.size() < 2 * active + 1;
  const bool one_factor = (few_samples && problem.kin.empty()) || (active == 1 && problem.names.size() == 1);
  if (factor > 0 && one_factor) {
    fit_factor(model, layout, samples);
    // Hardly tested on what it has not seen: the error bar stays as wide as that of an analytic estimate.
    if (few_families) model.scatter = std::max(model.scatter, few_families_scatter);
    return model;
  }
  std::vector<Sample> kin;
  if (few_samples) kin = lighter(problem.kin);
  for (const Sample *each : usable(kin)) samples.push_back(each);
  const Trial best = Search(layout, samples).best();
  const FormFit form = fit_form(layout, samples, best.power, best.breakpoints);
  model.power = form.power;
  model.breakpoints = form.breakpoints;
  const std::size_t n = problem.names.size();
  for (std::size_t r = 0; r <= form.breakpoints.size(); ++r) {
    const auto first = form.coefficients.begin() + static_cast<std::ptrdiff_t>(r * n);
    model.coefficients.emplace_back(first, first + static_cast<std::ptrdiff_t>(n));
    for (std::size_t j = 0; r > 0 && j < n; ++j)
      if (layout.groups[j] == Group::latency) model.coefficients[r][j] = model.coefficients[0][j];
  }
  set_errors(model, best.errors);
  if (problem.over_matrices) add_neighbours(model, layout, samples, best, form);
  if (few_families) model.scatter = std::max(model.scatter, few_families_scatter);
  if (problem.over_one_length) add_curve(model, layout, samples, best, form);
  return model;
}

}  // namespace sextant
