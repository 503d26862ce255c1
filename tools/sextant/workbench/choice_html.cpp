// SPDX-License-Identifier: BSD-3-Clause
// View Choice: decision trees, every candidate of a matrix, and what the choices cost where they were measured.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "plot/shapes.hpp"
#include "report/explanation.hpp"
#include "report/table.hpp"
#include "workbench/html.hpp"
#include "workbench/result.hpp"

namespace tool {
namespace {

std::string pattern_html(const Json &pattern) {
  if (pattern.is_null()) return "";
  std::vector<std::string> cells;
  for (const Json &line : part(pattern, "cells"))
    if (line.is_string()) cells.push_back(line.get<std::string>());
  sextant::Plot plot;
  plot.title = "Lengths of rows";
  plot.x = {"entries of a row", false};
  plot.y = {"rows", true};
  plot.height = 300;
  sextant::PlotSeries bars;
  bars.marks = true;
  for (const Json &bin : part(pattern, "row_lengths")) {
    const double least = bin[0], most = bin[1], rows = bin[2];
    if (rows <= 0) continue;
    bars.points.emplace_back(least - 0.5, rows);
    bars.points.emplace_back(most + 0.5, rows);
  }
  plot.series.push_back(bars);
  return html::drawing("Where the entries lie", sextant::cells_svg("Where the entries lie (darker: more)", cells)) +
         html::figure(plot);
}

// A measured candidate, with its total at `applies` products.
struct Line {
  std::string kernel;
  double predicted, measured;  // totals
  bool chosen;
};

// Totals as the choice sees them. A candidate without a model cannot be chosen by its prediction.
std::vector<Line> lines_of(const Json &matrix, double applies) {
  std::vector<Line> lines;
  for (const Json &each : part(matrix, "candidates"))
    lines.push_back({text_of(each, "kernel"),
                     number_of(each, "predicted_setup_s") + applies * number_of(each, "predicted_run_s"),
                     number_of(each, "measured_setup_s") + applies * number_of(each, "measured_run_s"),
                     part(each, "chosen") == true});
  return lines;
}

// Measured total of the candidate with the least predicted one, without this kernel.
std::optional<double> without(const std::vector<Line> &lines, const std::string &kernel) {
  const Line *best = nullptr;
  for (const Line &line : lines)
    if (line.kernel != kernel && std::isfinite(line.predicted) && (!best || line.predicted < best->predicted))
      best = &line;
  return best ? std::optional(best->measured) : std::nullopt;
}

// For each kernel that was chosen somewhere: how much slower those matrices would be without it.
std::string what_if(const Json &data, double applies) {
  struct Loss {
    double logs = 0, worst = 0;
    int matrices = 0, alone = 0;
  };
  std::map<std::string, Loss> losses;
  for (const Json &matrix : part(data, "matrices")) {
    const std::vector<Line> lines = lines_of(matrix, applies);
    const auto chosen = std::find_if(lines.begin(), lines.end(), [](const Line &line) { return line.chosen; });
    if (chosen == lines.end()) continue;
    Loss &loss = losses[chosen->kernel];
    const std::optional<double> other = without(lines, chosen->kernel);
    if (!other) {
      ++loss.alone;
      continue;
    }
    ++loss.matrices;
    loss.logs += std::log(*other / chosen->measured);
    loss.worst = std::max(loss.worst, *other / chosen->measured);
  }
  html::Table table("What if this kernel did not exist: measured time of the next choice over that of this one",
                    {{"kernel"}, {"chosen for", true}, {"geometric mean", true}, {"most", true}, {"no other", true}});
  for (const auto &[kernel, loss] : losses)
    table.add({kernel, std::to_string(loss.matrices + loss.alone),
               loss.matrices ? fmt::format("{:.2f}", std::exp(loss.logs / loss.matrices)) : "-",
               loss.matrices ? fmt::format("{:.2f}", loss.worst) : "-", std::to_string(loss.alone)});
  return table.text();
}

// The chosen kernel over rows and entries a row.
std::string map_of(const Json &data) {
  sextant::Plot plot;
  plot.title = "Which kernel where";
  plot.x = {"rows", true};
  plot.y = {"entries a row", true};
  std::map<std::string, sextant::PlotSeries> kernels;
  for (const Json &matrix : part(data, "matrices")) {
    const double rows = number_of(matrix, "rows");
    kernels[text_of(matrix, "chosen", "none")].points.emplace_back(rows, number_of(matrix, "nnz") / rows);
  }
  for (auto &[name, series] : kernels) {
    series.name = name;
    series.line = false;
    series.marks = true;
    plot.series.push_back(series);
  }
  return html::figure(plot);
}

std::string matrices_html(const Json &data) {
  html::Table table("Matrices: the choice, and its regret (measured time over that of the best, set-up counted)",
                    {{"matrix"}, {"rows", true}, {"entries", true}, {"type"}, {"chosen"}, {"regret", true}});
  for (const Json &matrix : part(data, "matrices"))
    table.add({text_of(matrix, "path"), count_text(static_cast<std::int64_t>(number_of(matrix, "rows"))),
               count_text(static_cast<std::int64_t>(number_of(matrix, "nnz"))), text_of(matrix, "value_type"),
               text_of(matrix, "chosen", "-"), fmt::format("{:.2f}", number_of(matrix, "regret"))});
  return table.text();
}

}  // namespace

std::string explanation_html(const Json &data) {
  const Json &matrix = part(data, "matrix");
  std::vector<std::pair<std::string, std::string>> lines = {
      {"operation", text_of(data, "op")},
      {"matrix",
       fmt::format("{}: {:.0f} x {:.0f}, {:.0f} entries, {}", text_of(matrix, "path"), number_of(matrix, "rows"),
                   number_of(matrix, "cols"), number_of(matrix, "nnz"), text_of(matrix, "symmetry"))},
      {"device", text_of(data, "device")}};
  for (const Json &note : part(data, "notes"))
    if (note.is_string()) lines.emplace_back("note", note.get<std::string>());
  html::Table features("Features of the matrix", {{"feature"}, {"value", true}});
  for (const auto &[name, value] : part(data, "features").items())
    features.add({name, value.is_number() ? fmt::format("{:.6g}", value.get<double>()) : "-"});
  return html::facts("Choice for a matrix", lines) + pattern_html(part(data, "pattern")) +
         plan_html(part(data, "plan")) + candidates_html(part(data, "candidates")) +
         "<details><summary>Features</summary>" + features.text() + "</details>\n";
}

std::string tree_html(const Json &data) {
  sextant::Plot plot;
  plot.title = fmt::format("Decision tree of {}, {}", text_of(data, "operation"), text_of(data, "value_type"));
  plot.x = {"n", true};
  plot.y = {"predicted seconds", true};
  html::Table table(plot.title,
                    {{"n from", true}, {"to", true}, {"kernel"}, {"launch", true}, {"predicted there", true}});
  std::map<std::string, std::size_t> colours;
  for (const Json &leaf : part(data, "leaves")) {
    const std::string kernel = text_of(leaf, "kernel");
    const bool first_of_kernel = !colours.contains(kernel);
    const std::size_t colour = colours.try_emplace(kernel, colours.size()).first->second;
    const double first = number_of(leaf, "first"), last = number_of(leaf, "last");
    sextant::PlotSeries series;
    series.name = first_of_kernel ? kernel : "";
    series.colour = colour;
    series.points = {{first, number_of(leaf, "predicted_run_s")}, {last, number_of(leaf, "predicted_run_s_at_last")}};
    plot.bands.push_back({first, last, plot.series.size()});
    plot.series.push_back(series);
    table.add({count_text(static_cast<std::int64_t>(first)), count_text(static_cast<std::int64_t>(last)), kernel,
               launch_text(part(leaf, "launch")), seconds_text(number_of(leaf, "predicted_run_s"))});
  }
  return html::figure(plot) + table.text();
}

std::string verification_html(const Json &data) {
  html::Table kernels(
      "Kernels: predicted against measured",
      {{"kernel"}, {"candidates", true}, {"median error", true}, {"90 % below", true}, {"noise", true}});
  for (const Json &each : part(data, "kernels"))
    kernels.add({text_of(each, "kernel"), fmt::format("{:.0f}", number_of(each, "candidates")),
                 percent_text(number_of(each, "median_relative_error")),
                 percent_text(number_of(each, "p90_relative_error")), percent_text(number_of(each, "noise_median"))});
  const double applies = number_of(data, "applies");
  return html::facts("Choices, measured",
                     {{"products each", fmt::format("{:g}", applies)},
                      {"regret", fmt::format("{:.3f} on average (geometric), {:.2f} at worst",
                                             number_of(data, "regret_geomean"), number_of(data, "regret_max"))},
                      {"within 3 % of the best", percent_text(number_of(data, "top1_accuracy"))},
                      {"error of predictions", percent_text(number_of(data, "median_relative_error")) + " (median)"}}) +
         map_of(data) + matrices_html(data) + what_if(data, applies) + kernels.text();
}

}  // namespace tool
