// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>

#include "core/model/verify.hpp"

namespace sextant {

namespace {

// What a candidate costs a caller who applies it N times.
double total(const VerifyLine &line, double applies) {
  return line.measured_setup_s + (line.chosen ? line.select_s : 0) + applies * line.measured_run_s;
}

struct Contest {
  double chosen = 0, best = 0;  // seconds; 0: not seen
};

void add(Contest &contest, double seconds, bool chosen) {
  if (chosen) contest.chosen = seconds;
  if (contest.best == 0 || seconds < contest.best) contest.best = seconds;
}

double mean_of_logs(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values) sum += std::log(value);
  return values.empty() ? 1 : std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

VerifySummary summarise(const std::vector<VerifyLine> &lines, double applies) {
  VerifySummary summary;
  std::map<std::int64_t, Contest> contests;
  std::vector<double> errors, noises, regrets;
  for (const VerifyLine &line : lines) {
    if (!(line.measured_run_s > 0)) continue;
    ++summary.candidates;
    noises.push_back(line.noise);
    if (line.estimated) errors.push_back(std::abs(line.predicted_run_s - line.measured_run_s) / line.measured_run_s);
    add(contests[line.matrix], total(line, applies), line.chosen);
  }
  summary.matrices = static_cast<std::int64_t>(contests.size());
  double hits = 0;
  for (const auto &[matrix, contest] : contests) {
    if (contest.chosen == 0) continue;
    regrets.push_back(contest.chosen / contest.best);
    hits += regrets.back() <= verify_tie;
  }
  summary.median_relative_error = quantile(errors, 0.5);
  summary.p90_relative_error = quantile(errors, 0.9);
  summary.noise_median = quantile(noises, 0.5);
  if (regrets.empty()) return summary;
  summary.top1_accuracy = hits / static_cast<double>(regrets.size());
  summary.regret_geomean = mean_of_logs(regrets);
  summary.regret_p95 = quantile(regrets, 0.95);
  summary.regret_max = quantile(regrets, 1);
  return summary;
}

}  // namespace sextant
