// SPDX-License-Identifier: BSD-3-Clause
#include "survey.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <sstream>

#include "core/base/types.hpp"
#include "core/model/timing.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/reduction.h"

namespace regret {

using namespace sextant;

namespace {

// What is evaluated by default, each an operation of a decision tree with its type: dotc-c128.
constexpr const char *usual_subjects =
    "sum-f32,dot-f64,sum-f64,dot-f32,nrm2-f64,axpy-f32,axpy-f64,copy-f64,chronopoulos-gear-f64,multidot-2-f64";

bool is_reduction(const Subject &subject) { return std::string_view(subject.tree.kind) == SXT_KIND_REDUCTION; }

// Random n in count equal parts of the octaves from 2^10 to 2^most, one in each, the parts in random order.
std::vector<std::int64_t> random_lengths(int count, double most, std::mt19937_64 &random) {
  const auto turn = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<std::int64_t> lengths;
  for (int i = 0; i < count; ++i)
    lengths.push_back(static_cast<std::int64_t>(std::exp2(10 + (most - 10) * (i + turn()) / count)));
  for (std::size_t i = lengths.size(); i > 1; --i) std::swap(lengths[i - 1], lengths[random() % i]);
  return lengths;
}

double longest(const Subject &subject, const Survey &settings) {
  constexpr double indexed = 22;  // the host makes the indices
  const double whole = settings.octaves - (value_bytes(subject.tree.type) > 8 ? 1 : 0);
  return subject.tree.index_type ? std::min(whole, indexed) : whole;
}

}  // namespace

std::string operation_of(const Subject &subject) {
  const std::string name = subject.tree.operation_name();
  for (const char *family : {"multidot", "gather", "scatter"})
    if (name.rfind(family, 0) == 0) return family;
  return name;
}

std::vector<Subject> wanted_subjects(const std::string &only, int count) {
  std::vector<Subject> subjects;
  std::stringstream names(only.empty() ? usual_subjects : only);
  for (std::string name; std::getline(names, name, ',');) subjects.push_back({subject_named(name), name, {}, count});
  return subjects;
}

std::vector<Subject> every_subject(int count, const std::string &only) {
  std::vector<Subject> subjects;
  std::map<std::string, int> parts;
  for (const std::string &operation : tree_operations())
    for (const char *type : {"f32", "f64", "c64", "c128"}) {
      const std::string name = operation + "-" + type;
      Subject subject{subject_named(name), name, {}, 0};
      if (!only.empty() && ("," + only + ",").find("," + operation_of(subject) + ",") == std::string::npos) continue;
      const bool complex = type[0] == 'c';
      if (is_reduction(subject)) {
        const std::int32_t which = subject.tree.operation;
        if (complex && (which == SXT_REDUCTION_MIN || which == SXT_REDUCTION_MAX)) continue;
        if (!complex && which == SXT_REDUCTION_DOTC) continue;
      }
      ++parts[operation_of(subject)];
      subjects.push_back(std::move(subject));
    }
  for (Subject &subject : subjects) subject.count = std::max(1, count / parts[operation_of(subject)]);
  return subjects;
}

void survey(Context &context, std::vector<Subject> &subjects, const Survey &settings) {
  Operands operands(context.device(), static_cast<std::int64_t>(std::exp2(settings.octaves)));
  std::mt19937_64 random(settings.seed);
  std::vector<std::vector<std::int64_t>> lengths;
  int turns = 0;
  for (const Subject &subject : subjects) {
    lengths.push_back(random_lengths(subject.count, longest(subject, settings), random));
    turns = std::max(turns, subject.count);
  }
  const double start = seconds_now();
  std::size_t measured = 0;
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < subjects.size() && seconds_now() - start < settings.budget_s; ++i) {
      Subject &subject = subjects[i];
      const std::size_t due = static_cast<std::size_t>((turn + 1) * subject.count / turns),
                        next = subject.points.size();
      if (next >= due) continue;
      const bool steps = !settings.brief && next % 2 == 0;
      subject.points.push_back(measure(context, subject.tree, lengths[i][next], operands, steps,
                                       settings.brief ? brief_effort : usual_effort));
      ++measured;
    }
  for (const Subject &subject : subjects)
    std::printf("%s: %zu of %d points\n", subject.name.c_str(), subject.points.size(), subject.count);
  std::printf("%zu points measured in %.0f s\n", measured, seconds_now() - start);
  std::fflush(stdout);
}

}  // namespace regret
