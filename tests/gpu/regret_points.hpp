// SPDX-License-Identifier: BSD-3-Clause
// What gpu_regret judges against: every candidate of every kernel, measured at some n, with operands that the last
// cache holds ("hot") and with operands that it cannot hold ("cold").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/context/context.hpp"
#include "core/dispatch/tree.hpp"

namespace regret {

enum Regime { hot, cold };

// One candidate at one n. What came near the fastest was measured twice more, some time apart; the others once,
// quickly.
struct Measured {
  const sextant::registry::Kernel *kernel = nullptr;
  std::uint64_t candidate = 0;  // its place in the kernel's list
  std::int64_t launch[4] = {0, 0, 0, 0};
  double first[2] = {0, 0}, second[2] = {0, 0};  // seconds by Regime
  bool judged = true;  // published steps and other libraries are measured, but no tree may take them
  double seconds(Regime regime) const;
};

struct Point {
  std::int64_t n = 0;
  std::vector<Measured> all;
  // The fastest of those a tree may take; NULL when there is none.
  const Measured *fastest(Regime regime) const;
  const Measured *find(const sextant::registry::Kernel *kernel, std::uint64_t candidate) const;
  // Time of what was taken over that of the fastest. The fastest of many is partly the luckiest: who it is comes from
  // one of the two measurements, what it takes from the other, and the mean of both ways counts. Below 1: noise.
  double regret(const Measured &taken, Regime regime) const;
};

struct Subject {
  sextant::TreeSubject tree;
  std::string name;
  std::vector<Point> points;
};

// Vectors for all subjects and lengths up to `longest`; they hold small numbers, so that repeated updates stay finite.
class Operands {
 public:
  static constexpr std::int64_t longest = std::int64_t{1} << 26, most_vectors = 6;
  explicit Operands(sextant::Device &device);
  char *vector(std::size_t i) const { return vectors_[i].as<char>(); }
  std::uint64_t bytes() const { return longest * 8; }
  void *result() const { return result_.data(); }

 private:
  std::vector<sextant::DeviceBuffer> vectors_;
  sextant::DeviceBuffer result_;
};

// Everything once, quickly; what comes near the fastest twice more, with care. The published steps only where `steps`
// is set.
Point measure(sextant::Context &context, const sextant::TreeSubject &subject, std::int64_t n, const Operands &operands,
              bool steps);

}  // namespace regret
