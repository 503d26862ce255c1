// SPDX-License-Identifier: BSD-3-Clause
// gpu_regret [--count N] [--calibrate SECONDS] [--profile FILE] [--only sum-f32,...] [--budget SECONDS] [--csv FILE]
// [--seed N] [--learn FILE --into PROFILE]: what choices give away. For a few operations and types at N random n each,
// every candidate of every kernel is measured, with operands in the last cache and out of it; then the decision trees'
// picks (with a calibration, kept in FILE; with FILE or the profile that ships as it is; with the models' analytic
// numbers) and the launch policies' proposals are held against the fastest. A budget ends the measuring early; what was
// measured then counts.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "core/dispatch/launch.hpp"
#include "core/dispatch/select.hpp"
#include "core/model/cost.hpp"
#include "core/model/sampler.hpp"
#include "core/model/timing.hpp"
#include "regret_points.hpp"
#include "sextant/kinds/reduction.h"

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
                (long long)measured.launch[1], (long long)measured.launch[2], 1e6 * measured.seconds(regime));
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
        if (theirs && (!opponent || each.seconds(regime) < opponent->seconds(regime))) opponent = &each;
      }
      if (!picked || !opponent) continue;
      const double quotient = picked->seconds(regime) / opponent->seconds(regime);
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
      const double quotient = point.regret(*picked, regime);
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

// The list a kernel offers for a query.
std::vector<sxt_candidate> candidates_of(const Context &context, const registry::Kernel &kernel, const Query &query) {
  std::vector<sxt_candidate> list(64);
  std::uint64_t count = 0;
  const sxt_features none{};
  if (kernel.table.candidates(query.get(), &none, &context.machine(), nullptr, list.data(), list.size(), &count) !=
      SXT_OK)
    return {};
  list.resize(std::min<std::size_t>(count, list.size()));
  return list;
}

