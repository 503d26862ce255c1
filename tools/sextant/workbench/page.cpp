// SPDX-License-Identifier: BSD-3-Clause
#include "workbench/page.hpp"

#include <sys/random.h>

#include <cstdint>
#include <map>

#include "report/embedded.hpp"
#include "sextant/sextant.h"
#include "workbench/html.hpp"

namespace tool {
namespace {

std::string form_text(const std::string &view) {
  return filled_in(embedded("form_" + view + ".html"), {{"MATRIX", std::string(embedded("matrix.html"))},
                                                        {"DEVICE", std::string(embedded("device.html"))}});
}

std::string section(const View &view, const std::string &inside) {
  return fmt::format("<section id=\"{0}\" aria-label=\"{1}\">\n<h2>{1}</h2>\n{2}</section>\n", view.name, view.title,
                     inside);
}

std::string tabs() {
  std::string out;
  for (const View &view : workbench_views)
    out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", view.name, view.title);
  return out;
}

std::string page(const std::string &title, const std::string &about, const std::string &sections,
                 const std::string &nonce, bool live) {
  std::string script = std::string(embedded("charts.js")) + std::string(embedded("tabs.js"));
  if (live) script += embedded("live.js");
  const std::string policy =
      fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", content_policy(nonce, live));
  return filled_in(embedded("page.html"), {{"TITLE", html::escaped(title)},
                                           {"ABOUT", html::escaped(about)},
                                           {"POLICY", live ? "" : policy},
                                           {"NONCE", nonce},
                                           {"STYLE", std::string(embedded("page.css"))},
                                           {"LIVE", live ? "true" : "false"},
                                           {"TABS", tabs()},
                                           {"SECTIONS", sections},
                                           {"CHARTS", std::string(embedded("chart.min.js"))},
                                           {"SCRIPT", script}});
}

}  // namespace

std::string random_letters(std::size_t bits) {
  constexpr const char *digits = "0123456789abcdef";
  std::string out;
  while (4 * out.size() < bits) {
    std::uint8_t byte = 0;
    if (getrandom(&byte, 1, 0) != 1) continue;
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

std::string content_policy(const std::string &nonce, bool live) {
  // frame-ancestors counts in a header alone.
  return fmt::format(
      "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; img-src data:; base-uri 'none'; "
      "form-action 'none'{1}",
      nonce, live ? "; connect-src 'self'; frame-ancestors 'none'" : "");
}

std::string live_page(const std::string &nonce) {
  std::string sections;
  for (const View &view : workbench_views)
    sections += section(view, form_text(view.name) + "<div class=\"results\"></div>\n");
  return page("Sextant workbench", fmt::format("version {}", sxt_version_string()), sections, nonce, true);
}

std::string report_page(const std::vector<ResultPointer> &results, const std::string &title) {
  std::string sections;
  for (const View &view : workbench_views) {
    std::string inside;
    for (const ResultPointer &result : results)
      if (result->view == view.name) inside += result->html;
    if (view.name == std::string("report"))
      inside = html::paragraph(
          fmt::format("{} results of sextant {}. Below each title stands the command that gives the same.",
                      results.size(), sxt_version_string()));
    if (inside.empty()) inside = html::paragraph("Nothing of this was measured.");
    sections += section(view, inside);
  }
  return page(title, fmt::format("version {}", sxt_version_string()), sections, random_letters(128), false);
}

}  // namespace tool
