// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>

#include "core/calibrate/verify.hpp"
#include "core/choose/race_field.hpp"
#include "core/model/quantile.hpp"

namespace sextant {

namespace {

// What a candidate costs a caller who applies it N times.
double total(const VerifyLine &line, double applies) {
  return line.measured_setup_s + (line.chosen ? line.select_s : 0) + applies * line.measured_run_s;
}

// The lines of a matrix.
struct Contest {
  double chosen = 0, best = 0;  // seconds; 0: not seen
  std::vector<const VerifyLine *> lines;
};

void add_line(Contest &contest, const VerifyLine &line, double applies) {
  const double seconds = total(line, applies);
  if (line.chosen) contest.chosen = seconds;
  if (contest.best == 0 || seconds < contest.best) contest.best = seconds;
  contest.lines.push_back(&line);
}

double mean_of_logs(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values) sum += std::log(value);
  return values.empty() ? 1 : std::exp(sum / static_cast<double>(values.size()));
}

// Hits and regrets of one way to choose.
struct Record {
  std::vector<double> regrets;
  double hits = 0;
  void add(double seconds, double best) {
    regrets.push_back(seconds / best);
    hits += regrets.back() <= verify_tie;
  }
  double accuracy() const { return regrets.empty() ? 0 : hits / static_cast<double>(regrets.size()); }
};

double predicted_total(const VerifyLine &line, double applies) {
  return line.predicted_setup_s + applies * line.predicted_run_s;
}

// The chosen line first, the others with estimates by their predicted totals.
std::vector<const VerifyLine *> in_order(const Contest &contest, double applies) {
  std::vector<const VerifyLine *> lines;
  for (const VerifyLine *line : contest.lines)
    if (line->estimated || line->chosen) lines.push_back(line);
  std::stable_sort(lines.begin(), lines.end(), [&](const VerifyLine *a, const VerifyLine *b) {
    if (a->chosen != b->chosen) return a->chosen;
    return predicted_total(*a, applies) < predicted_total(*b, applies);
  });
  return lines;
}

// The seconds of the winner of a race of `most`; prices get what it would have cost, in products: set-ups of
// losers, beyond the least of all, which has the matrix's way to the device in it, and trials.
double race_seconds(const Contest &contest, int most, double applies, std::vector<double> &prices) {
  const std::vector<const VerifyLine *> lines = in_order(contest, applies);
  std::vector<Entrant> entrants;
  double least = HUGE_VAL;
  for (const VerifyLine *line : lines) {
    entrants.push_back({line->predicted_setup_s, applies * line->predicted_run_s, line->rel_error, 0});
    least = std::min(least, line->measured_setup_s);
  }
  const VerifyLine *winner = lines.front();
  const auto raced = [&](const VerifyLine &line) { return line.predicted_setup_s + applies * line.measured_run_s; };
  const std::vector<std::size_t> field = race_field(entrants, most, HUGE_VAL);
  double spent = 0;
  for (const std::size_t i : field) {
    spent += lines[i]->measured_setup_s - least + race_trial_price(lines[i]->measured_run_s);
    if (raced(*lines[i]) < raced(*winner)) winner = lines[i];
  }
  if (!field.empty()) prices.push_back((spent - (winner->measured_setup_s - least)) / winner->measured_run_s);
  return total(*winner, applies) + (winner->chosen ? 0 : lines.front()->select_s);
}

RaceSummary summarise_races(const std::map<std::int64_t, Contest> &contests, int most, double applies) {
  Record record;
  std::vector<double> prices;
  for (const auto &[matrix, contest] : contests)
    if (contest.chosen > 0) record.add(race_seconds(contest, most, applies, prices), contest.best);
  return {record.accuracy(), mean_of_logs(record.regrets), record.regrets.empty() ? 1 : quantile(record.regrets, 0.95),
          quantile(prices, 0.5)};
}

}  // namespace

VerifySummary summarise(const std::vector<VerifyLine> &lines, double applies) {
  VerifySummary summary;
  std::map<std::int64_t, Contest> contests;
  std::vector<double> errors, noises;
  for (const VerifyLine &line : lines) {
    if (!(line.measured_run_s > 0)) continue;
    ++summary.candidates;
    noises.push_back(line.noise);
    if (line.estimated) errors.push_back(std::abs(line.predicted_run_s - line.measured_run_s) / line.measured_run_s);
    add_line(contests[line.matrix], line, applies);
  }
  summary.matrices = static_cast<std::int64_t>(contests.size());
  Record record;
  for (const auto &[matrix, contest] : contests)
    if (contest.chosen > 0) record.add(contest.chosen, contest.best);
  summary.median_relative_error = quantile(errors, 0.5);
  summary.p90_relative_error = quantile(errors, 0.9);
  summary.noise_median = quantile(noises, 0.5);
  if (record.regrets.empty()) return summary;
  summary.top1_accuracy = record.accuracy();
  summary.regret_geomean = mean_of_logs(record.regrets);
  summary.regret_p95 = quantile(record.regrets, 0.95);
  summary.regret_max = quantile(record.regrets, 1);
  for (int r = 0; r < verify_races; ++r) summary.races[r] = summarise_races(contests, 2 + r, applies);
  return summary;
}

}  // namespace sextant