// The list a launch policy sees at n, with what the models say of it.
std::vector<LaunchProposal> proposals_at(const Context &context, const registry::Kernel &kernel, const Query &query) {
  const std::vector<sxt_candidate> list = candidates_of(context, kernel, query);
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
        if (!best || each.seconds(cold) < best->seconds(cold)) best = &each;
      }
      for (const auto &[kernel, best] : fastest) {
        if (!kernel->table.launch_config) continue;
        for (const LaunchProposal &proposal : proposals_at(context, *kernel, subject.tree.at(point.n)))
          if (const Measured *taken =
                  proposal.candidate < 0 ? nullptr : point.find(kernel, static_cast<std::uint64_t>(proposal.candidate)))
            table[kernel->name()][proposal.policy].all.push_back(taken->seconds(cold) / best->seconds(cold));
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

// The profile that fits measurements of earlier runs (write_csv), put over what the context has and into `profile`.
void learn(Context &context, const std::string &csv, const std::string &profile) {
  std::map<std::string, const registry::Kernel *> kernels;
  for (const registry::Kernel *kernel : registry::Registry::instance().all_kernels())
    if (!std::strcmp(kernel->table.device, "cuda")) kernels[kernel->name()] = kernel;
  Sampler sampler(context);
  std::map<std::pair<std::string, std::int64_t>, int> families;
  std::ifstream file(csv);
  std::string line;
  int taken = 0, left_out = 0;
  while (std::getline(file, line)) {
    char subject[64], name[64];
    long long n, launch[3];
    unsigned candidate;
    double hot[2], cold[2];
    if (std::sscanf(line.c_str(), "%63[^,],%lld,%63[^,],%u,%lld,%lld,%lld,%*d,%lf,%lf,%lf,%lf", subject, &n, name,
                    &candidate, launch, launch + 1, launch + 2, hot, hot + 1, cold, cold + 1) != 11)
      continue;
    const std::string text = subject, operation = text.substr(0, text.rfind('-'));
    const sxt_value_type type = text.substr(text.rfind('-') + 1) == "f32" ? SXT_F32 : SXT_F64;
    const Query query = tree_subject(operation, type).at(n);
    const auto kernel = kernels.find(name);
    const std::vector<sxt_candidate> list =
        kernel == kernels.end() ? std::vector<sxt_candidate>{} : candidates_of(context, *kernel->second, query);
    if (candidate >= list.size() || !std::equal(launch, launch + 3, list[candidate].launch)) {
      ++left_out;
      continue;
    }
    const int family = families.try_emplace({text, n}, static_cast<int>(families.size())).first->second;
    sampler.add_run(kernel->second->table, *query.get(), list[candidate],
                    1e-6 * std::sqrt(std::sqrt(hot[0] * hot[1] * cold[0] * cold[1])), family, true);
    ++taken;
  }
  const CalibrationSettings settings;
  Profile learned;
  learned.device = context.device_name();
  learned.fingerprint = context.fingerprint();
  learned.models = sampler.fit_all(CalibrationClock(settings));
  std::printf("%zu models from %d measurements, %d left out\n", learned.models.size(), taken, left_out);
  std::fflush(stdout);
  Profile whole = context.profile();
  whole.merge(learned);
  if (!profile.empty()) update_profile(profile, whole);
  context.use_profile(std::move(whole));
}

// What `sextant calibrate` does for the kinds and types that are judged here, and for nothing else.
void calibrate(Context &context, double seconds, const std::string &profile, const std::vector<Subject> &subjects) {
  std::set<std::pair<std::string, sxt_value_type>> wanted;
  for (const Subject &subject : subjects) wanted.emplace(subject.tree.kind, subject.tree.type);
  CalibrationSettings settings;
  settings.seconds = seconds;
  const CalibrationClock clock(settings);
  Sampler sampler(context);
  double weights = 0;
  const auto weight = [](const std::string &kind) { return kind == SXT_KIND_REDUCTION ? 1.0 : 0.3; };
  for (const auto &[kind, type] : wanted) weights += weight(kind);
  for (const auto &[kind, type] : wanted) {
    const double now = clock.elapsed(), until = now + (seconds - now) * weight(kind) / weights;
    calibrate_vectors(context, settings, clock, sampler, kind, type, until);
    std::printf("calibrated %s of %s in %.1f s\n", kind.c_str(), value_name(type), clock.elapsed() - now);
    weights -= weight(kind);
  }
  Profile measured;
  measured.device = context.device_name();
  measured.name = context.machine().name ? context.machine().name : "";
  measured.fingerprint = context.fingerprint();
  measured.units = context.machine().units;
  measured.models = sampler.fit_all(clock);
  std::printf("%zu models fitted after %.1f s\n", measured.models.size(), clock.elapsed());
  std::fflush(stdout);
  if (!profile.empty()) update_profile(profile, measured);
  context.use_profile(measured);
}

struct Settings {
  int count = 200;
  double calibrate_s = 0, budget_s = 1e9;
  std::string profile, csv, only, learn, into;
  std::uint64_t seed = 20240607;
};

const std::pair<const char *, sxt_value_type> all_subjects[] = {
    {"sum", SXT_F32},       {"dot", SXT_F64},  {"sum", SXT_F64},  {"dot", SXT_F32},
    {"nrm2", SXT_F64},      {"axpy", SXT_F32}, {"axpy", SXT_F64}, {"chronopoulos-gear", SXT_F64},
    {"multidot-2", SXT_F64}};

std::vector<Subject> wanted_subjects(const std::string &only) {
  std::vector<Subject> subjects;
  for (const auto &[operation, type] : all_subjects) {
    const std::string name = std::string(operation) + (type == SXT_F32 ? "-f32" : "-f64");
    if (only.empty() || ("," + only + ",").find("," + name + ",") != std::string::npos)
      subjects.push_back({tree_subject(operation, type), name, {}});
  }
  return subjects;
}

// Random n in count equal parts of the octaves from 2^10 to 2^26, one in each, the parts in random order: a budget may
// end them anywhere.
std::vector<std::int64_t> random_lengths(int count, std::mt19937_64 &random) {
  const auto turn = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<std::int64_t> lengths;
  for (int i = 0; i < count; ++i)
    lengths.push_back(static_cast<std::int64_t>(std::exp2(10 + 16 * (i + turn()) / count)));
  for (std::size_t i = lengths.size(); i > 1; --i) std::swap(lengths[i - 1], lengths[random() % i]);
  return lengths;
}

void survey(Context &context, const Settings &settings, std::vector<Subject> &subjects) {
  const Operands operands(context.device());
  std::mt19937_64 random(settings.seed);
  for (Subject &subject : subjects) {
    const double start = seconds_now(), share = settings.budget_s / static_cast<double>(subjects.size());
    for (const std::int64_t n : random_lengths(settings.count, random)) {
      if (seconds_now() - start > share) break;
      subject.points.push_back(measure(context, subject.tree, n, operands, subject.points.size() % 8 == 0));
    }
    std::printf("%s: %zu points measured in %.0f s\n", subject.name.c_str(), subject.points.size(),
                seconds_now() - start);
    std::fflush(stdout);
  }
}

// Every measurement as a line: for studies of models without a GPU.
void write_csv(const std::string &path, const std::vector<Subject> &subjects) {
  std::FILE *file = std::fopen(path.c_str(), "w");
  if (!file) return static_cast<void>(std::fprintf(stderr, "cannot write %s\n", path.c_str()));
  std::fprintf(file, "subject,n,kernel,candidate,launch0,launch1,launch2,judged,hot1,hot2,cold1,cold2\n");
  for (const Subject &subject : subjects)
    for (const Point &point : subject.points)
      for (const Measured &each : point.all)
        std::fprintf(file, "%s,%lld,%s,%d,%lld,%lld,%lld,%d,%.4f,%.4f,%.4f,%.4f\n", subject.name.c_str(),
                     (long long)point.n, each.kernel->name(), (int)each.candidate, (long long)each.launch[0],
                     (long long)each.launch[1], (long long)each.launch[2], each.judged, 1e6 * each.first[hot],
                     1e6 * each.second[hot], 1e6 * each.first[cold], 1e6 * each.second[cold]);
  std::fclose(file);
}

bool read_settings(int argc, char **argv, Settings &settings) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--count")
      settings.count = std::atoi(value.c_str());
    else if (name == "--calibrate")
      settings.calibrate_s = std::atof(value.c_str());
    else if (name == "--budget")
      settings.budget_s = std::atof(value.c_str());
    else if (name == "--profile")
      settings.profile = value;
    else if (name == "--only")
      settings.only = value;
    else if (name == "--learn")
      settings.learn = value;
    else if (name == "--into")
      settings.into = value;
    else if (name == "--csv")
      settings.csv = value;
    else if (name == "--seed")
      settings.seed = std::strtoull(value.c_str(), nullptr, 10);
    else
      return false;
  }
  return argc % 2 == 1 && settings.count > 0;
}

}  // namespace

