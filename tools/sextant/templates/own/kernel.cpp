// SPDX-License-Identifier: BSD-3-Clause
// @KERNEL@: the kind of kind.hpp, elements shared by threads.
#include <cstdint>

#include "kind.hpp"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/third_party.hpp"

using namespace sextant::plugin;

extern const sxt_kind own_kind;  // cases.cpp
extern const sxt_kernel own_reference;

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

// x is read, y written.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<OwnQuery>(query);
  const double n = static_cast<double>(q.n), bytes = static_cast<double>(value_bytes(q.q.value_type));
  CpuCost cost;
  cost.stream_bytes = cost.working_set = 2 * n * bytes;
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
void smooth(const OwnArgs &args, Range part) {
  const T *x = static_cast<const T *>(args.x);
  T *y = static_cast<T *>(args.y);
  const auto at = [&](std::int64_t i) { return i >= 0 && i < args.n ? x[i] : T(0); };
  for (std::int64_t i = part.begin; i < part.end; ++i) y[i] = real_of<T>(0.25) * (at(i - 1) + x[i] + x[i] + at(i + 1));
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const auto &args = as<OwnArgs>(head);
  ++static_cast<Session *>(session)->runs;
  const int team = team_size(state.threads, *exec);
  return with_value_type(state.type, [&]<class T>(Tag<T>) {
    for_each_part(team, team, [&](int part) { smooth<T>(args, part_of(args.n, team, part, 64)); });
    return SXT_OK;
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(KIND_OWN, "@KERNEL@", "cpu", "smoothing, threads share the elements", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = all_value_types;
  k.term_names = cpu_terms;
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
  static const sxt_kernel *const kernels[] = {&own_reference, &kernel};
  static const sxt_kind *const kinds[] = {&own_kind};
  static const sxt_plugin plugin = third_party(describe("@NAME@", kernels, kinds, 1), "0.1.0", nullptr, nullptr);
  return *out = &plugin, SXT_OK;
}
