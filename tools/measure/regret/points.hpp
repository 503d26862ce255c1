// SPDX-License-Identifier: BSD-3-Clause
// What gpu_regret compares with: every candidate of every kernel, measured at some n, with operands that the last cache
// holds ("hot") and with operands that it cannot hold ("cold").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/choose/tree.hpp"
#include "core/context/context.hpp"

namespace regret {

// both: the geometric mean of the two, for a choice that serves both.
enum Regime { hot, cold, both };

// One candidate at one n. Candidates near the fastest were measured twice more, some time apart; the others once,
// quickly.
struct Measured {
  const sextant::registry::Kernel *kernel = nullptr;
  std::uint64_t candidate = 0;  // its place in the kernel's list
  std::int64_t launch[4] = {0, 0, 0, 0};
  double first[2] = {0, 0}, second[2] = {0, 0};  // seconds by Regime
  bool judged = true;  // published steps and other libraries are measured, but no tree may take them
  double seconds(Regime regime) const;
  double first_s(Regime regime) const;
  double second_s(Regime regime) const;
};

struct Point {
  std::int64_t n = 0;
  std::vector<Measured> all;
  // The fastest of those a tree may take; NULL when there is none.
  const Measured *fastest(Regime regime) const;
  const Measured *find(const sextant::registry::Kernel *kernel, std::uint64_t candidate) const;
  // The same, or a grid of the kernel that is equal at this n.
  const Measured *find(const sextant::Context &context, const sextant::TreeSubject &subject, const std::string &kernel,
                       std::uint64_t candidate) const;
  // Time of what was taken over that of the fastest. The fastest of many is partly the luckiest: one of the two
  // measurements decides which one is fastest, the other gives its time, and the mean of both assignments counts. Below
  // 1: noise.
  double regret(const Measured &taken, Regime regime) const;
};

// The list a kernel offers for a query.
std::vector<sxt_candidate> candidates_of(const sextant::Context &context, const sextant::registry::Kernel &kernel,
                                         const sextant::Query &query);

struct Subject {
  sextant::TreeSubject tree;
  std::string name;
  std::vector<Point> points;
  int count = 0;  // of points that are wanted
};

// "dot-f64": an operation that has decision trees, and a type.
sextant::TreeSubject subject_named(const std::string &name);

// Vectors for all subjects and lengths up to `longest`; they hold small numbers, so that repeated updates stay finite.
class Operands {
 public:
  static constexpr std::int64_t most_vectors = 16;          // eight inner products
  Operands(sextant::Device &device, std::int64_t longest);  // of elements of 8 bytes
  char *vector(std::size_t i) const { return vectors_[i].as<char>(); }
  std::uint64_t bytes() const { return bytes_; }
  // A permutation of 0 .. n-1 that jumps, for gather and scatter.
  const void *index(sextant::Device &device, std::int64_t n, sxt_index_type type);
  void *result() const { return result_.data(); }

 private:
  std::uint64_t bytes_;
  std::vector<sextant::DeviceBuffer> vectors_;
  sextant::DeviceBuffer result_, index_;
};

// How carefully a point is measured: budgets of the first measurement of everything and of the second one of candidates
// within `near` times the fastest; least number of samples. Candidates predicted to take `far` times the least are left
// out where a run takes that long.
struct Effort {
  double quick_s, careful_s, near, far, long_run_s;
  int samples;
};
inline constexpr Effort usual_effort = {1e-4, 6e-4, 1.06, 1.6, 2e-5, 15}, brief_effort = {1e-5, 1e-4, 1.03, 1.7, 0, 5};

// Everything once, quickly; what comes near the fastest twice more, with care. The published steps only where `steps`
// is set.
Point measure(sextant::Context &context, const sextant::TreeSubject &subject, std::int64_t n, Operands &operands,
              bool steps, const Effort &effort = usual_effort);

}  // namespace regret
