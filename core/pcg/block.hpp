// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides at once: where an engine that multiplies A by all of them in one pass is predicted to end
// sooner than the engine in force, column after column. Each column has callbacks, an end and a report of its own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/choose/selector.hpp"
#include "core/pcg/settings.hpp"
#include "core/run/prepared.hpp"

namespace sextant {

class EngineSystem;
class PcgSetup;
struct Expectation;
struct PcgProblem;

// A right-hand side and its solution, n values each, anywhere: what the device does not reach is copied there, and x
// back.
struct ArrayColumn {
  const void *b;
  void *x;
  SolveSettings settings;
};
inline constexpr std::int32_t most_columns = 32;

// Engines for several columns, each chosen when so many are first solved for. Thread-safe, but for drop and refresh,
// which no run may meet.
class ColumnEngines {
 public:
  // one: the engine in force. NULL: one after the other is predicted to end sooner, or no engine takes so many. Where
  // there was no memory for one it is tried again the next time.
  Runner *get(const PcgProblem &problem, const EngineSystem &system, const Choice &one, const Expectation &expected,
              const LeftOut &left_out, std::int32_t columns);
  void refresh();  // new values
  void drop();
  void append_choices(std::vector<ChoicePtr> &choices) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::int32_t, std::unique_ptr<Runner>> engines_;  // by how many; NULL: one after the other
};

// On an engine of the set-up for columns.size() columns; reports: as many. They run unaccompanied: no progress, cancel
// or time limit. Throws what a solve throws. Any thread that has the set-up in use.
void solve_together(PcgSetup &setup, Runner &engine, std::span<const ArrayColumn> columns, sxt_pcg_report *reports);

}  // namespace sextant
