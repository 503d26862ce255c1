// SPDX-License-Identifier: BSD-3-Clause
#include "core/model/fit_neighbours.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/model/fit.hpp"

namespace sextant {

namespace {

constexpr double steps_an_octave = 100;

// Terms in steps above their floors, those without a floor left out.
std::size_t place_of(const std::vector<double> &floors, const double *terms, float *place) {
  std::size_t dimensions = 0;
  for (std::size_t j = 0; j < floors.size(); ++j) {
    if (floors[j] <= 0) continue;
    const double octaves = std::log2(std::max(terms[j], floors[j]) / floors[j]);
    place[dimensions++] = static_cast<float>(std::min(octaves * steps_an_octave, 32767.0));
  }
  return dimensions;
}

// Half of the least that any sample has of a term; 0 where all have the same.
std::vector<double> floors_of(const std::vector<const Sample *> &samples, std::size_t n_terms) {
  std::vector<double> floors(n_terms, 0);
  for (std::size_t j = 0; j < n_terms; ++j) {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    bool absent = false;
    for (const Sample *sample : samples) {
      absent = absent || !(sample->terms[j] > 0);
      most = std::max(most, sample->terms[j]);
      if (sample->terms[j] > 0) least = std::min(least, sample->terms[j]);
    }
    if (most > 0 && (absent || most > least)) floors[j] = least / 2;
  }
  return floors;
}

// Solves A x = b for a symmetric positive definite A (n x n, rows after each other), which is overwritten.
std::vector<double> solve_definite(std::vector<double> &a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
  return b;
}

// 1 / (1 + d^2 / reach^2) of squared distances in steps.
constexpr float inverse_reach2 =
    static_cast<float>(1 / (Neighbours::reach * steps_an_octave * Neighbours::reach * steps_an_octave));

// Squared distances of a place from all samples.
void distances(const Neighbours &n, const float *place, std::size_t dimensions, float *out) {
  const std::size_t samples = n.weights.size();
  std::fill_n(out, samples, 0.0f);
  for (std::size_t d = 0; d < dimensions; ++d) {
    const float *row = n.places.data() + d * samples, at = place[d];
    for (std::size_t s = 0; s < samples; ++s) out[s] += (at - row[s]) * (at - row[s]);
  }
}

}  // namespace

double Neighbours::factor(const double *terms) const {
  if (weights.empty()) return 1;
  std::array<float, SXT_MAX_TERMS> place;
  std::array<float, most> apart;
  distances(*this, place.data(), place_of(floors, terms, place.data()), apart.data());
  // In several sums, which do not wait for each other.
  constexpr std::size_t lanes = 8;
  std::array<float, lanes> sums{};
  std::size_t s = 0;
  for (; s + lanes <= weights.size(); s += lanes)
    for (std::size_t k = 0; k < lanes; ++k) sums[k] += weights[s + k] / (1 + apart[s + k] * inverse_reach2);
  for (; s < weights.size(); ++s) sums[0] += weights[s] / (1 + apart[s] * inverse_reach2);
  const double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  return std::exp(std::clamp(sum, -most_factor, most_factor));
}

Neighbours fit_neighbours(const std::vector<const Sample *> &samples, const std::vector<double> &form_seconds,
                          std::size_t n_terms, double noise) {
  Neighbours made;
  std::vector<const Sample *> used;
  std::vector<double> residuals;
  // Where there are more than are kept, evenly chosen ones.
  const std::size_t kept = std::min(samples.size(), Neighbours::most);
  for (std::size_t k = 0; k < kept; ++k) {
    const std::size_t s = k * samples.size() / kept;
    if (!(form_seconds[s] > 0)) continue;
    used.push_back(samples[s]);
    residuals.push_back(std::log(samples[s]->seconds / form_seconds[s]));
  }
  if (used.size() < 3) return made;
  made.floors = floors_of(used, n_terms);
  const std::size_t n = used.size();
  std::array<float, SXT_MAX_TERMS> place;
  std::vector<std::array<float, SXT_MAX_TERMS>> places(n);
  std::size_t dimensions = 0;
  for (std::size_t s = 0; s < n; ++s) dimensions = place_of(made.floors, used[s]->terms.data(), places[s].data());
  made.places.resize(dimensions * n);
  for (std::size_t s = 0; s < n; ++s)
    for (std::size_t d = 0; d < dimensions; ++d) made.places[d * n + s] = std::round(places[s][d]);
  made.weights.assign(n, 0);
  std::vector<double> matrix(n * n);
  std::array<float, Neighbours::most> apart;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t d = 0; d < dimensions; ++d) place[d] = made.places[d * n + i];
    distances(made, place.data(), dimensions, apart.data());
    for (std::size_t j = 0; j < n; ++j) matrix[i * n + j] = 1 / (1 + static_cast<double>(apart[j] * inverse_reach2));
    matrix[i * n + i] += noise / used[i]->weight;
  }
  const std::vector<double> weights = solve_definite(matrix, std::move(residuals));
  std::transform(weights.begin(), weights.end(), made.weights.begin(), [](double w) { return static_cast<float>(w); });
  return made;
}

}  // namespace sextant
