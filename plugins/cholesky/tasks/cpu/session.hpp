// SPDX-License-Identifier: BSD-3-Clause
// What a prepared scheduler keeps, and the memory that one caller works in.
#pragma once

#include <cstdint>

#include "factor.hpp"
#include "inverse.hpp"
#include "plan.hpp"
#include "solve.hpp"

namespace sextant_cholesky_tasks {

// Right-hand sides that are solved for at once.
inline constexpr std::int64_t most_columns = 32;

struct State {
  State(const sxt_symbolic &s, std::int32_t for_phase) : plan(s, for_phase == SXT_CHOLESKY_SOLVE), phase(for_phase) {}
  Plan plan;
  std::int32_t phase;
  std::int64_t threads = 1, columns = 1;
  bool apart = false;  // several sets go side by side, each by one thread, whatever the tree
  sxt_value_type type = SXT_F64;
  // Threads that work on one set in one piece of memory, and such pieces.
  std::int64_t team() const { return apart ? 1 : threads; }
  std::int64_t lanes() const { return apart ? threads : 1; }
  // All sets and right-hand sides are worked on side by side, each by one thread: the whole tree is one unit, and not a
  // front in tiles, which all threads share.
  bool is_small() const {
    return plan.units.empty() || (plan.units.size() == 1 && plan.units[0].kind != Unit::Kind::tiled);
  }
};

// Sizes of one lane's memory, and where its parts begin.
struct Layout {
  Layout(const State &state, std::int64_t threads);
  std::uint64_t bytes = 0;
  std::uint64_t kept = 0, stacks = 0, marks = 0, keys = 0, waiting = 0, left = 0, stage = 0, done = 0, busy = 0, x = 0,
                rows = 0;

 private:
  std::uint64_t take(std::uint64_t size, std::int64_t count);
};

// Bytes of a session.
inline std::uint64_t bytes_of(const State &state) {
  return Layout(state, state.team()).bytes * static_cast<std::uint64_t>(state.lanes());
}

struct Session {
  Session(const State &state, const sxt_filled *slots, const sxt_exec *exec);
  FactorSpace factor_space(int rank, std::int64_t lane = 0) const;
  SolveSpace solve_space(int rank, std::int64_t lane = 0) const;
  InverseSpace inverse_space() const;

  const State &state;
  DenseParts parts{};
  Layout layout;
  sextant::plugin::Memory memory;

 private:
  std::byte *at(std::uint64_t offset, std::int64_t lane = 0) const {
    return memory.as<std::byte>() + layout.bytes * static_cast<std::uint64_t>(lane) + offset;
  }
  std::int64_t number() const { return static_cast<std::int64_t>(sextant::plugin::value_bytes(state.type)); }
};

}  // namespace sextant_cholesky_tasks
