// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <cstdint>
#include <cstdio>

#include "core/choose/launch.hpp"
#include "core/model/cost.hpp"
#include "core/model/timing.hpp"
#include "survey.hpp"

namespace regret {

using namespace sextant;

namespace {

constexpr const char *regime_names[] = {"hot", "cold", "both"};

std::string describe(const Measured &measured, Regime regime) {
  char text[200];
  std::snprintf(text, sizeof text, "%s %lldx%lldx%lld %.2f us", measured.kernel->name(), (long long)measured.launch[0],
                (long long)measured.launch[1], (long long)measured.launch[2], 1e6 * measured.seconds(regime));
  return text;
}

// What the tree picks at a point; NULL where it was not measured.
const Measured *picked_at(const Context &context, const Subject &subject, const DecisionTree &tree,
                          const Point &point) {
  const TreeLeaf &leaf = tree.leaves()[tree.find(point.n)];
  return point.find(context, subject.tree, leaf.kernel, leaf.candidate);
}

// The fastest of other libraries; NULL where none was measured.
const Measured *best_baseline(const Point &point, Regime regime) {
  const Measured *baseline = nullptr;
  for (const Measured &each : point.all) {
    const bool theirs = each.kernel->has(SXT_KERNEL_BASELINE);
    if (theirs && (!baseline || each.seconds(regime) < baseline->seconds(regime))) baseline = &each;
  }
  return baseline;
}

// The tree's pick over the best of other libraries: above 1 the pick is slower.
void add_baselines(const Context &context, const Subject &subject, const DecisionTree &tree, Regime regime,
                   Quotients &slower) {
  for (const Point &point : subject.points) {
    const Measured *picked = picked_at(context, subject, tree, point), *baseline = best_baseline(point, regime);
    if (!picked || !baseline) continue;
    const double quotient = picked->seconds(regime) / baseline->seconds(regime);
    if (quotient > slower.worst())
      slower.worst_text =
          "n = " + std::to_string(point.n) + ": " + describe(*picked, regime) + ", " + describe(*baseline, regime);
    slower.all.push_back(quotient);
  }
}

void report_baselines(const Context &context, const Subject &subject, const DecisionTree &tree) {
  for (const Regime regime : {hot, cold}) {
    Quotients slower;
    add_baselines(context, subject, tree, regime, slower);
    if (!slower.all.empty())
      std::printf(
          "%-8s best of CUB and cuBLAS over the pick, %-4s mean %.3f  at least 0.97: %3.0f %%  least %.3f (%s)\n",
          subject.name.c_str(), regime_names[regime], 1 / slower.mean(), slower.share_within(1 / 0.97),
          1 / slower.worst(), slower.worst_text.c_str());
  }
}

// The tree's picks over the fastest; returns how many picks were not measured.
int add_regrets(const Context &context, const Subject &subject, const DecisionTree &tree, Regime regime,
                Quotients &quotients) {
  int missing = 0;
  for (const Point &point : subject.points) {
    const Measured *best = point.fastest(regime), *picked = picked_at(context, subject, tree, point);
    if (!best || !picked) {
      ++missing;
      continue;
    }
    const double quotient = point.regret(*picked, regime);
    if (quotient > quotients.worst())
      quotients.worst_text = subject.name + ", n = " + std::to_string(point.n) + ": " + describe(*picked, regime) +
                             ", fastest " + describe(*best, regime);
    quotients.all.push_back(quotient);
  }
  return missing;
}

}  // namespace

void report_tree(Context &context, const Subject &subject, const char *when, bool baselines, double listed) {
  const double start = seconds_now();
  const DecisionTree tree = DecisionTree::build(context, subject.tree);
  const double built = seconds_now() - start;
  if (baselines) report_baselines(context, subject, tree);
  for (const Regime regime : {hot, cold, both}) {
    Quotients quotients;
    const int missing = add_regrets(context, subject, tree, regime, quotients);
    std::printf(
        "%-8s %-10s %-4s leaves %2zu in %.2f s  points %3zu  mean %.4f  within 1 %%: %3.0f %%  worst %.3f (%s)\n",
        subject.name.c_str(), when, regime_names[regime], tree.leaves().size(), built, quotients.all.size(),
        quotients.mean(), quotients.share_within(1.01), quotients.worst(), quotients.worst_text.c_str());
    if (missing) std::printf("    %d picks were not among the measured candidates\n", missing);
  }
  for (const Point &point : subject.points)
    if (const Measured *picked = picked_at(context, subject, tree, point))
      if (const double quotient = point.regret(*picked, both); quotient > listed)
        std::printf("    n = %lld: %.3f, %s, fastest %s\n", (long long)point.n, quotient,
                    describe(*picked, both).c_str(), describe(*point.fastest(both), both).c_str());
  std::fflush(stdout);
}

void print_operations(Context &context, const std::vector<Subject> &subjects) {
  struct Row {
    Quotients regret[3], slower[2];
    int missing = 0;
  };
  std::map<std::string, Row> rows;
  for (const Subject &subject : subjects) {
    const DecisionTree tree = DecisionTree::build(context, subject.tree);
    Row &row = rows[operation_of(subject)];
    for (const Regime regime : {hot, cold}) add_baselines(context, subject, tree, regime, row.slower[regime]);
    for (const Regime regime : {hot, cold}) add_regrets(context, subject, tree, regime, row.regret[regime]);
    row.missing += add_regrets(context, subject, tree, both, row.regret[both]);
  }
  std::printf(
      "| operation | n | regret, both | cold | hot | worst, both | ratio cold | at least 0.97 | least | hot | at least "
      "0.97 | least |\n");
  for (const auto &[operation, row] : rows) {
    const Quotients &whole = row.regret[both];
    std::printf("| %s | %zu | %.3f | %.3f | %.3f | %.2f |", operation.c_str(), whole.all.size(), whole.mean(),
                row.regret[cold].mean(), row.regret[hot].mean(), whole.worst());
    for (const Regime regime : {cold, hot}) {
      const Quotients &slower = row.slower[regime];
      if (slower.all.empty())
        std::printf(" - | - | - |");
      else
        std::printf(" %.3f | %.0f %% | %.3f |", 1 / slower.mean(), slower.share_within(1 / 0.97), 1 / slower.worst());
    }
    std::printf(" %s", whole.worst_text.c_str());
    if (row.missing) std::printf("; %d picks were not measured", row.missing);
    std::printf("\n");
  }
  std::fflush(stdout);
}

namespace {

// The list a launch policy sees at n, with the models' predictions.
std::vector<LaunchProposal> proposals_at(const Context &context, const registry::Kernel &kernel, const Query &query) {
  const std::vector<sxt_candidate> list = candidates_of(context, kernel, query);
  std::vector<double> run_s;
  for (const sxt_candidate &each : list)
    run_s.push_back(predict(kernel.table, *query.get(), each, context.machine(), context.profile()).seconds);
  return launch_proposals(context, kernel, query.get(), list, run_s);
}

}  // namespace

void judge_policies(Context &context, const std::vector<Subject> &subjects, PolicyTable &table) {
  for (const Subject &subject : subjects)
    for (const Point &point : subject.points) {
      std::map<const registry::Kernel *, const Measured *> fastest;
      for (const Measured &each : point.all) {
        const Measured *&best = fastest[each.kernel];
        if (!best || each.seconds(cold) < best->seconds(cold)) best = &each;
      }
      for (const auto &[kernel, best] : fastest) {
        if (!kernel->table.launch_config) continue;
        for (const LaunchProposal &proposal : proposals_at(context, *kernel, subject.tree.at(point.n)))
          if (const Measured *taken = proposal.candidate < 0
                                          ? nullptr
                                          : point.find(context, subject.tree, kernel->name(),
                                                       static_cast<std::uint64_t>(proposal.candidate)))
            table[kernel->name()][proposal.policy].all.push_back(taken->seconds(cold) / best->seconds(cold));
      }
    }
}

void print_policies(const PolicyTable &table) {
  std::printf(
      "regret of launch policies against the fastest grid of the same kernel, operands out of the cache: geometric "
      "mean (worst)\n");
  for (const auto &[kernel, policies] : table) {
    std::printf("%-36s", kernel.c_str());
    for (const auto &[policy, quotients] : policies)
      std::printf("  %s %.3f (%.2f) of %zu", policy.c_str(), quotients.mean(), quotients.worst(), quotients.all.size());
    std::printf("\n");
  }
}

}  // namespace regret
