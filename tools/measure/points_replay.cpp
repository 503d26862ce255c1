// SPDX-License-Identifier: BSD-3-Clause
// How many suggested points are enough, on sets of points that were measured before: no measurement disturbs the order.
//
// points_replay FILE[,FILE...] ...
//
// Files are what `sextant model KERNEL --points all --json` printed; those joined by commas are rounds of one set, of
// which each point keeps its least time, as other work only adds to it. Prints a row of a Markdown table for each set.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>

#include "model/curve.hpp"
#include "model/suggest.hpp"

namespace {

using Json = nlohmann::json;
using tool::ModelPoint;

constexpr double tolerated = 1.1;         // times the error of the whole set
constexpr double measure_seconds = 0.03;  // of one point, as the command has it
constexpr int shuffles = 8;

Json read(const std::string &path) {
  std::ifstream file(path);
  Json json = Json::parse(file, nullptr, false);
  if (!json.is_object() || !json.contains("samples"))
    throw std::runtime_error(path + ": is no output of sextant model --json");
  return json;
}

ModelPoint point_of(const Json &sample, const std::vector<std::string> &terms) {
  ModelPoint point;
  point.name = sample["matrix"];
  point.terms = terms;
  point.analytic = sample["analytic_s"].get<std::vector<double>>();
  point.sample.family = sample["family"];
  point.sample.working_set = sample["working_set_bytes"];
  point.sample.seconds = sample["measured_s"];
  point.sample.entries = sample["entries"];
  for (std::size_t j = 0; j < terms.size(); ++j) point.sample.terms[j] = sample["terms"][terms[j]];
  point.before_s = sample["before_s"].is_number() ? sample["before_s"].get<double>() : 0;
  point.spent_s = sample["spent_s"];
  point.measured = true;
  return point;
}

// The points of a set, in an order that has nothing to do with that of their measurement.
std::vector<ModelPoint> set_of(const std::string &paths, std::string &kernel) {
  std::vector<ModelPoint> points;
  std::istringstream names(paths);
  for (std::string path; std::getline(names, path, ',');) {
    const Json json = read(path);
    std::vector<std::string> terms;
    for (const Json &each : json["model"]["coefficients"]) terms.push_back(each["term"]);
    const bool first = points.empty();
    std::map<std::string, double> seconds;
    for (const Json &sample : json["samples"]) {
      seconds[sample["matrix"]] = sample["measured_s"];
      if (first) points.push_back(point_of(sample, terms));
    }
    for (ModelPoint &point : points)
      if (const auto again = seconds.find(point.name); again != seconds.end())
        point.sample.seconds = std::min(point.sample.seconds, again->second);
    kernel = json["kernel"].get<std::string>() + ", " + json["vector_type"].get<std::string>();
  }
  std::stable_sort(points.begin(), points.end(), [](const ModelPoint &a, const ModelPoint &b) {
    return std::pair(a.sample.family, a.sample.working_set) < std::pair(b.sample.family, b.sample.working_set);
  });
  return points;
}

std::vector<std::size_t> suggested(const std::vector<ModelPoint> &points) {
  tool::Design design(points, measure_seconds);
  std::vector<std::size_t> order;
  for (auto next = design.suggestions(); !next.empty(); next = design.suggestions()) {
    order.push_back(next.front().point);
    design.measured(order.back());
  }
  return order;
}

// What is enough in this order, as parts of all points and of their seconds; 1 where even all are not.
struct Enough {
  double points = 1, seconds = 1;
};
Enough enough(const std::vector<ModelPoint> &points, const std::vector<std::size_t> &order, double error) {
  const std::vector<tool::CurveStep> curve = tool::curve_of(points, order);
  const tool::CurveStep *step = tool::enough(curve, tolerated * error);
  if (!step) return {};
  return {static_cast<double>(step->points) / static_cast<double>(points.size()), step->seconds / curve.back().seconds};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return 0.5 * (values[(values.size() - 1) / 2] + values[values.size() / 2]);
}

std::string text_of(std::vector<Enough> all) {
  std::vector<double> points, seconds;
  for (const Enough &each : all) points.push_back(each.points), seconds.push_back(each.seconds);
  char text[64];
  std::snprintf(text, sizeof text, "%.0f %% | %.0f %%", 100 * median(points), 100 * median(seconds));
  return text;
}

void print_row(const std::string &paths) {
  std::string kernel;
  const std::vector<ModelPoint> points = set_of(paths, kernel);
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  const double error = tool::fit_points(points, order).median_error;
  const std::string few = text_of({enough(points, suggested(points), error)});
  std::vector<Enough> by_chance;
  for (unsigned seed = 1; seed <= shuffles; ++seed) {
    std::mt19937 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    by_chance.push_back(enough(points, order, error));
  }
  std::printf("| %s | %zu | %.1f %% | %s | %s |\n", kernel.c_str(), points.size(), 100 * error, few.c_str(),
              text_of(by_chance).c_str());
}

}  // namespace

int main(int count, char **arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: points_replay FILE[,FILE...] ...\n");
    return 2;
  }
  try {
    std::printf(
        "| kernel | points | set's error, cross-validated | enough, suggested | enough, by chance (median) |\n");
    std::printf("|---|--:|--:|--:|--:|\n");
    for (int i = 1; i < count; ++i) print_row(arguments[i]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "points_replay: %s\n", error.what());
    return 1;
  }
  return 0;
}
