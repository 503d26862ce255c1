// SPDX-License-Identifier: BSD-3-Clause
// What the pieces of planning share: the problem, what a solve is expected to take, and what all is predicted to cost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "core/context/context.hpp"
#include "core/pcg/null_space.hpp"
#include "core/pcg/settings.hpp"
#include "core/pcg/taken_in.hpp"
#include "core/run/choice.hpp"

namespace sextant {

// What is solved, as every piece of a set-up sees it. Read-only, for any number of threads; what it refers to must
// outlive it.
struct PcgProblem {
  const PcgSettings &settings;
  const TakenIn &taken;
  const NullSpace &null_space;

  Matrix &matrix() const { return taken.matrix(); }
  Context &context() const { return taken.matrix().context(); }
  bool on_host() const { return context().device().on_host(); }
  // What a set-up is weighed against.
  double solves() const { return std::max(1.0, settings.expected_solves); }
  double tolerance() const { return settings.rtol > 0 ? settings.rtol : 1e-8; }
  // Nothing of engine, preconditioner and storage is the caller's decision.
  bool chooses_freely() const {
    return settings.engine.empty() && settings.preconditioner.empty() && storage_wanted(settings, context()).empty();
  }
};

// How many iterations a solve takes. A value: another number makes another one.
struct Expectation {
  double iterations = 0;  // of one solve
  double assumed = 0;     // what choices are made for: on a coarse grid, and on a device the mean
  double mean_over = 1;   // of what such expectations turn out to be, over them
  bool stated = false;    // by the caller, whose number goes on no grid

  Expectation with(double iterations) const;
  // From now on expectations scatter otherwise.
  Expectation scattering(double mean_over, double iterations) const;
};

// What the set-up knows of iterations, and from where.
struct Outlook {
  Expectation expected;
  std::string from;        // where the number comes from
  bool settled = false;    // the condition that the probe found
  bool tells = true;       // false: the residual of the probe had not begun to fall
  std::int64_t steps = 0;  // of the probe
  double seconds = 0;      // of it and of trials, by the clock
  double residual = 1;     // the least |r| that it saw, over |b|
};

// The seconds that a set-up is predicted to take, added up where they arise. One thread at a time; a copy keeps what
// stood in the book before a trial.
class CostBook {
 public:
  void add(double seconds) { seconds_ += seconds; }
  // Storages and features are counted by the matrices that hold them.
  void count(const Choice &built) { seconds_ += built.setup_s - built.features_s; }
  double seconds() const { return seconds_; }

 private:
  double seconds_ = 0;
};

// Predicted seconds of a solve, in parts.
struct SolveCosts {
  double iteration_s = 0;
  double engine_s = 0;    // the engine beside its iterations
  double start_s = 0;     // before the engine
  double residual_s = 0;  // a true residual

  double solve_s(double iterations, double confirmations) const {
    return start_s + confirmations * residual_s + engine_s + iterations * iteration_s;
  }
};
// engine: chosen for the matrix `seen`. truth: the kernel of true residuals. ordered: its rows stand in another order.
SolveCosts predict_solve(const PcgProblem &problem, Matrix &seen, const Choice &engine, const Choice &truth,
                         double assumed_iterations, bool ordered);

// Asking engines of a device that leave their steps to other kernels, for every storage: on the host, meanwhile the
// device is idle (docs/pcg.md). Of one such engine, which was named, and of one that leaves nothing but M to others.
inline constexpr double asking_composed_s = 1.2e-3, asking_named_s = 4e-4, asking_with_m_s = 1e-4;
// Predicted seconds of one question about engines that is put to all that there are, or to the one that was named.
double asking_seconds(const PcgProblem &problem);

// Fewer iterations of a probe tell nothing; after more, residuals of most matrices have shown their rate (docs/pcg.md
// has the estimates of 41 systems).
inline constexpr std::int64_t least_steps = 10, most_steps = 80;
// Below this predicted total not even looking at another preconditioner would pay.
inline constexpr double worth_looking_s = 5e-3;
// What another way must save: what it costs is certain, what it saves is predicted.
inline constexpr double least_gain = 0.1;

// Two digits: more would claim to be known.
inline std::string about(double value) {
  char out[32];
  std::snprintf(out, sizeof out, "%.2g", value);
  return out;
}

inline double total_of(const Choice &engine, double solves) {
  return engine.setup_s + engine.storage_s + std::max(1.0, solves) * engine.run_s;
}

}  // namespace sextant
