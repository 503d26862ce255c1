// SPDX-License-Identifier: BSD-3-Clause
#include "session.hpp"

namespace sextant_cholesky_tasks {

std::uint64_t Layout::take(std::uint64_t size, std::int64_t count) {
  const std::uint64_t at = bytes;
  bytes += (size * static_cast<std::uint64_t>(count) + 63) / 64 * 64;
  return at;
}

Layout::Layout(const State &state, std::int64_t threads) {
  const Plan &plan = state.plan;
  const std::uint64_t number = sextant::plugin::value_bytes(state.type);
  const auto units = static_cast<std::int64_t>(plan.units.size());
  const std::int64_t alone = state.is_small() ? threads : 1;  // that have vectors or marks of their own
  if (state.phase == SXT_CHOLESKY_INVERSE) {
    kept = take(number, plan.top_square + plan.top_panel);
    stacks = take(number, threads * (plan.stack_square + plan.stack_panel));
    done = take(sizeof(Index), threads * plan.s.max_rows);
    return;
  }
  if (state.phase == SXT_CHOLESKY_FACTOR) {
    kept = take(number, plan.kept_values);
    stacks = take(number, threads * plan.stack_values);
    marks = take(1, alone * plan.s.n);
    keys = take(sizeof(Key), units + plan.tiles);
    waiting = take(sizeof(Index), units), left = take(sizeof(Index), units);
    stage = take(sizeof(std::uint16_t), plan.tiles);
    done = take(sizeof(Index), plan.row_tiles);
    return;
  }
  x = take(number, alone * state.columns * (plan.s.n + plan.kept_rows));
  rows = take(number, threads * state.columns * plan.stack_rows);
  keys = take(sizeof(Key), alone * (2 * units + plan.row_tiles));
  waiting = take(sizeof(Index), alone * units);
  left = take(sizeof(Index), 2 * static_cast<std::int64_t>(plan.tilings.size()));
  done = take(sizeof(Index), plan.row_tiles);
  busy = take(1, plan.row_tiles);
}

Session::Session(const State &known, const sxt_filled *slots, const sxt_exec *exec)
    : state(known), layout(known, known.team()), memory(exec, SXT_SPACE_HOST, bytes_of(known)) {
  for (int slot = 0; slot < 2; ++slot) parts.part[slot] = slots[slot].parts[0];
}

FactorSpace Session::factor_space(int rank, std::int64_t lane) const {
  FactorSpace s;
  s.kept = at(layout.kept, lane), s.stacks = at(layout.stacks, lane);
  s.marks = reinterpret_cast<std::uint8_t *>(at(layout.marks, lane)) + rank * state.plan.s.n;
  s.keys = reinterpret_cast<Key *>(at(layout.keys, lane));
  s.children_left = reinterpret_cast<Index *>(at(layout.waiting, lane));
  s.tiles_left = reinterpret_cast<Index *>(at(layout.left, lane));
  s.stage = reinterpret_cast<std::uint16_t *>(at(layout.stage, lane));
  s.columns_done = reinterpret_cast<Index *>(at(layout.done, lane));
  return s;
}

SolveSpace Session::solve_space(int rank, std::int64_t lane) const {
  const Plan &plan = state.plan;
  const auto units = static_cast<std::int64_t>(plan.units.size());
  SolveSpace s;
  s.x = at(layout.x, lane) + rank * number() * state.columns * (plan.s.n + plan.kept_rows);
  s.rows = at(layout.rows, lane) + rank * number() * state.columns * plan.stack_rows;
  s.keys = reinterpret_cast<Key *>(at(layout.keys, lane)) + rank * (2 * units + plan.row_tiles);
  s.waiting = reinterpret_cast<Index *>(at(layout.waiting, lane)) + rank * units;
  s.solved = reinterpret_cast<Index *>(at(layout.left, lane));
  s.next = reinterpret_cast<Index *>(at(layout.done, lane));
  s.busy = reinterpret_cast<std::uint8_t *>(at(layout.busy, lane));
  return s;
}

InverseSpace Session::inverse_space() const {
  InverseSpace s;
  s.top = at(layout.kept), s.stacks = at(layout.stacks);
  s.places = reinterpret_cast<Index *>(at(layout.done));
  s.most_below = state.plan.s.max_rows;
  return s;
}

}  // namespace sextant_cholesky_tasks
