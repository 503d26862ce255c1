// SPDX-License-Identifier: BSD-3-Clause
#include "core/model/fit_curve.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "core/model/fit.hpp"

namespace sextant {

namespace {

constexpr double reach = 0.25;  // octaves: neighbours so far away count e^(-1/2) as much as one at the place itself
constexpr double least_weight = 1e-3;  // of all samples together, else the form stands alone
constexpr double most_added = 0.5;     // of the form

// The form's seconds at any working set, from those at the samples: straight lines between, in proportion beyond.
double between(const std::vector<double> &sizes, const std::vector<double> &seconds, double size) {
  if (size <= sizes.front()) return seconds.front();
  if (size >= sizes.back()) return seconds.back() * size / sizes.back();
  const auto above = static_cast<std::size_t>(std::upper_bound(sizes.begin(), sizes.end(), size) - sizes.begin());
  const double part = (size - sizes[above - 1]) / (sizes[above] - sizes[above - 1]);
  return seconds[above - 1] + part * (seconds[above] - seconds[above - 1]);
}

}  // namespace

double Curve::at(double working_set) const {
  if (added.empty()) return 0;
  const double place = nodes_an_octave * std::log2(working_set / first);
  if (!(place > 0)) return added.front();
  const auto below = static_cast<std::size_t>(place);
  // Far beyond what was measured it is a part of the time, not a constant.
  const auto size_of = [&](std::size_t node) { return first * std::exp2(static_cast<double>(node) / nodes_an_octave); };
  if (below + 1 >= added.size()) return added.back() * working_set / size_of(added.size() - 1);
  const double low = size_of(below), part = (working_set - low) / (size_of(below + 1) - low);
  return added[below] + part * (added[below + 1] - added[below]);
}

Curve fit_curve(const std::vector<const Sample *> &samples, const std::vector<double> &form_seconds) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return samples[a]->working_set < samples[b]->working_set; });
  std::vector<double> sizes, form, residuals;
  for (const std::size_t i : order) {
    if (!(samples[i]->working_set > 0) || !(form_seconds[i] > 0)) continue;
    sizes.push_back(samples[i]->working_set);
    form.push_back(form_seconds[i]);
    residuals.push_back(std::log(samples[i]->seconds / form_seconds[i]));
  }
  Curve curve;
  if (sizes.size() < 2 || sizes.front() == sizes.back()) return curve;
  curve.first = sizes.front();
  const double octaves = std::log2(sizes.back() / sizes.front());
  const auto nodes = static_cast<std::int64_t>(std::ceil(octaves * Curve::nodes_an_octave)) + 1;
  for (std::int64_t node = 0; node < nodes; ++node) {
    const double size = curve.first * std::exp2(static_cast<double>(node) / Curve::nodes_an_octave);
    double sum = 0, weights = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double distance = std::log2(sizes[i] / size) / reach;
      const double weight = std::exp(-distance * distance / 2);
      sum += weight * residuals[i];
      weights += weight;
    }
    const double factor = weights > least_weight ? std::exp(sum / weights) : 1;
    curve.added.push_back(between(sizes, form, size) * std::clamp(factor - 1, -most_added, most_added));
  }
  return curve;
}

}  // namespace sextant
