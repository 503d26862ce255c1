// SPDX-License-Identifier: BSD-3-Clause
// @KERNEL@: y = alpha x + beta y, elements shared by threads.
#include <cstdint>

#include "sextant/plugin/kinds/vector.h"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/third_party.hpp"

using namespace sextant::plugin;

namespace {

// Read-only while anything runs.
struct State {
  std::int64_t threads;
  sxt_value_type type;
};

// Room of one caller; several callers may run one state, each with a session of its own. Where yours needs none, leave
// out the struct, open and close.
struct Session {
  std::int64_t runs = 0;
};

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_vector_query>(query);
  if (q.operation != SXT_VECTOR_AXPBY) return refuse(reason, "operation %d: it does axpby alone", q.operation);
  return SXT_OK;
}

// x is read, y read and written; one multiply-add and one product an element.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_vector_query>(query);
  const double n = static_cast<double>(q.n), bytes = static_cast<double>(value_bytes(q.q.value_type));
  CpuCost cost;
  cost.stream_bytes = 3 * n * bytes;
  cost.working_set = 2 * n * bytes;
  cost.flops = 2 * n * multiply_add_flops(q.q.value_type);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) { fill(list.add(), threads, cost).state_bytes = sizeof(State); });
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
void axpby(const sxt_vector_args &args, Range part) {
  const T alpha = scalar(args.alpha, T(1)), beta = scalar(args.beta, T(1));
  const T *x = static_cast<const T *>(args.x);
  T *y = static_cast<T *>(args.y);
  for (std::int64_t i = part.begin; i < part.end; ++i) y[i] = product(alpha, x[i]) + product(beta, y[i]);
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_vector_args>(head);
  if (args.operation != SXT_VECTOR_AXPBY) return error(exec, SXT_E_NOT_SUPPORTED, "operation %d", args.operation);
  ++static_cast<Session *>(session)->runs;
  const int team = team_size(state.threads, *exec);
  return with_value_type(state.type, [&]<class T>(Tag<T>) {
    for_each_part(team, team, [&](int part) { axpby<T>(args, part_of(args.n, team, part, 64)); });
    return SXT_OK;
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_VECTOR, "@KERNEL@", "cpu", "axpby, threads share the elements", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
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
