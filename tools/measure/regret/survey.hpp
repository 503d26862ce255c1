// SPDX-License-Identifier: BSD-3-Clause
// Which operations gpu_regret measures at which lengths.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/context/context.hpp"
#include "points.hpp"

namespace regret {

// The named ones, or where `only` is empty the usual ones, at `count` lengths each.
std::vector<Subject> wanted_subjects(const std::string &only, int count);
// Every operation that has a decision tree on every type, `count` lengths an operation. Operations that some types do
// not have are left out there: an order of complex numbers, conjugates of real ones.
// only: some of them, "dot,multidot"; empty: all.
std::vector<Subject> every_subject(int count, const std::string &only);
// "multidot" of "multidot-3-c64": what is counted as one operation.
std::string operation_of(const Subject &subject);

struct Survey {
  double budget_s, octaves;
  std::uint64_t seed;
  bool brief;
};
// Measures. Subjects take turns in proportion to their counts, so that the budget may end it anywhere.
void survey(sextant::Context &context, std::vector<Subject> &subjects, const Survey &settings);

}  // namespace regret
