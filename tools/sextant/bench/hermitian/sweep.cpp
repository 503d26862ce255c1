// SPDX-License-Identifier: BSD-3-Clause
// Orders 16, 32, ... 2048: where a rate falls below those of adjacent orders or below another library's. And how far
// predictions were off.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bench/hermitian/hermitian.hpp"
#include "plot/svg.hpp"

namespace tool {

// A point over the mean of its two neighbours; at an end, over its one neighbour.
void judge_neighbours(std::vector<HermitianPoint> &points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    double sum = 0, count = 0;
    if (i > 0) sum += points[i - 1].rate, ++count;
    if (i + 1 < points.size()) sum += points[i + 1].rate, ++count;
    points[i].to_neighbours = count > 0 ? points[i].rate / (sum / count) : 1;
  }
}

Json sweep_curve(const std::vector<HermitianPoint> &points) {
  Json curve = Json::array();
  for (const HermitianPoint &p : points)
    curve.push_back(
        {{"n", p.n}, {"flops_per_s", p.rate}, {"other_flops_per_s", p.other_rate}, {"to_neighbours", p.to_neighbours}});
  return curve;
}

std::string sweep_verdict(const std::vector<HermitianPoint> &points) {
  if (points.empty()) return "";
  const auto worst = [&](auto &&of) {
    return *std::min_element(points.begin(), points.end(), [&](const auto &a, const auto &b) { return of(a) < of(b); });
  };
  // The smallest order has a neighbour on one side only, and rates rise steeply there.
  std::vector<HermitianPoint> inner(points.begin() + (points.size() > 2), points.end());
  const HermitianPoint cliff = *std::min_element(
      inner.begin(), inner.end(), [](const auto &a, const auto &b) { return a.to_neighbours < b.to_neighbours; });
  const auto low = std::count_if(inner.begin(), inner.end(), [](const auto &p) { return p.to_neighbours < 0.8; });
  std::string text = fmt::format("against neighbours: {} of {} points below 0.8, the lowest {:.2f} at order {}", low,
                                 inner.size(), cliff.to_neighbours, cliff.n);
  const auto ratio = [](const HermitianPoint &p) { return p.other_rate > 0 ? p.rate / p.other_rate : 1e300; };
  const HermitianPoint behind = worst(ratio);
  if (behind.other_rate > 0)
    text += fmt::format("\nagainst the other library: {} points below 1.0, the lowest {:.2f} at order {}",
                        std::count_if(points.begin(), points.end(), [&](const auto &p) { return ratio(p) < 1; }),
                        ratio(behind), behind.n);
  return text + "\n";
}

Json prediction_errors(const HermitianPredictions &ratios) {
  Json errors = Json::array();
  for (const auto &[kernel, of_kernel] : ratios) {
    std::vector<double> sorted = of_kernel, off;
    for (const double ratio : sorted) off.push_back(std::abs(ratio - 1));
    std::sort(sorted.begin(), sorted.end()), std::sort(off.begin(), off.end());
    const std::size_t points = off.size();
    errors.push_back({{"kernel", kernel},
                      {"points", points},
                      {"median_error", off[points / 2]},
                      {"p90_error", off[9 * (points - 1) / 10]},
                      {"median_ratio", sorted[points / 2]}});
  }
  return errors;
}

std::string prediction_verdict(const Json &errors) {
  std::string text;
  for (const Json &each : errors)
    text += fmt::format(
        "predictions of {}: {} points, off by {:.1f} % at the median, nine in ten by less than {:.1f} %, {:.2f} of "
        "what was measured\n",
        each["kernel"].get<std::string>(), each["points"].get<int>(), 100 * each["median_error"].get<double>(),
        100 * each["p90_error"].get<double>(), each["median_ratio"].get<double>());
  return text;
}

std::string sweep_svg(const std::string &title, const std::vector<HermitianPoint> &points) {
  sextant::Plot plot;
  plot.title = title;
  plot.x.label = "order";
  plot.y.label = "TF/s";
  sextant::PlotSeries ours, others;
  ours.name = "Sextant";
  others.name = "the better of the other libraries";
  for (const HermitianPoint &point : points) {
    const double order = static_cast<double>(point.n);
    ours.points.emplace_back(order, point.rate * 1e-12);
    if (point.other_rate > 0) others.points.emplace_back(order, point.other_rate * 1e-12);
  }
  plot.series.push_back(ours);
  if (!others.points.empty()) plot.series.push_back(others);
  return sextant::to_svg(plot);
}

}  // namespace tool
