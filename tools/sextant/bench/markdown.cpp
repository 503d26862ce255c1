// SPDX-License-Identifier: BSD-3-Clause
// Results as a section of a document: machine, date, command, summary, and the library's choice on every case.
#include <cmath>
#include <ctime>
#include <map>

#include "bench/bench.hpp"
#include "report/explanation.hpp"
#include "report/table.hpp"

namespace tool {
namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

std::string percent(double fraction) { return std::isfinite(fraction) ? fmt::format("{:.0f} %", 100 * fraction) : "-"; }

std::string header(const BenchMachine &machine, const std::string &command, const Json &peers) {
  std::string text = fmt::format("{}, {} on {} threads, triad {:.1f} GB/s, last cache {}.\n", today(),
                                 machine.processor.empty() ? "unnamed processor" : machine.processor, machine.threads,
                                 machine.triad * 1e-9, bytes_text(static_cast<double>(machine.cache_bytes)));
  for (const Json &peer : peers) {
    const int threads = peer["threads"].get<int>();
    text += fmt::format("{}: {}, {} thread{}. ", text_of(peer, "name"), text_of(peer, "version"), threads,
                        threads == 1 ? "" : "s");
  }
  return text + fmt::format("\n\n```\n{}\n```\n\n", command);
}

// One line of the table: cells between bars.
std::string line(const std::vector<std::string> &cells) {
  std::string text = "|";
  for (const std::string &cell : cells) text += " " + cell + " |";
  return text + "\n";
}

}  // namespace

std::string BenchReport::markdown(const std::string &command, const Json &peers) const {
  std::string text = header(machine_, command, peers);
  text += line({"choice against", "cases", "geometric mean", "worst", "in"}) + "|---|---:|---:|---:|---|\n";
  for (const Json &entry : summary()) {
    text += line({text_of(entry, "peer"), entry["cases"].dump(), ratio_text(entry["geometric_mean"]),
                  ratio_text(entry["worst"]), text_of(entry, "worst_case")});
  }
  const std::vector<std::string> names = peer_names();
  std::vector<std::string> title = {"case", "kernel chosen", "time", "spread", "traffic bound"};
  title.insert(title.end(), names.begin(), names.end());
  text += "\n" + line(title) + "|---|---|---:|---:|---:|";
  for (std::size_t i = 0; i < names.size(); ++i) text += "---:|";
  text += "\n";
  // The choice's rows of a case follow each other.
  for (std::size_t i = 0; i < rows_.size();) {
    const Json &row = rows_[i];
    if (row["kernel"] != own_choice) {
      ++i;
      continue;
    }
    std::map<std::string, std::string> ratios;
    for (; i < rows_.size() && rows_[i]["case"] == row["case"] && rows_[i]["kernel"] == own_choice; ++i)
      ratios[text_of(rows_[i], "peer")] = rows_[i].value("comparable", true) ? ratio_text(rows_[i]["ratio"]) : "-";
    std::vector<std::string> cells = {text_of(row, "case"), text_of(row, "chosen", "-"), seconds_text(row["seconds"]),
                                      percent(row["spread"].get<double>()), percent(number_of(row, "bound_fraction"))};
    for (const std::string &name : names) cells.push_back(ratios.count(name) ? ratios[name] : "-");
    text += line(cells);
  }
  return text;
}

}  // namespace tool