int main(int argc, char **argv) {
  Settings settings;
  if (!read_settings(argc, argv, settings)) return std::fprintf(stderr, "see the head of regret.cpp for options\n"), 2;
  const char *profile = settings.profile.empty() ? nullptr : settings.profile.c_str();
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = "cuda";
  options.profile_path = settings.calibrate_s > 0 ? nullptr : profile;
  sxt_context *handle = nullptr;
  if (sxt_context_create(&options, &handle) != SXT_OK) return std::fprintf(stderr, "%s\n", sxt_last_error(nullptr)), 1;
  Context &context = *handle->context;
  std::vector<Subject> subjects = wanted_subjects(settings.only);
  if (settings.calibrate_s > 0) calibrate(context, settings.calibrate_s, settings.profile, subjects);
  if (!settings.learn.empty()) learn(context, settings.learn, settings.into);
  survey(context, settings, subjects);
  if (!settings.csv.empty()) write_csv(settings.csv, subjects);
  const bool models = !context.profile().models.empty();
  for (const Subject &subject : subjects) report_tree(context, subject, models ? "measured" : "analytic", true);
  report_policies(context, subjects);
  if (models) {
    context.use_profile(Profile{});
    for (const Subject &subject : subjects) report_tree(context, subject, "analytic", false);
  }
  sxt_context_destroy(handle);
  return 0;
}
