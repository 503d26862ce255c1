// SPDX-License-Identifier: BSD-3-Clause
// View Generate: the plan, predicted against measured, convergence, where an iteration's time goes, and the files.
#include <algorithm>
#include <cmath>

#include "plot/shapes.hpp"
#include "report/explanation.hpp"
#include "report/shell.hpp"
#include "report/table.hpp"
#include "sextant/plugin/kinds/pcg.h"
#include "workbench/html.hpp"
#include "workbench/result.hpp"

namespace tool {
namespace {

std::string times(const Json &data) {
  html::Table table("Predicted against measured",
                    {{""}, {"predicted", true}, {"measured", true}, {"measured / predicted", true}});
  const auto add = [&](const char *name, double predicted, double measured) {
    table.add({name, seconds_text(predicted), seconds_text(measured),
               predicted > 0 ? fmt::format("{:.2f}", measured / predicted) : "-"});
  };
  add("set-up", number_of(data, "predicted_setup_seconds"), number_of(data, "measured_setup_seconds"));
  add("an iteration", number_of(data, "predicted_iteration_seconds"), number_of(data, "measured_iteration_seconds"));
  add("a true residual", number_of(data, "predicted_residual_seconds"), number_of(data, "measured_residual_seconds"));
  add("a solve", number_of(data, "predicted_solve_seconds"), number_of(data, "measured_solve_seconds"));
  const double predicted = number_of(data, "predicted_iterations"), taken = number_of(data, "iterations");
  table.add({"iterations", fmt::format("{:.0f}", predicted), fmt::format("{:.0f}", taken),
             predicted > 0 ? fmt::format("{:.2f}", taken / predicted) : "-"});
  return table.text();
}

std::string convergence(const Json &data) {
  sextant::Plot plot;
  plot.title = "Convergence";
  plot.x = {"iteration", false};
  plot.y = {"residual norm of the recurrence", true};
  sextant::PlotSeries line;
  for (const Json &point : part(data, "history"))
    line.points.emplace_back(point[0].get<double>(), point[1].get<double>());
  plot.series.push_back(line);
  return html::figure(plot);
}

sextant::Share share(const std::string &name, double seconds) {
  return {name + ", " + seconds_text(seconds), seconds, {}};
}

// The measured solve, and within an iteration the parts as they were predicted, which the measured one is divided by.
std::string where_time_goes(const Json &data) {
  const double solve = number_of(data, "measured_solve_seconds"),
               iteration = number_of(data, "measured_iteration_seconds");
  const double iterations = number_of(data, "iterations"), residuals = number_of(data, "confirmations");
  const double predicted = number_of(data, "predicted_iteration_seconds");
  sextant::Share whole = share("one solve", solve);
  sextant::Share loop = share(fmt::format("{:.0f} iterations", iterations), iterations * iteration);
  const Json *engine = find_kind(part(data, "plan"), SXT_KIND_PCG);
  double told = 0;
  for (const Json &each : engine ? part(*engine, "parts") : Json()) {
    const double run = number_of(each, "predicted_run_s");
    if (!(run > 0) || !(predicted > 0)) continue;
    loop.parts.push_back(share(text_of(each, "kernel"), iterations * iteration * std::min(1.0, run / predicted)));
    told += run;
  }
  if (predicted > told)
    loop.parts.push_back(share(engine ? text_of(*engine, "kernel") + " itself" : "the engine itself",
                               iterations * iteration * (1 - told / predicted)));
  whole.parts.push_back(loop);
  const double truth = residuals * number_of(data, "measured_residual_seconds");
  whole.parts.push_back(share("true residuals", truth));
  whole.parts.push_back(share("the rest", solve - iterations * iteration - truth));
  return html::drawing(
      "Where the time of a solve goes",
      sextant::shares_svg("Where the time goes (second row measured, parts of an iteration as predicted)", whole));
}

std::string files(const Json &data) {
  if (part(data, "files").empty()) return "";
  std::string out =
      "<p>Program in <code>" + html::escaped(text_of(data, "directory")) + "</code>:</p>\n<ul class=\"files\">\n";
  for (const Json &name : part(data, "files"))
    if (name.is_string())
      out += fmt::format("<li><a data-file=\"{0}\">{0}</a></li>\n", html::escaped(name.get<std::string>()));
  const std::string folder = html::escaped(shell_word(text_of(data, "directory")));
  return out + fmt::format(
                   "</ul>\n<p class=\"command\"><code>cmake -S {0} -B {0}/build &amp;&amp; cmake --build {0}/build "
                   "&amp;&amp; {0}/build/solve {0}</code></p>\n",
                   folder);
}

}  // namespace

std::string solver_html(const Json &data) {
  const Json &matrix = part(data, "matrix");
  return html::facts(
             "Generated solver",
             {{"matrix", fmt::format("{}: {:.0f} x {:.0f}, {:.0f} entries", text_of(matrix, "path"),
                                     number_of(matrix, "rows"), number_of(matrix, "cols"), number_of(matrix, "nnz"))},
              {"right-hand side", text_of(data, "rhs")},
              {"answer", fmt::format("{} after {:.0f} iterations, |b - A x| / |b| = {:.3e}", text_of(data, "reason"),
                                     number_of(data, "iterations"), number_of(data, "true_relative_residual"))},
              {"a solve",
               fmt::format("{} (the median of {:.0f})", seconds_text(number_of(data, "measured_solve_seconds")),
                           number_of(data, "repeats"))}}) +
         files(data) + times(data) + convergence(data) + where_time_goes(data) + plan_html(part(data, "plan")) +
         candidates_html(part(data, "candidates"));
}

}  // namespace tool
