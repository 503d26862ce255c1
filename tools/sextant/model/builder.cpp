// SPDX-License-Identifier: BSD-3-Clause
#include "model/builder.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "core/model/quantile.hpp"
#include "report/error.hpp"

namespace tool {
namespace {

constexpr double known_well = 1.1;  // errors of predictions over those after the whole set
constexpr std::size_t least_points = 8, least_families = 3;

using Clock = std::chrono::steady_clock;

// Families that take part: a fit is tested on those that it has not seen.
std::size_t families_of(const BuiltModel &built) {
  std::set<int> seen, all;
  for (const ModelPoint &point : built.points) all.insert(point.sample.family);
  for (const std::size_t p : built.order) seen.insert(built.points[p].sample.family);
  return all.size() <= seen.size() ? least_families : seen.size();
}

// Half of the distance between the quartiles of a point's runs: the middle one of its errors is as large.
double error_of_measurements(const BuiltModel &built) {
  std::vector<double> noises;
  for (const std::size_t p : built.order) noises.push_back(built.points[p].noise / 2);
  return sextant::quantile(noises, 0.5);
}

// "" while it goes on.
std::string reason_to_stop(const BuiltModel &built, const BuilderSettings &settings, const Design &design,
                           double passed) {
  if (passed > settings.seconds) return fmt::format("the {:g} seconds are over", settings.seconds);
  const std::size_t enough = std::max(least_points, 2 * built.points.front().terms.size() + 1);
  if (settings.all || built.order.size() < enough || families_of(built) < least_families) return "";
  if (built.fit.median_error <= settings.wanted)
    return fmt::format("the cross-validated error is below {:.3g} %", 100 * settings.wanted);
  if (built.fit.median_error <= error_of_measurements(built))
    return "the cross-validated error is no larger than that of the measurements";
  if (design.inflation() <= known_well)
    return fmt::format("more points would lower the error by less than {:.0f} %", 100 * (known_well - 1));
  return "";
}

// A device that failed ends the whole. tried: points before this one.
std::string measured_one(sxt_context *context, const ModelledKernel &kernel, const ModelSet &set,
                         const BuilderSettings &settings, BuiltModel &built, std::size_t p, std::size_t tried) {
  const auto start = Clock::now();
  try {
    std::string problem = measure(context, kernel, set, settings.point_seconds, built.points[p]);
    built.points[p].spent_s = std::chrono::duration<double>(Clock::now() - start).count();
    return problem;
  } catch (const ToolError &error) {
    if (error.exit_code() != exit_device) throw;
    throw ToolError(exit_device,
                    fmt::format("the fit of {} ended after {} of {} points, at {}: {}", kernel.name, tried,
                                built.points.size(), built.points[p].name, error.what()),
                    error.status());
  }
}

}  // namespace

BuiltModel build_model(sxt_context *context, const ModelledKernel &kernel, const ModelSet &set,
                       const BuilderSettings &settings, const std::function<bool()> &interrupted,
                       const AfterRun &after) {
  const auto start = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  BuiltModel built;
  std::string problem;
  std::size_t tried = 0;
  built.points = points_of(context, kernel, set, [&] { return interrupted() || passed() > settings.seconds; });
  const ModelPoint &any = built.points.front();
  built.label = {kernel.name, any.vector_type, any.matrix_type, any.version, any.model_class};
  Design design(built.points, settings.point_seconds);
  built.stopped = "every point of the set was measured";
  while (true) {
    built.next = design.suggestions();
    if (built.next.empty()) break;
    const std::size_t p = built.next.front().point;
    problem = measured_one(context, kernel, set, settings, built, p, tried++);
    if (problem.empty()) {
      built.order.push_back(p);
      built.fit = fit_points(built.points, built.order);
    }
    design.measured(p);
    after(built, built.points[p]);
    if (interrupted()) {
      built.stopped = "cancelled";
      break;
    }
    if (const std::string reason = reason_to_stop(built, settings, design, passed()); !reason.empty()) {
      built.stopped = reason;
      break;
    }
  }
  if (built.order.empty())
    fail(exit_not_solved, "{} could not be measured on any problem of the set: {}", kernel.name, problem);
  built.next = design.suggestions();
  built.seconds = passed();
  return built;
}

}  // namespace tool
