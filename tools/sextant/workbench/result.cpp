// SPDX-License-Identifier: BSD-3-Clause
// Sections of the page, and the tables that several of them have.
#include "workbench/result.hpp"

#include <cmath>
#include <exception>
#include <utility>

#include "report/explanation.hpp"
#include "report/table.hpp"
#include "workbench/html.hpp"

namespace tool {
namespace {

std::string body_of(const Result &result) {
  const Json &data = result.data;
  if (!result.error.empty()) return fmt::format("<p class=\"error\">{}</p>\n", html::escaped(result.error));
  if (data.contains("message")) return html::paragraph(text_of(data, "message"));
  if (data.contains("processes")) return retune_html(data);
  if (data.contains("profile") && data.contains("models")) return calibration_html(data);
  if (data.contains("profile")) return machine_html(data);
  if (data.contains("leaves")) return tree_html(data);
  if (data.contains("regret_geomean")) return verification_html(data);
  if (data.contains("history")) return solver_html(data);
  if (data.contains("candidates")) return explanation_html(data);
  if (data.contains("model")) return model_html(data);
  return html::paragraph("done");
}

std::string article(const Result &result) {
  return fmt::format(
      "<article class=\"result\" data-id=\"{0}\" aria-labelledby=\"r{0}\">\n<h3 id=\"r{0}\">{1}</h3>\n"
      "<p class=\"command\"><code>{2}</code></p>\n{3}</article>\n",
      result.id, html::escaped(result.action), html::escaped(result.command), body_of(result));
}

}  // namespace

std::string percent_text(double share) { return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "-"; }

std::string plan_html(const Json &plan) {
  html::Table table("Plan: the kernel chosen for each part",
                    {{"part"}, {"kernel"}, {"format"}, {"launch", true}, {"set-up", true}, {"run", true}, {"why"}});
  for (const Json *node : plan_nodes(plan))
    table.add({text_of(*node, "role"), text_of(*node, "kernel"), short_format(text_of(*node, "format")),
               launch_text(part(*node, "launch")), seconds_text(number_of(*node, "predicted_setup_s")),
               seconds_text(number_of(*node, "predicted_run_s")), text_of(*node, "reason")});
  return table.empty() ? "" : table.text();
}

std::string candidates_html(const Json &candidates) {
  html::Table table("Candidates: predicted seconds, chosen or why not", {{""},
                                                                         {"part"},
                                                                         {"kernel"},
                                                                         {"format"},
                                                                         {"launch", true},
                                                                         {"set-up", true},
                                                                         {"run", true},
                                                                         {"+-", true},
                                                                         {"memory", true},
                                                                         {"reason"}});
  for (const Json &each : candidates) {
    const bool chosen = part(each, "chosen") == true;
    table.add(
        {chosen ? "chosen" : "", text_of(each, "role"), text_of(each, "kernel"), short_format(text_of(each, "format")),
         launch_text(part(each, "launch")), seconds_text(number_of(each, "predicted_setup_s")),
         seconds_text(number_of(each, "predicted_run_s")), percent_text(number_of(each, "rel_error")),
         bytes_text(number_of(each, "memory_bytes")), text_of(each, "reason")},
        chosen);
  }
  return table.empty() ? "" : table.text();
}

ResultPointer finish(Result result) {
  try {
    result.html = article(result);
  } catch (const std::exception &error) {
    result.error = fmt::format("what the command answered could not be shown: {}", error.what());
    result.html = article(result);
  }
  return std::make_shared<const Result>(std::move(result));
}

}  // namespace tool
