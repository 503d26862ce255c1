// SPDX-License-Identifier: BSD-3-Clause
#include "model/curve.hpp"

#include <cmath>

#include "core/model/quantile.hpp"

namespace tool {

double fitted_seconds(const sextant::FittedModel &fit, const ModelPoint &point) {
  return fit.samples ? fit.evaluate(point.sample.terms.data(), point.sample.working_set) : std::nan("");
}

sextant::FittedModel fit_points(const std::vector<ModelPoint> &points, const std::vector<std::size_t> &which) {
  sextant::FitProblem problem;
  problem.names = points.front().terms;
  for (const std::size_t p : which) problem.samples.push_back(points[p].sample);
  // Seconds of one unit without measurements: where they differ between sizes, those in the middle.
  for (std::size_t j = 0; j < problem.names.size(); ++j) {
    std::vector<double> analytic;
    for (const std::size_t p : which) analytic.push_back(points[p].analytic[j]);
    problem.prior.push_back(sextant::quantile(analytic, 0.5));
  }
  return sextant::fit(problem);
}

Errors errors_of(const std::vector<ModelPoint> &points, const std::function<double(const ModelPoint &)> &predicted) {
  std::vector<double> errors;
  for (const ModelPoint &point : points) {
    const double seconds = point.measured ? predicted(point) : std::nan("");
    if (std::isfinite(seconds)) errors.push_back(std::abs(seconds / point.sample.seconds - 1));
  }
  return {sextant::quantile(errors, 0.5), sextant::quantile(errors, 0.9)};
}

std::vector<CurveStep> curve_of(const std::vector<ModelPoint> &points, const std::vector<std::size_t> &order) {
  constexpr std::size_t first = 4;
  std::vector<CurveStep> curve;
  double seconds = 0;
  for (std::size_t k = 1; k <= order.size(); ++k) {
    seconds += points[order[k - 1]].spent_s;
    if (k < first) continue;
    const sextant::FittedModel fit =
        fit_points(points, {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k)});
    curve.push_back({k, errors_of(points, [&](const ModelPoint &p) { return fitted_seconds(fit, p); }), seconds});
  }
  return curve;
}

const CurveStep *enough(const std::vector<CurveStep> &curve, double most) {
  const CurveStep *found = nullptr;
  for (auto step = curve.rbegin(); step != curve.rend(); ++step) {
    if (!(step->errors.median <= most)) break;
    found = &*step;
  }
  return found;
}

}  // namespace tool
