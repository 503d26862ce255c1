// SPDX-License-Identifier: BSD-3-Clause
// View Machine: the device, its profile, the roofline, and what a calibration fitted.
#include <algorithm>
#include <cmath>
#include <map>

#include "report/explanation.hpp"
#include "report/table.hpp"
#include "workbench/html.hpp"
#include "workbench/result.hpp"

namespace tool {
namespace {

std::string age_text(double seconds) {
  if (!std::isfinite(seconds)) return "of unknown age";
  if (seconds < 5400) return fmt::format("{:.0f} minutes old", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.0f} hours old", seconds / 3600);
  return fmt::format("{:.0f} days old", seconds / 86400);
}

// Flops a second over flops a byte: the ceilings as guides, a mark for each kernel and matrix.
std::string roofline(const Json &measured) {
  const double memory = number_of(measured, "memory_bytes_per_s"), flops = number_of(measured, "flops_per_s");
  sextant::Plot plot;
  plot.title = "Roofline: products below what the machine reaches";
  plot.x = {"flops a byte of the least traffic", true};
  plot.y = {"Gflop/s", true};
  sextant::PlotSeries roof;
  roof.name = "what memory and cores reach";
  roof.guide = true;
  for (double x = 1.0 / 32; x <= 32; x *= 2) roof.points.emplace_back(x, std::fmin(memory * x, flops) / 1e9);
  plot.series.push_back(roof);
  std::map<std::string, sextant::PlotSeries> kernels;
  for (const Json &each : part(measured, "products")) {
    sextant::PlotSeries &series = kernels[text_of(each, "kernel")];
    const double done = number_of(each, "flops");
    series.points.emplace_back(done / number_of(each, "bytes"), done / number_of(each, "seconds") / 1e9);
  }
  for (auto &[name, series] : kernels) {
    series.name = name;
    series.line = false;
    series.marks = true;
    plot.series.push_back(series);
  }
  return html::figure(plot);
}

std::string products(const Json &measured) {
  const double memory = number_of(measured, "memory_bytes_per_s");
  html::Table table("Products: y = A x by every kernel that is worth a measurement",
                    {{"matrix"}, {"kernel"}, {"a product", true}, {"Gflop/s", true}, {"of memory bandwidth", true}});
  for (const Json &each : part(measured, "products")) {
    const double seconds = number_of(each, "seconds");
    table.add({text_of(each, "matrix"), text_of(each, "kernel"), seconds_text(seconds),
               fmt::format("{:.2f}", number_of(each, "flops") / seconds / 1e9),
               percent_text(number_of(each, "bytes") / seconds / memory)},
              part(each, "chosen") == true);
  }
  return table.text() +
         html::paragraph(
             "A mark above the roof is a matrix that the caches hold. Marked rows are the library's choice.");
}

}  // namespace

std::string machine_html(const Json &data) {
  const Json &profile = part(data, "profile"), &measured = part(data, "measured");
  std::vector<std::pair<std::string, std::string>> lines = {
      {"device", text_of(data, "device")},
      {"processor", text_of(data, "processor", "-")},
      {"threads", fmt::format("{:.0f}", number_of(data, "threads"))},
      {"last cache", bytes_text(number_of(data, "cache_bytes"))},
      {"kernels loaded", fmt::format("{:.0f} in {:.0f} plugins; {:.0f} refused", number_of(data, "kernels"),
                                     number_of(data, "plugins"), number_of(data, "refused"))},
      {"profile", profile.is_null() ? "none: predictions are analytic until this machine is calibrated"
                                    : text_of(profile, "path") + ", " + age_text(number_of(profile, "age_seconds"))}};
  if (measured.is_null()) return html::facts("This machine", lines);
  lines.emplace_back("memory", bytes_text(number_of(measured, "memory_bytes_per_s")) + "/s (triad)");
  const double flops = number_of(measured, "flops_per_s");
  lines.emplace_back("cores", std::isfinite(flops)
                                  ? fmt::format("{:.3g} Gflop/s (a dense product on one core, times the "
                                                "cores)",
                                                flops / 1e9)
                                  : "-");
  return html::facts("This machine", lines) + roofline(measured) + products(measured);
}

std::string calibration_html(const Json &data) {
  html::Table table("Fitted models", {{"kernel"},
                                      {"types"},
                                      {"class", true},
                                      {"samples", true},
                                      {"median error", true},
                                      {"90 % below", true},
                                      {"form"}});
  for (const Json &model : part(data, "models")) {
    const std::string vectors = text_of(model, "vector_type"), matrix = text_of(model, "matrix_type");
    table.add({text_of(model, "kernel"), matrix.empty() || matrix == vectors ? vectors : vectors + "/" + matrix,
               fmt::format("{:.0f}", number_of(model, "model_class")),
               fmt::format("{:.0f}", number_of(model, "samples")),
               percent_text(number_of(model, "median_relative_error")),
               percent_text(number_of(model, "p90_relative_error")), text_of(model, "form")});
  }
  return html::facts("Calibration", {{"profile", text_of(data, "profile")},
                                     {"seconds", fmt::format("{:.1f}", number_of(data, "seconds"))},
                                     {"stopped early", part(data, "cancelled") == true ? "yes" : "no"}}) +
         table.text();
}

}  // namespace tool
