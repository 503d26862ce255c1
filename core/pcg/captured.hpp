// SPDX-License-Identifier: BSD-3-Clause
// A solve on a stream that the application is capturing: left in its graph as a whole, so that a replay needs no host.
// What it works on was made by a solve before and belongs to the graph from then on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/matrix/matrix.hpp"
#include "core/pcg/setup.hpp"

namespace sextant {

// What graphs hold of a solver, until it is destroyed. With the solver's lock held, each call.
class CapturedSolves : private ValuesFollower {
 public:
  // values_changed: called as soon as the matrix has new values, once something was captured; replays ask for nothing.
  // It takes the lock itself; what it throws is told by the next solve outside of a capture.
  CapturedSolves(std::shared_ptr<Matrix> matrix, std::function<void()> values_changed);
  ~CapturedSolves();
  CapturedSolves(const CapturedSolves &) = delete;
  CapturedSolves &operator=(const CapturedSolves &) = delete;

  // Whether a graph reads the set-up, which must then stay.
  bool any() const noexcept { return !held_.empty(); }
  // Leaves a solve in the graph; the report's reason is NONE. up_to_date: the set-up holds the matrix's values. Throws
  // SXT_E_STATE where engine or memory are not available in a capture, SXT_E_NOT_SUPPORTED for what a host alone does.
  sxt_pcg_report record(PcgSetup &setup, bool up_to_date, const void *b, void *x, const SolveSettings &settings);
  // After new values: graphs have their storages' arrays, whose values follow, but their views as they were.
  void note_new_values(const PcgSetup &setup);
  // Throws SXT_E_STATE, once, where new values have left a graph stale.
  void tell();

 private:
  struct Held;
  void values_changed() noexcept override;
  Held &take(PcgSetup &setup, bool up_to_date);

  std::shared_ptr<Matrix> matrix_;
  std::function<void()> values_changed_;
  std::vector<std::unique_ptr<Held>> held_;
  bool stale_ = false;  // and not yet told
};

}  // namespace sextant
