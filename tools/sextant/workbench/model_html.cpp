// SPDX-License-Identifier: BSD-3-Clause
// View Model builder: the fit, its residuals, outliers by name, what to measure next, and the formula.
#include <algorithm>
#include <cmath>
#include <functional>

#include "report/explanation.hpp"
#include "report/table.hpp"
#include "workbench/html.hpp"
#include "workbench/result.hpp"

namespace tool {
namespace {

constexpr double outlier = 0.25;
constexpr std::size_t most_outliers = 8;

double residual(const Json &sample) { return number_of(sample, "fitted_s") / number_of(sample, "measured_s") - 1; }

sextant::PlotSeries marks(const std::string &name) {
  sextant::PlotSeries series;
  series.name = name;
  series.line = false;
  series.marks = true;
  return series;
}

std::string fit_figure(const Json &data) {
  sextant::Plot plot;
  plot.title = "Measured runs and what the model says of them";
  plot.x = {"working set (bytes)", true};
  plot.y = {"seconds", true};
  sextant::PlotSeries measured = marks("measured"), fitted = marks("fitted"), before = marks("models in use before"),
                      compared = marks("models of the other profile");
  for (const Json &sample : part(data, "samples")) {
    const double x = number_of(sample, "working_set_bytes");
    measured.points.emplace_back(x, number_of(sample, "measured_s"));
    fitted.points.emplace_back(x, number_of(sample, "fitted_s"));
    before.points.emplace_back(x, number_of(sample, "before_s"));
    compared.points.emplace_back(x, number_of(sample, "compared_s"));
  }
  plot.series = {measured, fitted, before};
  if (part(data, "compared").is_object()) plot.series.push_back(compared);
  return html::figure(plot);
}

// fitted / measured - 1 over one number of the problem; nothing where that is the same for all.
std::string residual_figure(const Json &data, const char *title, const std::function<double(const Json &)> &feature) {
  sextant::Plot plot;
  plot.title = fmt::format("Residuals by {}", title);
  plot.x = {title, true};
  plot.y = {"fitted / measured - 1", false};
  plot.height = 300;
  sextant::PlotSeries points = marks("");
  double least = INFINITY, most = 0;
  for (const Json &sample : part(data, "samples")) {
    const double x = feature(sample);
    points.points.emplace_back(x, residual(sample));
    least = std::min(least, x), most = std::max(most, x);
  }
  if (!(most > least)) return "";
  sextant::PlotSeries zero;
  zero.guide = true;
  zero.points = {{least, 0}, {most, 0}};
  plot.series = {zero, points};
  return html::figure(plot);
}

std::string curve_figure(const Json &data) {
  if (part(data, "curve").size() < 2) return "";
  sextant::Plot plot;
  plot.title = "Error on all measured points, had it stopped after so many";
  plot.x = {"points", false};
  plot.y = {"median relative error", true};
  plot.height = 300;
  sextant::PlotSeries line;
  for (const Json &step : part(data, "curve"))
    line.points.emplace_back(number_of(step, "points"), number_of(step, "median_relative_error"));
  plot.series = {line};
  return html::figure(plot);
}

std::string outliers_html(const Json &data) {
  std::vector<Json> samples;
  for (const Json &sample : part(data, "samples"))
    if (std::abs(residual(sample)) > outlier) samples.push_back(sample);
  std::sort(samples.begin(), samples.end(),
            [](const Json &a, const Json &b) { return std::abs(residual(a)) > std::abs(residual(b)); });
  if (samples.empty()) return html::paragraph("No run is off by more than 25 %.");
  html::Table table("Outliers: runs that the model misses by more than 25 %",
                    {{"problem"}, {"measured", true}, {"fitted", true}, {"off by", true}, {"noise", true}});
  for (const Json &sample : samples) {
    table.add({text_of(sample, "matrix"), seconds_text(number_of(sample, "measured_s")),
               seconds_text(number_of(sample, "fitted_s")), fmt::format("{:+.0f} %", 100 * residual(sample)),
               percent_text(number_of(sample, "noise"))});
    if (&sample - samples.data() + 1 >= static_cast<std::ptrdiff_t>(most_outliers)) break;
  }
  return table.text();
}

std::string form_html(const Json &model) {
  html::Table table(fmt::format("Form: {}; seconds a unit of each term", text_of(model, "form")),
                    {{"term"}, {"seconds"}});
  for (const Json &each : part(model, "coefficients")) {
    std::string values;
    for (const Json &value : part(each, "seconds"))
      values += fmt::format("{}{:.4g}", values.empty() ? "" : ", ", value.get<double>());
    table.add({text_of(each, "term"), values});
  }
  return table.text();
}

std::string next_html(const Json &data) {
  if (part(data, "next").empty()) return "";
  html::Table table("What to measure next: the most gain for its seconds first",
                    {{"problem"}, {"of what is not known", true}, {"seconds, about", true}});
  for (const Json &each : part(data, "next"))
    table.add(
        {text_of(each, "matrix"), percent_text(number_of(each, "gain")), seconds_text(number_of(each, "seconds"))});
  return table.text();
}

std::string formula(const Json &data, const char *key, const char *title) {
  return fmt::format("<details><summary>{}</summary><pre tabindex=\"0\">{}</pre></details>\n", title,
                     html::escaped(text_of(data, key)));
}

std::string errors_text(const Json &errors) {
  return percent_text(number_of(errors, "median_relative_error")) + " (median), 90 % below " +
         percent_text(number_of(errors, "p90_relative_error"));
}

std::string facts_html(const Json &data) {
  std::vector<std::pair<std::string, std::string>> lines = {
      {"kernel", fmt::format("{}, {}, class {:.0f}", text_of(data, "kernel"), text_of(data, "vector_type"),
                             number_of(data, "model_class"))},
      {"measured",
       fmt::format("{:.0f} of {:.0f} points in {}; stopped: {}", number_of(data, "measured_points"),
                   number_of(data, "set_points"), seconds_text(number_of(data, "seconds")), text_of(data, "stopped"))},
      {"error, cross-validated", errors_text(part(data, "model"))},
      {"error of the models in use before", errors_text(part(data, "before"))}};
  if (const Json &few = part(part(data, "enough"), "within_cross_validated"); few.is_object())
    lines.emplace_back("enough, as suggested",
                       fmt::format("the first {:.0f} points ({:.0f} %) stay within 1.1 times the error of all",
                                   number_of(few, "points"), 100 * number_of(few, "share")));
  if (const Json &compared = part(data, "compared"); compared.is_object())
    lines.emplace_back("error of the models of " + text_of(compared, "profile"), errors_text(compared));
  return html::facts("Fitted model", lines);
}

}  // namespace

std::string model_html(const Json &data) {
  return facts_html(data) + form_html(part(data, "model")) + fit_figure(data) + outliers_html(data) +
         residual_figure(data, "working set (bytes)", [](const Json &s) { return number_of(s, "working_set_bytes"); }) +
         residual_figure(data, "rows", [](const Json &s) { return number_of(s, "rows"); }) +
         residual_figure(data, "entries a row",
                         [](const Json &s) { return number_of(s, "entries") / number_of(s, "rows"); }) +
         curve_figure(data) + next_html(data) + formula(data, "toml", "As an entry of a profile (TOML)") +
         formula(data, "c", "As a C function") + formula(data, "python", "As a Python function");
}

}  // namespace tool
