// SPDX-License-Identifier: BSD-3-Clause
#include "state.hpp"

namespace sextant_cholesky_levels {
namespace {

using sextant::plugin::value_bytes;

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

constexpr std::uint64_t verdict_bytes = 16;
// Calls f(array, list or pointer, count, what) for all that a state copies.
template <class F>
void for_arrays(State &at, const Plan &plan, bool solves, F &&f) {
  const sxt_symbolic &s = plan.s;
  const std::int64_t supers = s.n_super;
  const auto list = [&](DeviceArray &array, const auto &from, const char *what) {
    f(array, from.data(), static_cast<std::int64_t>(from.size()), what);
  };
  f(at.super_ptr, s.super_ptr, supers + 1, "first columns");
  f(at.row_ptr, s.row_ptr, supers + 1, "places of row lists");
  f(at.value_ptr, s.value_ptr, supers + 1, "places of values");
  list(at.super_of, plan.super_of, "supernodes of columns");
  list(at.fronts, plan.fronts, "fronts");
  list(at.place, plan.place, "places in parents");
  list(at.children, plan.handing, "children");
  if (!solves) {
    f(at.entry_from, s.entry_from, s.n_entries, "numbers of entries");
    f(at.entry_to, s.entry_to, s.n_entries, "places of entries");
    list(at.small, plan.small_fronts, "small fronts");
    list(at.jobs, plan.jobs, "jobs");
    return;
  }
  f(at.rows, s.rows, supers ? s.row_ptr[supers] : 0, "row lists");
  f(at.perm, s.perm, s.n, "the order");
  list(at.narrow, plan.narrow, "narrow fronts");
  list(at.forward, plan.forward.list, "forward tasks");
  list(at.backward, plan.backward.list, "backward tasks");
  list(at.triangles, plan.triangles, "triangles");
}

}  // namespace

std::uint64_t state_bytes(const Plan &plan, bool solves) {
  State unused;
  std::uint64_t sum = 0;
  for_arrays(unused, plan, solves, [&](DeviceArray &, const auto *from, std::int64_t count, const char *) {
    sum += aligned(static_cast<std::uint64_t>(count) * sizeof *from);
  });
  return sum;
}

namespace {

std::uint64_t work_bytes(const Plan &plan, sxt_value_type type, const Room &room) {
  const std::uint64_t rows = 2 * static_cast<std::uint64_t>(plan.s.n) + plan.place.size();
  return solve_counters + value_bytes(type) * static_cast<std::uint64_t>(room.sets * room.columns) * rows;
}
std::uint64_t inverses_of(const Plan &plan) {  // numbers
  return plan.triangles.size() * static_cast<std::uint64_t>(inverse_values);
}

}  // namespace

std::uint64_t session_bytes(const Plan &plan, sxt_value_type type, bool solves, const Room &room) {
  const std::uint64_t number = value_bytes(type), n = static_cast<std::uint64_t>(plan.s.n);
  const auto sets = static_cast<std::uint64_t>(room.sets);
  if (solves) return work_bytes(plan, type, room) + number * sets * inverses_of(plan);
  return sets * number * static_cast<std::uint64_t>(plan.update_values[0] + plan.update_values[1]) + call_bytes +
         sets * sizeof(unsigned) * static_cast<std::uint64_t>(plan.most_large) + sets * (verdict_bytes + n);
}

void fill(State &state, const sxt_exec *exec) {
  const Plan &plan = *state.plan;
  const bool solves = state.phase == SXT_CHOLESKY_SOLVE;
  for_arrays(state, plan, solves, [&](DeviceArray &to, const auto *from, std::int64_t count, const char *what) {
    to = DeviceArray(exec, static_cast<std::uint64_t>(count) * sizeof *from, what);
    cuda::copy(exec, to.data(), from, to.bytes(), what);
  });
  state.tables = {plan.s.n,
                  plan.s.n_factored,
                  plan.s.n_super,
                  state.super_ptr.as<const std::int64_t>(),
                  state.row_ptr.as<const std::int64_t>(),
                  state.value_ptr.as<const std::int64_t>(),
                  state.rows.as<const std::int32_t>(),
                  state.super_of.as<const std::int32_t>()};
  cuda::wait(exec);  // the copies' sources may go
}

void fill(Session &session, const State &state, const sxt_exec *exec) {
  const Plan &plan = *state.plan;
  const std::uint64_t number = value_bytes(state.type), n = static_cast<std::uint64_t>(plan.s.n);
  const auto sets = static_cast<std::uint64_t>(state.room.sets);
  if (state.phase == SXT_CHOLESKY_SOLVE) {
    SolveSession &s = session.solve.emplace();
    s.work = DeviceArray(exec, work_bytes(plan, state.type, state.room), "right-hand sides and vectors of fronts");
    s.inverses = DeviceArray(exec, number * sets * inverses_of(plan), "inverses of triangles");
    return;
  }
  FactorSession &s = session.factor.emplace();
  for (int k = 0; k < 2; ++k)
    s.updates[k] =
        DeviceArray(exec, sets * number * static_cast<std::uint64_t>(plan.update_values[k]), "contributions of fronts");
  s.tickets =
      DeviceArray(exec, sets * sizeof(unsigned) * static_cast<std::uint64_t>(plan.most_large), "counters of panels");
  s.verdicts = DeviceArray(exec, sets * verdict_bytes, "verdicts");
  s.marks = DeviceArray(exec, sets * n, "marks of changed pivots");
  s.call = DeviceArray(exec, call_bytes, "what a call brings");
  s.told = DeviceArray(exec, sets * verdict_bytes, "verdicts", cuda::Life::state, SXT_SPACE_PINNED);
  s.changed.resize(static_cast<std::size_t>(n));
  cuda::fill_bytes(exec, s.tickets.data(), 0, s.tickets.bytes(), "clear counters");
  cuda::wait(exec);
  s.watch.make();
  record_factor(state, s);
}

}  // namespace sextant_cholesky_levels
