// SPDX-License-Identifier: BSD-3-Clause
// gpu_regret [COUNT [SECONDS [PROFILE]]]: what choices give away. For a few operations and types at COUNT random n
// each, every candidate of every kernel is measured, with operands in the last cache and out of it; then the decision
// trees' picks (with a calibration of SECONDS, kept in PROFILE; with PROFILE as it is where SECONDS is 0; with the
// models' analytic numbers) and the launch policies' proposals are held against the fastest.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "core/dispatch/launch.hpp"
#include "core/dispatch/select.hpp"
#include "core/model/cost.hpp"
#include "core/model/timing.hpp"
#include "regret_points.hpp"

namespace {

using namespace regret;
using namespace sextant;

constexpr const char *regime_names[] = {"hot", "cold"};

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

std::string describe(const Measured &measured, Regime regime) {
  char text[200];
  std::snprintf(text, sizeof text, "%s %lldx%lldx%lld %.2f us", measured.kernel->name(), (long long)measured.launch[0],
                (long long)measured.launch[1], (long long)measured.launch[2], 1e6 * measured.seconds[regime]);
  return text;
}

// The best of other libraries over the tree's pick: above 1 the pick is faster.
void report_opponents(const Subject &subject, const DecisionTree &tree) {
  for (const Regime regime : {hot, cold}) {
    Quotients slower;
    for (const Point &point : subject.points) {
      const TreeLeaf &leaf = tree.leaves()[tree.find(point.n)];
      const Measured *picked = nullptr, *opponent = nullptr;
      for (const Measured &each : point.all) {
        if (leaf.kernel == each.kernel->name() && leaf.candidate == each.candidate) picked = &each;
        const bool theirs = each.kernel->has(SXT_KERNEL_OPPONENT);
        if (theirs && (!opponent || each.seconds[regime] < opponent->seconds[regime])) opponent = &each;
      }
      if (!picked || !opponent) continue;
      const double quotient = picked->seconds[regime] / opponent->seconds[regime];
      if (quotient > slower.worst())
        slower.worst_text =
            "n = " + std::to_string(point.n) + ": " + describe(*picked, regime) + ", " + describe(*opponent, regime);
      slower.all.push_back(quotient);
    }
    if (!slower.all.empty())
      std::printf(
          "%-8s best of CUB and cuBLAS over the pick, %-4s mean %.3f  at least 0.97: %3.0f %%  least %.3f (%s)\n",
          subject.name.c_str(), regime_names[regime], 1 / slower.mean(), slower.share_within(1 / 0.97),
          1 / slower.worst(), slower.worst_text.c_str());
  }
}

void report_tree(Context &context, const Subject &subject, const char *when, bool opponents) {
  const double start = seconds_now();
  const DecisionTree tree = DecisionTree::build(context, subject.tree);
  const double built = seconds_now() - start;
  if (opponents) report_opponents(subject, tree);
  for (const Regime regime : {hot, cold}) {
    Quotients quotients;
    int missing = 0;
    for (const Point &point : subject.points) {
      const TreeLeaf &leaf = tree.leaves()[tree.find(point.n)];
      const Measured *best = point.fastest(regime), *picked = nullptr;
      for (const Measured &each : point.all)
        if (leaf.kernel == each.kernel->name() && leaf.candidate == each.candidate) picked = &each;
      if (!best || !picked) {
        ++missing;
        continue;
      }
      const double quotient = picked->seconds[regime] / best->seconds[regime];
      if (quotient > quotients.worst())
        quotients.worst_text = "n = " + std::to_string(point.n) + ": " + describe(*picked, regime) + ", fastest " +
                               describe(*best, regime);
      quotients.all.push_back(quotient);
    }
    std::printf(
        "%-8s %-10s %-4s leaves %2zu in %.2f s  points %3zu  mean %.4f  within 1 %%: %3.0f %%  worst %.3f (%s)\n",
        subject.name.c_str(), when, regime_names[regime], tree.leaves().size(), built, quotients.all.size(),
        quotients.mean(), quotients.share_within(1.01), quotients.worst(), quotients.worst_text.c_str());
    if (missing) std::printf("    %d picks were not among the measured candidates\n", missing);
  }
  std::fflush(stdout);
}

// The list a launch policy sees at n, with what the models say of it.
std::vector<LaunchProposal> proposals_at(const Context &context, const registry::Kernel &kernel, const Query &query) {
  std::vector<sxt_candidate> list(64);
  std::uint64_t count = 0;
  const sxt_features none{};
  if (kernel.table.candidates(query.get(), &none, &context.machine(), nullptr, list.data(), list.size(), &count) !=
      SXT_OK)
    return {};
  list.resize(std::min<std::size_t>(count, list.size()));
  std::vector<double> run_s;
  for (const sxt_candidate &each : list)
    run_s.push_back(predict(kernel.table, *query.get(), each, context.machine(), context.profile()).seconds);
  return launch_proposals(context, kernel, query.get(), list, run_s);
}

// Every policy against the fastest grid of the same kernel, over all points of all subjects.
void report_policies(Context &context, const std::vector<Subject> &subjects) {
  std::map<std::string, std::map<std::string, Quotients>> table;
  for (const Subject &subject : subjects)
    for (const Point &point : subject.points) {
      std::map<const registry::Kernel *, const Measured *> fastest;
      for (const Measured &each : point.all) {
        const Measured *&best = fastest[each.kernel];
        if (!best || each.seconds[cold] < best->seconds[cold]) best = &each;
      }
      for (const auto &[kernel, best] : fastest) {
        if (!kernel->table.launch_config) continue;
        for (const LaunchProposal &proposal : proposals_at(context, *kernel, subject.tree.at(point.n)))
          if (const Measured *taken =
                  proposal.candidate < 0 ? nullptr : point.find(kernel, static_cast<std::uint64_t>(proposal.candidate)))
            table[kernel->name()][proposal.policy].all.push_back(taken->seconds[cold] / best->seconds[cold]);
      }
    }
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

bool calibrate(sxt_context *context, double seconds, const char *profile) {
  sxt_calibrate_options options;
  sxt_calibrate_options_init(&options, sizeof options);
  options.path = profile;
  for (const char *kind : {"sxt.reduction/1", "sxt.vector/1", "sxt.vector_group/1", "sxt.multidot/1"}) {
    options.kind = kind;
    options.seconds = seconds * (std::strcmp(kind, "sxt.reduction/1") ? 0.15 : 0.55);
    if (sxt_calibrate(context, &options, nullptr, 0, nullptr) != SXT_OK)
      return std::printf("calibration of %s failed: %s\n", kind, sxt_last_error(context)), false;
  }
  return true;
}

std::vector<Subject> survey(Context &context, int count) {
  std::vector<Subject> subjects;
  for (const auto &[operation, type] : {std::pair{"sum", SXT_F32},
                                        {"sum", SXT_F64},
                                        {"dot", SXT_F32},
                                        {"dot", SXT_F64},
                                        {"nrm2", SXT_F64},
                                        {"axpy", SXT_F32},
                                        {"axpy", SXT_F64},
                                        {"chronopoulos-gear", SXT_F64},
                                        {"multidot-2", SXT_F64}})
    subjects.push_back(
        {tree_subject(operation, type), std::string(operation) + (type == SXT_F32 ? " f32" : " f64"), {}});
  const Operands operands(context.device());
  std::mt19937_64 random(20240607);
  for (Subject &subject : subjects) {
    const double start = seconds_now();
    const bool tree_counts =
        !std::strcmp(subject.tree.kind, SXT_KIND_REDUCTION) || !std::strcmp(subject.tree.kind, SXT_KIND_VECTOR);
    const int points = tree_counts ? count : count / 4;  // the others serve the policies' table
    for (int i = 0; i < points; ++i) {
      const double turn = static_cast<double>(random() >> 11) * 0x1p-53;
      subject.points.push_back(
          measure(context, subject.tree, static_cast<std::int64_t>(std::exp2(10 + 16 * turn)), operands, i % 8 == 0));
    }
    std::printf("%s: %zu points measured in %.0f s\n", subject.name.c_str(), subject.points.size(),
                seconds_now() - start);
    std::fflush(stdout);
  }
  return subjects;
}

}  // namespace

int main(int argc, char **argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 200;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 60;
  const char *profile = argc > 3 ? argv[3] : nullptr;
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = "cuda";
  options.profile_path = seconds > 0 ? nullptr : profile;
  sxt_context *handle = nullptr;
  if (sxt_context_create(&options, &handle) != SXT_OK) return std::fprintf(stderr, "%s\n", sxt_last_error(nullptr)), 1;
  if (seconds > 0 && !calibrate(handle, seconds, profile)) return 1;
  Context &context = *handle->context;
  const std::vector<Subject> subjects = survey(context, count);
  for (const Subject &subject : subjects) report_tree(context, subject, "calibrated", true);
  report_policies(context, subjects);
  context.use_profile(Profile{});
  for (const Subject &subject : subjects) report_tree(context, subject, "analytic", false);
  sxt_context_destroy(handle);
  return 0;
}
