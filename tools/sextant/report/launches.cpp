// SPDX-License-Identifier: BSD-3-Clause
#include "report/launches.hpp"

#include <cmath>

#include "report/explanation.hpp"
#include "report/table.hpp"
#include "workbench/result.hpp"

namespace tool {
namespace {

constexpr std::size_t most_name = 60;

std::string short_name(const std::string &name) {
  return name.size() <= most_name ? name : name.substr(0, most_name - 3) + "...";
}

std::string process_text(const Json &process) {
  Table table({{"kernel"}, {"launches", true}, {"changed", true}, {"block"}, {"won", true}, {"verdict"}});
  for (const Json &kernel : part(process, "kernels"))
    table.add({short_name(text_of(kernel, "name")), fmt::format("{:.0f}", number_of(kernel, "launches")),
               fmt::format("{:.0f}", number_of(kernel, "changed")), shapes_text(kernel),
               seconds_text(number_of(kernel, "seconds_won")), verdict_text(kernel)});
  std::string text = fmt::format("{} (process {:.0f})\n", text_of(process, "program"), number_of(process, "process"));
  if (table.empty())
    text += "  no launch of a kernel that is known\n";
  else
    text += table.text(2);
  if (const double unknown = number_of(process, "unknown_launches"); unknown > 0)
    text += fmt::format("  {:.0f} launches of kernels whose module was not seen loading: left as they were\n", unknown);
  return text;
}

}  // namespace

std::string verdict_text(const Json &kernel) {
  std::string text = text_of(kernel, "status");
  if (const double line = number_of(kernel, "line"); std::isfinite(line)) text += fmt::format(", line {:.0f}", line);
  if (const std::string reason = text_of(kernel, "reason"); !reason.empty()) text += ": " + reason;
  if (part(kernel, "order_free_sums") == true) text += "; adds floating-point numbers atomically, in any order";
  return text;
}

std::string shapes_text(const Json &kernel) {
  std::string text;
  for (const Json &shape : part(kernel, "shapes")) {
    const double original = number_of(shape, "original"), chosen = number_of(shape, "chosen");
    text += fmt::format("{}{:.0f}", text.empty() ? "" : ", ", original);
    if (chosen != original) text += fmt::format(" -> {:.0f}", chosen);
    text += fmt::format(" ({:.0f})", number_of(shape, "launches"));
  }
  return text.empty() ? "-" : text;
}

std::string launches_text(const Json &report) {
  std::string text = fmt::format("policy {}{}\n", text_of(report, "policy"),
                                 part(report, "dry_run") == true ? ", dry run: no launch was changed" : "");
  for (const Json &process : part(report, "processes")) text += process_text(process);
  if (part(report, "processes").empty())
    text += "no process that loaded CUDA modules ended normally: there is nothing to report\n";
  return text;
}

}  // namespace tool
