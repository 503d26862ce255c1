// SPDX-License-Identifier: BSD-3-Clause
// Which block size is tried next, and which one has won: for one kernel, one class of launches and one original size.
// Pure bookkeeping; times come from outside.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "policy/cache.hpp"
#include "policy/policy.hpp"

namespace sextant::retune {

class Trials {
 public:
  // Begins with the shapes of the class's first launch; later ones may lack some of them.
  void begin(const std::vector<Shape> &shapes);
  void begin(const CacheEntry &known);
  bool begun() const { return !candidates_.empty() || decided_; }
  bool decided() const { return decided_; }
  std::uint32_t chosen() const { return chosen_; }
  // Seconds over threads; infinite where nothing was measured.
  double original_s() const { return original_s_; }
  double chosen_s() const { return chosen_s_; }

  // What this launch should try; none: nothing more is needed of it.
  std::optional<Shape> next(const Shape &original, const Facts &facts, const sxt_launch_limits &limits);
  // Seconds over threads that a trial of this size may take, by what is known; 0: nothing is.
  double expected_s() const;
  // A trial ended; without a time it counts as one that told nothing.
  void note(std::uint32_t block, std::optional<double> seconds_per_thread, std::int64_t threads);

 private:
  struct Candidate {
    std::uint32_t block = 0;
    double best_s = std::numeric_limits<double>::infinity();
    int started = 0, ended = 0;
  };
  void decide(std::int64_t threads);
  int wanted(const Candidate &candidate, double leader) const;
  bool beyond_hopeless(const Candidate &candidate, double leader) const;
  double leader() const;
  std::vector<Candidate> candidates_;  // the original first
  bool decided_ = false;
  std::uint32_t chosen_ = 0;
  double original_s_ = std::numeric_limits<double>::infinity(), chosen_s_ = std::numeric_limits<double>::infinity();
};

// The time of the process that trials may cost: a share of what has passed since the start.
class Budget {
 public:
  static constexpr double share = 0.0025;
  explicit Budget(std::int64_t start_ns) : start_ns_(start_ns) {}
  // Takes the expected cost, or says after how many nanoseconds it would be there.
  std::int64_t wait_for(double seconds, std::int64_t now_ns) const;
  void spend(double seconds) { spent_ += seconds; }
  double spent() const { return spent_; }

 private:
  std::int64_t start_ns_;
  double spent_ = 0;
};

}  // namespace sextant::retune
