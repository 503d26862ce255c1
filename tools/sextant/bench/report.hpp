// SPDX-License-Identifier: BSD-3-Clause
// Rows of results: collected by the suites, printed as a table, as JSON, as Markdown.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "report/output.hpp"

namespace tool {

struct BenchMachine {
  std::string processor;
  int threads = 1;
  std::int64_t cache_bytes = 0;
  double triad = 0;  // bytes a second; 0: not measured
};

// Rows of results, and what was left out with the reason.
class BenchReport {
 public:
  BenchReport(std::string suite, const BenchMachine &machine) : suite_(std::move(suite)), machine_(machine) {}
  // A name for a case that no other has: a second one of this name is "name (2)".
  std::string case_name(const std::string &name);
  // Rows of one group: contenders[0] is the textbook. bytes: the least traffic of one run.
  void add(const std::string &name, const std::vector<Contender> &contenders, double bytes,
           const Json &extra = Json::object());
  // A failure of our own kernel: it changes the exit code.
  void fail(const std::string &name, const std::string &kernel, const std::string &reason);
  void skip(const std::string &name, const std::string &kernel, const std::string &reason);
  // What is being measured, on stderr.
  void show(const std::string &name, const std::string &kernel) {
    progress_.show(fmt::format("{} {} {}", suite_, name, kernel), true);
  }
  // Reports failures on stderr; false when one of our kernels failed.
  bool all_good() const;
  // Geometric mean, worst and count of the choice's ratios: {kernel, peer, cases, geometric_mean, worst, worst_case}.
  // Peer "best" is the fastest peer of each case but the textbook; "fastest kernel" is ours.
  Json summary() const;
  std::string table() const;
  std::string summary_table() const;
  // A section for a document; command: how it was made.
  std::string markdown(const std::string &command, const Json &peers) const;

  const std::string &suite() const { return suite_; }
  const Json &rows() const { return rows_; }
  const Json &skipped() const { return skipped_; }
  const Json &failed() const { return failed_; }

 private:
  void add_row(const std::string &name, const Contender &ours, const Contender &peer, double bytes, const Json &extra);
  std::vector<std::string> peer_names() const;
  std::string suite_;
  const BenchMachine &machine_;
  std::map<std::string, int> named_;  // how often each name was asked for
  Json rows_ = Json::array(), skipped_ = Json::array(), failed_ = Json::array();
  Progress progress_;
};

// A ratio for people: "1.42", or "-".
std::string ratio_text(const Json &value);

}  // namespace tool
