// SPDX-License-Identifier: BSD-3-Clause
// What gpu_regret prints: decision trees and launch policies against the fastest that was measured.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/context/context.hpp"
#include "points.hpp"

namespace regret {

// Quotients of what was taken and the fastest.
struct Quotients {
  std::vector<double> all;
  std::string worst_text;
  double worst() const { return all.empty() ? 0 : *std::max_element(all.begin(), all.end()); }
  double mean() const {
    double sum = 0;
    for (double each : all) sum += std::log(each);
    return all.empty() ? NAN : std::exp(sum / static_cast<double>(all.size()));
  }
  double share_within(double limit) const {
    const auto good = std::count_if(all.begin(), all.end(), [&](double each) { return each <= limit; });
    return 100.0 * static_cast<double>(good) / static_cast<double>(std::max<std::size_t>(1, all.size()));
  }
};

// By kernel, then by policy.
using PolicyTable = std::map<std::string, std::map<std::string, Quotients>>;

// The tree's picks against the fastest at each point; baselines: and against the best of other libraries; listed: those
// that take more than so many times the fastest, one by one.
void report_tree(sextant::Context &context, const Subject &subject, const char *when, bool baselines, double listed);

// Operation by operation, over all its types, as a table: the regret of the trees' picks, and the better of CUB and
// cuBLAS over the pick.
void print_operations(sextant::Context &context, const std::vector<Subject> &subjects);

// Every policy against the fastest grid of the same kernel, over all points of all subjects; added to the table.
void judge_policies(sextant::Context &context, const std::vector<Subject> &subjects, PolicyTable &table);
void print_policies(const PolicyTable &table);

}  // namespace regret
