// SPDX-License-Identifier: BSD-3-Clause
#include "lookup.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>

#include "core/model/timing.hpp"
#include "core/operations/operations.hpp"

namespace regret {

using namespace sextant;

namespace {

constexpr std::size_t lengths = 1024;
constexpr int rounds = 41;

// Nanoseconds of one look(n), n in random order; the median of the rounds.
template <class F>
double nanoseconds(const std::vector<std::int64_t> &ns, F &&look) {
  std::vector<double> samples;
  std::uint64_t sum = 0;  // used below, so that nothing is left out
  for (int round = 0; round < rounds; ++round) {
    const double start = seconds_now();
    for (const std::int64_t n : ns) sum += look(n);
    samples.push_back(1e9 * (seconds_now() - start) / static_cast<double>(ns.size()));
  }
  std::nth_element(samples.begin(), samples.begin() + rounds / 2, samples.end());
  volatile std::uint64_t kept = sum;
  static_cast<void>(kept);
  return samples[rounds / 2];
}

}  // namespace

void report_lookups(Context &context, const std::vector<Subject> &subjects) {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> ns;
  for (std::size_t i = 0; i < lengths; ++i)
    ns.push_back(static_cast<std::int64_t>(std::exp2(10 + 16 * static_cast<double>(random() >> 11) * 0x1p-53)));
  Operations operations(context);
  for (const Subject &subject : subjects) {
    const DecisionTree tree = DecisionTree::build(context, subject.tree);
    const double whole = nanoseconds(ns, [&](std::int64_t n) { return tree.find(n); });
    for (const std::int64_t n : ns) operations.planned(subject.tree).at(n);  // builds what calls would find
    const double call = nanoseconds(
        ns, [&](std::int64_t n) { return reinterpret_cast<std::uintptr_t>(&operations.planned(subject.tree).at(n)); });
    std::printf("%-22s lookup in a tree of %zu leaves %.1f ns, from the operation to its kernel %.1f ns\n",
                subject.name.c_str(), tree.leaves().size(), whole, call);
  }
}

}  // namespace regret
