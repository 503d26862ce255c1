// SPDX-License-Identifier: BSD-3-Clause
// @KERNEL@: the sum of conj(x[i]) y[i], each thread a part of its own; parts are added in their order.
#include <cstdint>

#include "sextant/plugin/kinds/reduction.h"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/third_party.hpp"

using namespace sextant::plugin;

namespace {

constexpr int most_parts = 64;

// Read-only while anything runs.
struct State {
  std::int64_t threads;
  sxt_value_type type;
};

// The sums of the parts: several callers may run one state, each with a session of its own.
struct Session {
  alignas(16) char sums[most_parts * 16];
};

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_reduction_query>(query);
  if (q.operation != SXT_REDUCTION_DOTC) return refuse(reason, "operation %d: it does dotc alone", q.operation);
  if (q.accuracy != SXT_ACCURACY_WORKING) return refuse(reason, "it adds in the working precision alone");
  return SXT_OK;
}

// Both vectors are read; an addition waits for the one before it, and nothing is vectorised.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_reduction_query>(query);
  const double n = static_cast<double>(q.n);
  CpuCost cost;
  cost.stream_bytes = cost.working_set = 2 * n * static_cast<double>(value_bytes(q.q.value_type));
  cost.flops = 4 * n * multiply_add_flops(q.q.value_type) * scalar_slowdown(*machine, q.q.value_type);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    if (threads <= most_parts) fill(list.add(), threads, cost).state_bytes = sizeof(State) + sizeof(Session);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    return give(new State{candidate ? candidate->launch[0] : exec->threads, problem->query->value_type}, state);
  });
}

// It holds no values of a matrix: nothing to renew.
sxt_status refresh(void *, const sxt_problem *, const sxt_exec *) { return SXT_OK; }

sxt_status open(const void *, const sxt_filled *, const sxt_exec *exec, void **session) {
  return guard(exec, [&] { return give(new Session, session); });
}

template <class T>
T sum_of(const sxt_reduction_args &args, Range part) {
  const T *x = static_cast<const T *>(args.x), *y = static_cast<const T *>(args.y);
  T sum{};
  for (std::int64_t i = part.begin; i < part.end; ++i) sum += product(conjugate(x[i]), y[i]);
  return sum;
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_reduction_args>(head);
  const int team = std::min(most_parts, team_size(state.threads, *exec));
  return with_value_type(state.type, [&]<class T>(Tag<T>) {
    T *sums = reinterpret_cast<T *>(static_cast<Session *>(session)->sums);
    for_each_part(team, team, [&](int part) { sums[part] = sum_of<T>(args, part_of(args.n, team, part, 64)); });
    T total{};
    for (int part = 0; part < team; ++part) total += sums[part];
    *static_cast<T *>(args.result) = total;
    return SXT_OK;
  });
}

const sxt_kernel kernel = [] {
  // Without SXT_KERNEL_DETERMINISTIC: bits depend on the number of threads.
  sxt_kernel k = new_kernel(SXT_KIND_REDUCTION, "@KERNEL@", "cpu", "dotc, threads share the elements", run);
  k.value_types = all_value_types;
  k.term_names = cpu_terms;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.refresh = refresh;
  k.open = open;
  k.close = destroy<Session>;
  k.release = destroy<State>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = third_party(describe("@NAME@", kernels), "0.1.0", nullptr, nullptr);
  return *out = &plugin, SXT_OK;
}
