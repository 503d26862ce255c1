// SPDX-License-Identifier: BSD-3-Clause
// The fit of one form with given breakpoints, and what a fitted model predicts.
#include "core/model/fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/model/fit_form.hpp"
#include "core/model/term_names.hpp"

namespace sextant {

namespace {

constexpr int rounds = 12;            // of linearising and reweighting; changes are below a percent after six
constexpr double robust_limit = 1.5;  // residuals beyond so many scatters lose weight (Huber 1964)
constexpr double least_scatter = 0.01;

// (memory^p + compute^p + tail^p)^(1/p) of the sums of the groups, and its derivative by each; p = 1 is the sum,
// infinity the maximum. Latency stands apart.
struct Joined {
  double value = 0;
  double by[group_count] = {1, 1, 1, 1};
};
Joined join(const double (&sums)[group_count], double power) {
  constexpr int first = static_cast<int>(Group::memory);
  Joined joined;
  const double *top = std::max_element(sums + first, sums + group_count);
  if (power == 1 || !(*top > 0)) {
    for (int g = first; g < group_count; ++g) joined.value += sums[g];
    return joined;
  }
  double powers = 0;
  for (int g = first; g < group_count; ++g) powers += std::pow(sums[g] / *top, power);
  const double root = std::isinf(power) ? 1 : std::pow(powers, 1 / power);
  joined.value = *top * root;
  for (int g = first; g < group_count; ++g)
    joined.by[g] = std::isinf(power) ? (sums + g == top) : std::pow(sums[g] / *top / root, power - 1);
  return joined;
}

// Smooth from 0 to 1 over the octave around the breakpoint.
double beyond(double working_set, double breakpoint) {
  const double t = std::clamp(std::log2(std::max(working_set, 1.0) / breakpoint) + 0.5, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

}  // namespace

bool is_term(const char *term, const char *standard) {
  const std::size_t length = std::strlen(standard);
  return !std::strncmp(term, standard, length) && (term[length] == '\0' || term[length] == '.');
}

Group group_of(const char *term) {
#define SXT_X(suffix, text, group) \
  if (term[0] == text[0] && is_term(term, text)) return Group::group;
  SXT_TERM_TABLE(SXT_X)
#undef SXT_X
  if (!std::strncmp(term, "latency.", 8)) return Group::latency;
  if (!std::strncmp(term, "compute.", 8)) return Group::compute;
  if (!std::strncmp(term, "tail.", 5)) return Group::tail;
  return Group::memory;
}

std::array<double, most_regimes> regime_weights(const std::vector<double> &breakpoints, double working_set) {
  std::array<double, most_regimes> weights{1, 0, 0};
  for (std::size_t b = 0; b < breakpoints.size() && b + 1 < most_regimes; ++b) {
    const double above = beyond(working_set, breakpoints[b]);
    weights[b + 1] = weights[b] * above;
    weights[b] *= 1 - above;
  }
  return weights;
}

double FormFit::evaluate(const Layout &layout, const double *terms, double working_set, double *gradient) const {
  double latency = 0;
  const std::size_t n = layout.groups.size();
  for (std::size_t j = 0; j < n; ++j) {
    if (layout.groups[j] != Group::latency) continue;
    latency += coefficients[j] * terms[j];
    if (gradient) gradient[j] = terms[j];
  }
  double seconds = latency;
  const auto weights = regime_weights(breakpoints, working_set);
  for (std::size_t r = 0; r <= breakpoints.size(); ++r) {
    double sums[group_count] = {};
    for (std::size_t j = 0; j < n; ++j) sums[static_cast<int>(layout.groups[j])] += coefficients[r * n + j] * terms[j];
    const Joined joined = join(sums, power);
    seconds += weights[r] * joined.value;
    for (std::size_t j = 0; gradient && j < n; ++j)
      if (layout.groups[j] != Group::latency)
        gradient[r * n + j] = weights[r] * terms[j] * joined.by[static_cast<int>(layout.groups[j])];
  }
  return seconds;
}

namespace {

// One more round: the model linearised at its present coefficients. It is homogeneous in them (Euler), so that the
// linear model is the gradient alone, without a constant. False: nothing to fit.
void linearise(const Layout &layout, const FormFit &fit, const std::vector<const Sample *> &samples,
               std::vector<std::vector<double>> &rows, std::vector<double> &residuals) {
  const std::size_t columns = layout.groups.size() * (fit.breakpoints.size() + 1);
  rows.assign(samples.size(), std::vector<double>(columns, 0));
  residuals.resize(samples.size());
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const Sample &sample = *samples[s];
    const double seconds = fit.evaluate(layout, sample.terms.data(), sample.working_set, rows[s].data());
    for (double &each : rows[s]) each /= sample.seconds;
    residuals[s] = seconds / sample.seconds - 1;
  }
}

// Weights of Huber's estimator: 1 within the usual scatter, falling as 1/|residual| beyond.
std::vector<double> robust_weights(const std::vector<double> &residuals) {
  std::vector<double> sizes;
  for (double r : residuals) sizes.push_back(std::abs(r));
  std::vector<double> sorted = sizes;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  const double scatter = std::max(1.4826 * sorted[sorted.size() / 2], least_scatter);
  std::vector<double> weights;
  for (double size : sizes) weights.push_back(std::min(1.0, robust_limit * scatter / std::max(size, 1e-300)));
  return weights;
}

// The sum may have left a term at zero, where a maximum has no slope that would ever raise it: each term of memory and
// compute begins at no less than half of what it could cost at most, by its prior or by the fastest samples.
void leave_zero(const Layout &layout, const std::vector<const Sample *> &samples, FormFit &fit) {
  const std::size_t n = layout.groups.size();
  for (std::size_t j = 0; j < n; ++j) {
    if (layout.groups[j] == Group::latency) continue;
    double most = std::numeric_limits<double>::infinity();
    for (const Sample *sample : samples)
      if (sample->terms[j] > 0) most = std::min(most, sample->seconds / sample->terms[j]);
    if (layout.prior[j] > 0) most = std::min(most, layout.prior[j]);
    for (std::size_t r = 0; r <= fit.breakpoints.size() && std::isfinite(most); ++r)
      fit.coefficients[r * n + j] = std::max(fit.coefficients[r * n + j], 0.5 * most);
  }
}

}  // namespace

FormFit fit_form(const Layout &layout, const std::vector<const Sample *> &samples, double power,
                 const std::vector<double> &breakpoints) {
  const std::size_t n = layout.groups.size(), regimes = breakpoints.size() + 1;
  FormFit fit{power, breakpoints, std::vector<double>(n * regimes, 0)};
  std::vector<double> prior;
  for (std::size_t r = 0; r < regimes; ++r) prior.insert(prior.end(), layout.prior.begin(), layout.prior.end());
  std::vector<std::vector<double>> rows;
  std::vector<double> residuals, weights(samples.size(), 1);
  fit.power = 1;  // the first round: the plain sum, which needs no starting point
  for (int round = 0; round < rounds; ++round) {
    linearise(layout, fit, samples, rows, residuals);
    if (round > 0) weights = robust_weights(residuals);
    for (std::size_t s = 0; s < samples.size(); ++s) weights[s] = (round > 0 ? weights[s] : 1) * samples[s]->weight;
    const std::vector<double> next = nonnegative_least_squares(rows, weights, prior);
    // Half a step where the model is not linear: the maximum would flip between its branches for ever.
    const double step = round == 0 || power == 1 ? 1 : 0.5;
    for (std::size_t i = 0; i < next.size(); ++i) fit.coefficients[i] += step * (next[i] - fit.coefficients[i]);
    if (round == 0 && power != 1) leave_zero(layout, samples, fit);
    fit.power = power;
  }
  // What no sample has stays at what the machine says of it; where the samples of a regime lack it, at a neighbour's.
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t r = 0; r < regimes; ++r) {
      bool seen = false;
      for (const auto &row : rows) seen = seen || row[r * n + j] > 0;
      for (const Sample *sample : samples) seen = seen || (sample->terms[j] > 0 && layout.groups[j] == Group::latency);
      if (seen || fit.coefficients[r * n + j] > 0) continue;
      fit.coefficients[r * n + j] = r > 0 ? fit.coefficients[(r - 1) * n + j] : layout.prior[j];
    }
  return fit;
}

bool FittedModel::finite() const {
  const auto all = [](const auto &numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](double each) { return std::isfinite(each); });
  };
  return !std::isnan(power) && all(breakpoints) && std::all_of(coefficients.begin(), coefficients.end(), all) &&
         std::isfinite(curve.first) && all(curve.added) && all(neighbours.floors) && all(neighbours.places) &&
         all(neighbours.weights) && all(std::array{median_error, p90_error, scatter, setup_factor});
}

double FittedModel::evaluate(const double *terms, double working_set_bytes) const {
  return form(terms, working_set_bytes) * neighbours.factor(terms) + curve.at(working_set_bytes);
}

double FittedModel::form(const double *terms, double working_set_bytes) const {
  // Called for every candidate of a choice: allocates nothing.
  const auto weights = regime_weights(breakpoints, working_set_bytes);
  double seconds = 0;
  for (std::size_t r = 0; r < coefficients.size(); ++r) {
    if (weights[r] == 0) continue;
    double sums[group_count] = {};
    for (std::size_t j = 0; j < names.size(); ++j)
      sums[static_cast<int>(j < groups.size() ? groups[j] : group_of(names[j].c_str()))] +=
          coefficients[r][j] * terms[j];
    seconds += weights[r] * (sums[0] + join(sums, power).value);
  }
  return seconds;
}

}  // namespace sextant
