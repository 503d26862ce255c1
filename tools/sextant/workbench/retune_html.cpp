// SPDX-License-Identifier: BSD-3-Clause
// View Choice: the launches of a program under `sextant retune`.
#include "report/explanation.hpp"
#include "report/launches.hpp"
#include "report/table.hpp"
#include "workbench/html.hpp"
#include "workbench/result.hpp"

namespace tool {

std::string retune_html(const Json &data) {
  std::string text = html::facts(
      "Launches", {{"policy", text_of(data, "policy")}, {"dry run", part(data, "dry_run") == true ? "yes" : "no"}});
  for (const Json &process : part(data, "processes")) {
    html::Table table(text_of(process, "program"), {{"kernel"},
                                                    {"launches", true},
                                                    {"changed", true},
                                                    {"threads a block (launches)"},
                                                    {"won", true},
                                                    {"verdict"}});
    for (const Json &kernel : part(process, "kernels"))
      table.add({text_of(kernel, "name"), fmt::format("{:.0f}", number_of(kernel, "launches")),
                 fmt::format("{:.0f}", number_of(kernel, "changed")), shapes_text(kernel),
                 seconds_text(number_of(kernel, "seconds_won")), verdict_text(kernel)},
                number_of(kernel, "changed") > 0);
    text += table.empty() ? html::paragraph("No kernel was launched.") : table.text();
  }
  return text + html::paragraph("Marked rows had launches in another block size.");
}

}  // namespace tool
