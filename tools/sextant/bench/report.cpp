// SPDX-License-Identifier: BSD-3-Clause
// A row is one kernel against one peer on one case. Tables show a case's kernel once, with a column for each peer.
#include "bench/report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "bench/bench.hpp"
#include "report/explanation.hpp"
#include "report/table.hpp"

namespace tool {
namespace {

constexpr const char *best_name = "best";
constexpr const char *fastest_name = "fastest kernel";

Json positive(double value) { return value > 0 && std::isfinite(value) ? Json(value) : Json(); }

// The share of the triad's bandwidth that the kernel reaches on its own storage.
Json bound_fraction(const Contender &contender, double bytes, const BenchMachine &machine) {
  const double own = contender.bytes > 0 ? contender.bytes : bytes;
  return positive(machine.triad > 0 ? own / machine.triad / contender.seconds : 0);
}

// Ratios of one kernel against one peer.
struct Ratios {
  double log_sum = 0, worst = std::numeric_limits<double>::infinity();
  int cases = 0;
  std::string worst_case;
  void add(double ratio, const std::string &name) {
    log_sum += std::log(ratio);
    ++cases;
    if (ratio < worst) {
      worst = ratio;
      worst_case = name;
    }
  }
};

// Data of one case for the summary.
struct CaseTimes {
  double choice = 0, best = std::numeric_limits<double>::infinity(), fastest = best;
};

bool comparable(const Json &row) { return !row.contains("comparable") || row["comparable"].get<bool>(); }

}  // namespace

std::string ratio_text(const Json &value) {
  return value.is_number() && std::isfinite(value.get<double>()) ? fmt::format("{:.2f}", value.get<double>()) : "-";
}

std::string BenchReport::case_name(const std::string &name) {
  const int before = named_[name]++;
  return before == 0 ? name : fmt::format("{} ({})", name, before + 1);
}

void BenchReport::add_row(const std::string &name, const Contender &ours, const Contender &peer, double bytes,
                          const Json &extra) {
  Json row;
  row["suite"] = suite_;
  row["case"] = name;
  row["kernel"] = ours.name;
  row["seconds"] = ours.seconds;
  row["peer"] = peer.name;
  row["peer_seconds"] = peer.seconds;
  row["ratio"] = peer.seconds / ours.seconds;
  row["spread"] = ours.spread;
  row["peer_spread"] = peer.spread;
  row["setup_seconds"] = ours.setup_seconds;
  row["peer_setup_seconds"] = peer.setup_seconds;
  row["gb_per_s"] = (bytes > 0 ? bytes : ours.bytes) / ours.seconds * 1e-9;
  row["bytes"] = ours.bytes > 0 ? ours.bytes : bytes;
  row["bound_fraction"] = bound_fraction(ours, bytes, machine_);
  row["peer_bound_fraction"] = bound_fraction(peer, bytes, machine_);
  row["predicted_seconds"] = positive(ours.predicted_seconds);
  row["predicted_over_measured"] = positive(ours.predicted_seconds / ours.seconds);
  row["result_error"] = ours.result_error;
  row["peer_result_error"] = peer.result_error;
  row.update(extra);
  if (ours.details) row.update(ours.details());
  if (peer.details) {
    const Json details = peer.details();
    for (const auto &[key, value] : details.items()) row["peer_" + key] = value;
  }
  // If either solve did not converge, the two did different work.
  if (row.contains("converged")) row["comparable"] = row["converged"] == true && row["peer_converged"] == true;
  rows_.push_back(std::move(row));
}

void BenchReport::add(const std::string &name, const std::vector<Contender> &contenders, double bytes,
                      const Json &extra) {
  for (const Contender &contender : contenders) {
    if (contender.failure.empty()) continue;
    failed_.push_back(
        {{"case", name}, {"kernel", contender.name}, {"peer", contender.peer}, {"reason", contender.failure}});
  }
  for (const Contender &ours : contenders) {
    if (ours.peer || !ours.failure.empty()) continue;
    for (const Contender &peer : contenders) {
      if (peer.peer && peer.failure.empty()) add_row(name, ours, peer, bytes, extra);
    }
  }
}

void BenchReport::fail(const std::string &name, const std::string &kernel, const std::string &reason) {
  failed_.push_back({{"case", name}, {"kernel", kernel}, {"peer", false}, {"reason", reason}});
}

void BenchReport::skip(const std::string &name, const std::string &kernel, const std::string &reason) {
  skipped_.push_back({{"case", name}, {"kernel", kernel}, {"reason", reason}});
}

bool BenchReport::all_good() const {
  bool good = true;
  for (const Json &failed : failed_) {
    message(fmt::format("{}: {} is not measured: {}", text_of(failed, "case"), text_of(failed, "kernel"),
                        text_of(failed, "reason")));
    // A peer that fails is reported and left out of the comparison; it does not change the exit code.
    good = good && failed["peer"].get<bool>();
  }
  return good;
}

std::vector<std::string> BenchReport::peer_names() const {
  std::vector<std::string> names;
  for (const Json &row : rows_) {
    const std::string name = text_of(row, "peer");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

Json BenchReport::summary() const {
  std::map<std::string, Ratios> by_peer;
  std::map<std::string, CaseTimes> cases;
  for (const Json &row : rows_) {
    if (!comparable(row)) continue;
    const std::string name = text_of(row, "case");
    CaseTimes &times = cases[name];
    const double seconds = row["seconds"].get<double>(), peer = row["peer_seconds"].get<double>();
    if (text_of(row, "peer") != "textbook") times.best = std::min(times.best, peer);
    if (row["kernel"] == own_choice) {
      times.choice = seconds;
      by_peer[text_of(row, "peer")].add(peer / seconds, name);
    } else {
      times.fastest = std::min(times.fastest, seconds);
    }
  }
  for (const auto &[name, times] : cases) {
    if (times.choice <= 0) continue;
    if (std::isfinite(times.best)) by_peer[best_name].add(times.best / times.choice, name);
    if (std::isfinite(times.fastest)) by_peer[fastest_name].add(times.fastest / times.choice, name);
  }
  Json list = Json::array();
  for (const auto &[peer, ratios] : by_peer) {
    list.push_back({{"kernel", own_choice},
                    {"peer", peer},
                    {"cases", ratios.cases},
                    {"geometric_mean", std::exp(ratios.log_sum / ratios.cases)},
                    {"worst", ratios.worst},
                    {"worst_case", ratios.worst_case}});
  }
  return list;
}

std::string BenchReport::summary_table() const {
  Table table({{"choice against"}, {"cases", true}, {"geometric mean", true}, {"worst", true}, {"in"}});
  for (const Json &line : summary()) {
    table.add({line["peer"], line["cases"].dump(), ratio_text(line["geometric_mean"]), ratio_text(line["worst"]),
               line["worst_case"]});
  }
  return table.empty() ? "" : table.text();
}

std::string BenchReport::table() const {
  const std::vector<std::string> peers = peer_names();
  std::vector<Table::Column> columns = {{"case"},         {"kernel"},     {"set-up", true}, {"time", true},
                                        {"spread", true}, {"GB/s", true}, {"bound", true},  {"pred/meas", true}};
  for (const std::string &peer : peers) columns.push_back({fmt::format("{} ratio", peer), true});
  Table table(columns);
  // Rows of one kernel on one case follow each other, one for each peer that succeeded.
  for (std::size_t i = 0; i < rows_.size();) {
    const Json &row = rows_[i];
    const double bound = number_of(row, "bound_fraction");
    std::vector<std::string> cells = {row["case"],
                                      row["kernel"],
                                      seconds_text(row["setup_seconds"]),
                                      seconds_text(row["seconds"]),
                                      fmt::format("{:.0f}%", 100 * row["spread"].get<double>()),
                                      ratio_text(row["gb_per_s"]),
                                      std::isfinite(bound) ? fmt::format("{:.0f}%", 100 * bound) : "-",
                                      ratio_text(row["predicted_over_measured"])};
    cells.resize(cells.size() + peers.size(), "-");
    for (; i < rows_.size() && rows_[i]["case"] == row["case"] && rows_[i]["kernel"] == row["kernel"]; ++i) {
      const auto place = std::find(peers.begin(), peers.end(), text_of(rows_[i], "peer")) - peers.begin();
      cells[8 + static_cast<std::size_t>(place)] = comparable(rows_[i]) ? ratio_text(rows_[i]["ratio"]) : "-";
    }
    table.add(std::move(cells), row["kernel"] == own_choice ? Style::bold : Style::plain);
  }
  return table.text();
}

}  // namespace tool
