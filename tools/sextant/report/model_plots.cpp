// SPDX-License-Identifier: BSD-3-Clause
#include "report/model_plots.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "plot/svg.hpp"
#include "report/error.hpp"
#include "report/output.hpp"

namespace tool {
namespace {

using sextant::Plot;
using sextant::PlotSeries;

constexpr double band = 0.2;                // of the lines beside the diagonal
constexpr std::size_t default_kernels = 4;  // drawn by calibrate when no kernel is named

// Most kernels have the storage they read in their names.
std::string series_name(const sxt_verify_line &line) {
  const std::string kernel = line.kernel, format = line.format;
  const bool named = format.empty() || kernel.find("." + format + ".") != std::string::npos;
  return named ? kernel : fmt::format("{} ({})", kernel, format);
}

PlotSeries guide(const std::string &name, double from, double to, double factor) {
  PlotSeries series;
  series.name = name;
  series.points = {{from, factor * from}, {to, factor * to}};
  series.guide = true;
  return series;
}

// The samples of one model.
using Model = std::pair<std::string, std::vector<ModelSample>>;

std::vector<Model> by_model(const std::vector<ModelSample> &samples) {
  std::map<std::string, std::vector<ModelSample>> models;
  std::map<std::string, std::set<std::int64_t>> classes;
  for (const ModelSample &sample : samples) classes[sample.kernel].insert(sample.model_class);
  for (const ModelSample &sample : samples) {
    std::string name = fmt::format("{}, {}", sample.kernel, sample.types);
    if (classes[sample.kernel].size() > 1) name += fmt::format(", class {}", sample.model_class);
    models[name].push_back(sample);
  }
  return {models.begin(), models.end()};
}

// Of each kernel one model: in double precision if there is one, and with the most samples of those; then the kernels
// that were named, or those with the most samples.
std::vector<Model> chosen(const std::vector<ModelSample> &samples, const std::vector<std::string> &kernels) {
  std::vector<Model> models = by_model(samples);
  std::stable_sort(models.begin(), models.end(), [](const Model &a, const Model &b) {
    const bool double_a = a.second.front().types == "f64", double_b = b.second.front().types == "f64";
    return double_a != double_b ? double_a : a.second.size() > b.second.size();
  });
  std::set<std::string> seen;
  std::erase_if(models, [&](const Model &model) { return !seen.insert(model.second.front().kernel).second; });
  for (const std::string &kernel : kernels)
    if (!seen.contains(kernel))
      fail(exit_usage, "--svg-kernels: {} was not measured; measured: {}", kernel, fmt::join(seen, ", "));
  if (kernels.empty())
    models.resize(std::min(models.size(), default_kernels));
  else
    std::erase_if(models, [&](const Model &model) {
      return std::find(kernels.begin(), kernels.end(), model.second.front().kernel) == kernels.end();
    });
  return models;
}

double middle(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// A model has more terms than the working set: the line goes through the medians of its values in each half octave.
std::vector<std::pair<double, double>> fitted_line(const std::vector<ModelSample> &samples) {
  std::map<int, std::pair<std::vector<double>, std::vector<double>>> bins;
  for (const ModelSample &sample : samples) {
    auto &[sizes, rates] = bins[static_cast<int>(std::floor(2 * std::log2(sample.working_set)))];
    sizes.push_back(sample.working_set);
    rates.push_back(sample.working_set / sample.fitted_s);
  }
  std::vector<std::pair<double, double>> line;
  for (const auto &[bin, both] : bins) line.emplace_back(middle(both.first), middle(both.second));
  return line;
}

}  // namespace

std::string verify_svg(const std::vector<sxt_verify_line> &lines, const std::string &title) {
  Plot plot;
  plot.title = title;
  plot.x = {"measured run (s)", true};
  plot.y = {"predicted run (s)", true};
  plot.width = plot.height = 720;
  std::map<std::string, PlotSeries> kernels;
  double low = INFINITY, high = 0;
  for (const sxt_verify_line &line : lines) {
    if (!line.estimated || !(line.measured_run_s > 0) || !(line.predicted_run_s > 0)) continue;
    PlotSeries &series = kernels[series_name(line)];
    series.points.emplace_back(line.measured_run_s, line.predicted_run_s);
    low = std::min({low, line.measured_run_s, line.predicted_run_s});
    high = std::max({high, line.measured_run_s, line.predicted_run_s});
  }
  if (high > 0) {
    plot.series.push_back(guide("equal, and 20 % more and less", low, high, 1));
    plot.series.push_back(guide("", low, high, 1 + band));
    plot.series.push_back(guide("", low, high, 1 - band));
  }
  for (auto &[name, series] : kernels) {
    series.name = name;
    series.line = false;
    series.marks = true;
    plot.series.push_back(std::move(series));
  }
  return sextant::to_svg(plot);
}

std::string samples_svg(const std::vector<ModelSample> &samples, const std::vector<std::string> &kernels) {
  std::vector<ModelSample> shown = samples;
  std::erase_if(shown, [](const ModelSample &s) { return !(s.working_set > 0 && s.measured_s > 0 && s.fitted_s > 0); });
  Plot plot;
  plot.title = "Measured runs (marks) and fitted models (lines)";
  plot.x = {"working set (bytes)", true};
  plot.y = {"working set / time (bytes/s)", true};
  std::size_t colour = 0;
  for (const auto &[name, its_samples] : chosen(shown, kernels)) {
    PlotSeries marks, line;
    marks.name = name;
    marks.line = false;
    marks.marks = true;
    marks.colour = line.colour = colour++;
    for (const ModelSample &sample : its_samples)
      marks.points.emplace_back(sample.working_set, sample.working_set / sample.measured_s);
    line.points = fitted_line(its_samples);
    plot.series.push_back(std::move(marks));
    plot.series.push_back(std::move(line));
  }
  return sextant::to_svg(plot);
}

}  // namespace tool
