// SPDX-License-Identifier: BSD-3-Clause
#include "state.hpp"

namespace sextant_cholesky_streams {
namespace {

using sextant::plugin::value_bytes;

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

constexpr std::uint64_t verdict_bytes = 16;

// Calls f(array, from, count, what) for all that a state copies.
template <class F>
void for_arrays(State &at, const Plan &plan, bool solves, F &&f) {
  const sxt_symbolic &s = plan.s;
  const std::int64_t supers = s.n_super;
  f(at.super_ptr, s.super_ptr, supers + 1, "first columns");
  f(at.row_ptr, s.row_ptr, supers + 1, "places of row lists");
  f(at.value_ptr, s.value_ptr, supers + 1, "places of values");
  f(at.rows, s.rows, supers ? s.row_ptr[supers] : 0, "row lists");
  f(at.super_of, plan.super_of.data(), s.n, "supernodes of columns");
  if (!solves) {
    f(at.entry_from, s.entry_from, s.n_entries, "numbers of entries");
    f(at.entry_to, s.entry_to, s.n_entries, "places of entries");
    f(at.subtrees, plan.subtrees.data(), static_cast<std::int64_t>(plan.subtrees.size()), "subtrees");
    f(at.contributed, plan.columns.data(), static_cast<std::int64_t>(plan.columns.size()), "columns");
    f(at.column_at, plan.column_at.data(), static_cast<std::int64_t>(plan.column_at.size()), "places of contributions");
    f(at.from_tree, plan.from_tree.data(), static_cast<std::int64_t>(plan.from_tree.size()), "contributions");
    f(at.from_row, plan.from_row.data(), static_cast<std::int64_t>(plan.from_row.size()), "rows of contributions");
    return;
  }
  f(at.perm, s.perm, s.n, "the order");
  f(at.place, plan.place_in_parent.data(), static_cast<std::int64_t>(plan.place_in_parent.size()), "places in parents");
  f(at.child_at, plan.child_at.data(), static_cast<std::int64_t>(plan.child_at.size()), "places of children");
  f(at.children, plan.children.data(), static_cast<std::int64_t>(plan.children.size()), "children");
}

std::vector<std::int32_t> all_jobs(const Plan &plan) {
  std::vector<std::int32_t> jobs;
  for (const Level &level : plan.levels) jobs.insert(jobs.end(), level.narrow.begin(), level.narrow.end());
  return jobs;
}

template <class X>
void upload(const sxt_exec *exec, DeviceArray &to, const X *from, std::int64_t count, const char *what) {
  to = DeviceArray(exec, static_cast<std::uint64_t>(count) * sizeof(X), what);
  cuda::copy(exec, to.data(), from, to.bytes(), what);
}

}  // namespace

std::uint64_t state_bytes(const Plan &plan, bool solves) {
  State unused;
  std::uint64_t sum = 0;
  for_arrays(unused, plan, solves, [&](DeviceArray &, const auto *from, std::int64_t count, const char *) {
    sum += aligned(static_cast<std::uint64_t>(count) * sizeof *from);
  });
  for (const Level &level : plan.levels) sum += level.narrow.size() * sizeof(std::int32_t);
  return sum;
}

std::uint64_t session_bytes(const Plan &plan, sxt_value_type type, bool solves, int streams, std::int64_t sets,
                            std::int64_t columns) {
  const std::uint64_t number = value_bytes(type), n = static_cast<std::uint64_t>(plan.s.n);
  if (solves) return number * static_cast<std::uint64_t>(columns) * (n + plan.place_in_parent.size());
  const auto many = static_cast<std::uint64_t>(sets), lanes = static_cast<std::uint64_t>(streams);
  return number * static_cast<std::uint64_t>(plan.update_values) +
         lanes * number * static_cast<std::uint64_t>(plan.buffer_values) + lanes * sizeof(unsigned) +
         many * (verdict_bytes + n);
}

void fill(State &state, const sxt_exec *exec) {
  const Plan &plan = *state.plan;
  const bool solves = state.phase == SXT_CHOLESKY_SOLVE;
  for_arrays(state, plan, solves, [&](DeviceArray &array, const auto *from, std::int64_t count, const char *what) {
    upload(exec, array, from, count, what);
  });
  const std::vector<std::int32_t> jobs = all_jobs(plan);
  if (solves) upload(exec, state.jobs, jobs.data(), static_cast<std::int64_t>(jobs.size()), "jobs");
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

void fill(Session &session, const State &state, const sxt_filled *slots, const sxt_exec *exec) {
  const Plan &plan = *state.plan;
  const std::uint64_t number = value_bytes(state.type), n = static_cast<std::uint64_t>(plan.s.n);
  if (state.phase == SXT_CHOLESKY_SOLVE) {
    const std::uint64_t column = number * static_cast<std::uint64_t>(state.columns);
    SolveSession &s = session.solve.emplace();
    s.x = DeviceArray(exec, column * n, "right-hand sides");
    s.fronts = DeviceArray(exec, column * plan.place_in_parent.size(), "vectors of fronts");
    return;
  }
  FactorSession &s = session.factor.emplace(state.streams);
  const auto lanes = static_cast<std::uint64_t>(state.streams), sets = static_cast<std::uint64_t>(state.sets);
  s.updates = DeviceArray(exec, number * static_cast<std::uint64_t>(plan.update_values), "contributions of subtrees");
  s.buffers = DeviceArray(exec, lanes * number * static_cast<std::uint64_t>(plan.buffer_values), "products");
  s.tickets = DeviceArray(exec, lanes * sizeof(unsigned), "counters");
  s.verdicts = DeviceArray(exec, sets * verdict_bytes, "verdicts");
  s.marks = DeviceArray(exec, sets * n, "marks of changed pivots");
  s.last.resize(static_cast<std::size_t>(plan.s.n_blocks));
  s.targets.reserve(static_cast<std::size_t>(plan.most_targets));
  s.told.resize(static_cast<std::size_t>(2 * sets));
  s.changed.resize(static_cast<std::size_t>(n));
  for (int lane = 0; lane < state.streams; ++lane)
    s.dense.push_back(slots[0].parts[lane % static_cast<int>(slots[0].instances)]);
  cuda::fill_bytes(exec, s.tickets.data(), 0, s.tickets.bytes(), "clear counters");
  cuda::wait(exec);
}

}  // namespace sextant_cholesky_streams
