// SPDX-License-Identifier: BSD-3-Clause
// gpu_regret: the regret of choices. For a few operations and types at N random n each, every candidate of every kernel
// is measured, with operands in the last cache and out of it. Then the decision trees' picks (of a calibration made
// now, of FILE or of the profile that ships; and of the models' analytic numbers) and the launch policies' proposals
// are compared with the fastest. Options:
//   --count N --seed N --octaves K   so many n from 2^10 to 2^K (26)
//   --only sum-f32,...               these operations and types
//   --every N                        every operation that has a tree (--only dot,...: these), each with N points over
//                                    all its types, briefly measured
//   --budget SECONDS                 ends the measuring early; what was measured then counts
//   --others SECONDS                 policies on kernels that no tree chooses, too
//   --list PERCENT                   picks that lose more, one by one
//   --calibrate SECONDS              for what is evaluated, kept in --profile FILE
//   --profile FILE                   instead of what ships
//   --csv FILE                       the measurements; --measured FILE takes those of an earlier run instead
//   --learn FILE --into PROFILE      first fits models to the measurements of an earlier run
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "core/calibrate/sampler.hpp"
#include "core/model/timing.hpp"
#include "files.hpp"
#include "kernels.hpp"
#include "lookup.hpp"
#include "points.hpp"
#include "report.hpp"
#include "sextant/plugin/kinds/reduction.h"
#include "survey.hpp"

namespace {

using namespace regret;
using namespace sextant;

// What `sextant calibrate` does, restricted to the kinds and types that are evaluated here.
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
  int count = 200, every = 0;
  double calibrate_s = 0, budget_s = 1e9;
  double listed = INFINITY;
  double others_s = 0;  // for launch policies on kernels that no tree chooses
  double octaves = 26;  // lengths from 2^10 to 2 to this power; elements of 16 bytes: one less
  std::string profile, csv, only, learn, into, measured;
  std::uint64_t seed = 20240607;
};

bool read_settings(int argc, char **argv, Settings &settings) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--count")
      settings.count = std::atoi(value.c_str());
    else if (name == "--every")
      settings.every = std::atoi(value.c_str());
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
    else if (name == "--others")
      settings.others_s = std::atof(value.c_str());
    else if (name == "--list")
      settings.listed = 1 + std::atof(value.c_str()) / 100;
    else if (name == "--octaves")
      settings.octaves = std::clamp(std::atof(value.c_str()), 10.0, 28.0);
    else if (name == "--measured")
      settings.measured = value;
    else if (name == "--csv")
      settings.csv = value;
    else if (name == "--seed")
      settings.seed = std::strtoull(value.c_str(), nullptr, 10);
    else
      return false;
  }
  return argc % 2 == 1 && settings.count > 0;
}

int run(const Settings &settings) {
  const char *profile = settings.profile.empty() ? nullptr : settings.profile.c_str();
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = "cuda";
  options.profile_path = settings.calibrate_s > 0 ? nullptr : profile;
  sxt_context *handle = nullptr;
  if (sxt_context_create(&options, &handle) != SXT_OK) return std::fprintf(stderr, "%s\n", sxt_last_error(nullptr)), 1;
  const std::unique_ptr<sxt_context, void (*)(sxt_context *)> owner(handle, sxt_context_destroy);
  Context &context = *handle->context;
  std::vector<Subject> subjects = settings.every > 0 ? every_subject(settings.every, settings.only)
                                                     : wanted_subjects(settings.only, settings.count);
  if (settings.calibrate_s > 0) calibrate(context, settings.calibrate_s, settings.profile, subjects);
  if (!settings.learn.empty()) learn(context, settings.learn, settings.into);
  if (settings.measured.empty())
    survey(context, subjects, {settings.budget_s, settings.octaves, settings.seed, settings.every > 0});
  else
    std::printf("%d measurements passed over\n", read_csv(context, settings.measured, subjects));
  if (!settings.csv.empty()) write_csv(settings.csv, subjects);
  const bool models = !context.profile().models.empty();
  for (const Subject &subject : subjects)
    report_tree(context, subject, models ? "measured" : "analytic", true, settings.listed);
  if (settings.every > 0) print_operations(context, subjects);
  PolicyTable policies;
  judge_policies(context, subjects, policies);
  if (settings.others_s > 0) judge_other_kernels(context, settings.others_s, policies);
  print_policies(policies);
  report_lookups(context, subjects);
  if (models) {
    context.use_profile(Profile{});
    for (const Subject &subject : subjects) report_tree(context, subject, "analytic", false, INFINITY);
    if (settings.every > 0) print_operations(context, subjects);
  }
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  Settings settings;
  if (!read_settings(argc, argv, settings))
    return std::fprintf(stderr, "see tools/measure/regret/main.cpp for options\n"), 2;
  try {
    return run(settings);
  } catch (const Error &problem) {
    return std::fprintf(stderr, "%s\n", problem.what()), 1;
  }
}
