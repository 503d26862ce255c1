// SPDX-License-Identifier: BSD-3-Clause
// cholesky.streams.cuda: supernodal right-looking Cholesky on several streams, as Zou, Dou and Guo published it.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "model.hpp"
#include "sextant/sdk/cuda/dense_panel.hpp"
#include "sextant/sdk/describe.hpp"
#include "state.hpp"

using namespace sextant_cholesky_streams;
using namespace sextant::plugin;

namespace {

bool is_solve(std::int32_t phase) { return phase != SXT_CHOLESKY_FACTOR; }

struct Launch {
  int streams;
  Mapping mapping;
};
Launch launch_of(const sxt_candidate *candidate) {
  if (!candidate || candidate->launch[0] < 1) return {4, Mapping::joined};
  return {static_cast<int>(std::min<std::int64_t>(candidate->launch[0], most_streams)),
          candidate->launch[1] == static_cast<std::int64_t>(Mapping::published) ? Mapping::published : Mapping::joined};
}

std::int64_t columns_of(const sxt_cholesky_query &q) { return std::clamp<std::int64_t>(q.n_rhs, 1, most_columns); }
std::int64_t sets_of(const sxt_cholesky_query &q) { return std::clamp<std::int64_t>(q.n_sets, 1, 64); }

// A front in shared memory has as many numbers in every type.
Limits limits_of(sxt_value_type type) {
  Limits limits;
  if (value_bytes(type) == 16) limits.panel /= 2;
  return limits;
}

// Solves go by leaf subtrees, whatever the factorisation's mapping was.
Plan make_plan(const sxt_symbolic &symbolic, const sxt_cholesky_query &q, Mapping mapping) {
  const bool solves = is_solve(q.phase);
  return Plan(symbolic, limits_of(q.m.q.value_type), solves ? Mapping::joined : mapping, solves);
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *machine, sxt_message *reason) {
  const auto &q = as<sxt_cholesky_query>(query);
  if (q.phase == SXT_CHOLESKY_INVERSE) return refuse(reason, "it computes no entries of the inverse");
  const std::int64_t shared =
      sextant_dense::device::most_panel_shared(static_cast<std::int64_t>(value_bytes(q.m.q.value_type)));
  if (machine && machine->shared_per_block > 0 && shared > machine->shared_per_block)
    return refuse(reason, "a panel takes %lld bytes of shared memory, a block has %lld", (long long)shared,
                  (long long)machine->shared_per_block);
  if (q.max_rows > INT32_MAX || q.n_super > INT32_MAX)
    return refuse(reason, "a front of %lld rows is beyond its integers", (long long)q.max_rows);
  return SXT_OK;
}

sxt_status slot_query(const sxt_query *query, std::uint64_t, std::uint64_t instance, const char *kind, void *out,
                      std::uint64_t capacity) {
  const auto &q = as<sxt_cholesky_query>(query);
  if (is_solve(q.phase) || instance >= static_cast<std::uint64_t>(most_streams)) return SXT_NOT_APPLICABLE;
  if (capacity < sizeof(sxt_dense_query)) return SXT_E_OVERFLOW;
  auto &dense = *static_cast<sxt_dense_query *>(out);
  dense.q = {head<sxt_dense_query>(kind), q.m.q.expected_runs, q.m.q.flags & SXT_QUERY_DETERMINISTIC, q.m.q.value_type};
  dense.count = 1;
  dense.max_m = 1024, dense.max_n = 256, dense.max_k = 256;
  dense.flops = operations_of(dense.q.value_type) * 1024.0 * 256 * 256;
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *slots,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_cholesky_query>(query);
  CandidateList list(out, capacity, count);
  if (is_solve(q.phase)) return fill_solve_model(list.add(), q), SXT_OK;
  for (const Mapping mapping : {Mapping::joined, Mapping::published})
    for (const int streams : {4, 1, 2, 8}) {
      sxt_candidate &c = list.add();
      fill_factor_model(c, q, streams, mapping);
      if (slots) c.setup_s += slots[0].setup_s;
    }
  return SXT_OK;
}

void bytes(const sxt_query *query, const sxt_symbolic *symbolic, const sxt_machine *, const sxt_candidate *candidate,
           std::uint64_t *host, std::uint64_t *device) {
  const auto &q = as<sxt_cholesky_query>(query);
  const Launch launch = launch_of(candidate);
  estimate_bytes(q, launch.streams, host, device);
  if (!symbolic) return;
  try {
    const Plan plan = make_plan(*symbolic, q, launch.mapping);
    const bool solves = is_solve(q.phase);
    const auto n = static_cast<std::uint64_t>(symbolic->n);
    *device = state_bytes(plan, solves) +
              session_bytes(plan, q.m.q.value_type, solves, launch.streams, sets_of(q), columns_of(q));
    *host = sizeof(State) + plan.bytes();
    if (!solves) *host += n + static_cast<std::uint64_t>(symbolic->n_blocks) * sizeof(Mark) + sizeof(Session);
  } catch (...) {  // the estimate stands
  }
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *slots,
                   const sxt_exec *exec, void **state) {
  if (!problem->data || !is_kind(*problem->data, SXT_KIND_SYMBOLIC))
    return error(exec, SXT_E_ARGUMENT, "the problem has no symbolic structure");
  const auto &q = as<sxt_cholesky_query>(problem->query);
  const Launch launch = launch_of(candidate);
  if (!is_solve(q.phase) && (!slots || slots[0].instances == 0))
    return error(exec, SXT_E_NOT_SUPPORTED, "it needs a kernel of kind %s", SXT_KIND_DENSE);
  return cuda::build<State>(exec, state, [&](State &made) -> sxt_status {
    made.type = q.m.q.value_type;
    made.phase = is_solve(q.phase) ? SXT_CHOLESKY_SOLVE : SXT_CHOLESKY_FACTOR;
    made.streams = launch.streams;
    made.sets = sets_of(q), made.columns = columns_of(q);
    if (const sxt_status failed = load_solve(exec, made.type)) return failed;
    if (const sxt_status failed = is_solve(q.phase) ? SXT_OK : load_factor(exec, made.type, limits_of(made.type)))
      return failed;
    made.plan.emplace(as<sxt_symbolic>(problem->data), limits_of(made.type),
                      is_solve(q.phase) ? Mapping::joined : launch.mapping, is_solve(q.phase));
    return fill(made, exec), SXT_OK;
  });
}

sxt_status open(const void *state, const sxt_filled *slots, const sxt_exec *exec, void **session) {
  return cuda::build<Session>(exec, session, [&](Session &made) {
    return fill(made, *static_cast<const State *>(state), slots, exec), SXT_OK;
  });
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_cholesky_args>(head);
  const State &state = *static_cast<const State *>(opaque);
  if (const sxt_status wrong = sextant_cholesky::check(args, state.plan->s, exec)) return wrong;
  if (const sxt_status wrong = sextant_cholesky::check_types(args, state.type, exec)) return wrong;
  if (args.phase == SXT_CHOLESKY_PIVOTS) return run_pivots(state, args, exec);
  const bool factors = args.phase == SXT_CHOLESKY_FACTOR;
  const std::int32_t needed = factors ? SXT_CHOLESKY_FACTOR : SXT_CHOLESKY_SOLVE;
  if (args.phase == SXT_CHOLESKY_INVERSE)
    return error(exec, SXT_E_NOT_SUPPORTED, "this scheduler computes no entries of the inverse");
  if (!session || state.phase != needed)
    return error(exec, SXT_E_STATE, "the session was opened for phase %d, not for %d", state.phase, needed);
  Session &s = *static_cast<Session *>(session);
  return factors ? run_factor(state, *s.factor, args, exec) : run_solve(state, *s.solve, args, exec);
}

const sxt_kernel kernel = [] {
  static const char *const dense[] = {SXT_KIND_DENSE, nullptr};
  static const sxt_slot slots[] = {{"dense", dense, 0, 0, static_cast<std::uint32_t>(most_streams), 0}};
  static const sxt_cholesky_ops ops = {sizeof ops, bytes};
  sxt_kernel k = new_kernel(SXT_KIND_CHOLESKY, "cholesky.streams.cuda", "cuda",
                            "supernodal right-looking, tasks first in first out on streams, events between them", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_PLAIN_FACTOR;
  k.term_names = stream_terms;
  k.term_defaults = stream_defaults;
  k.slots = slots;
  k.n_slots = 1;
  k.ops = &ops;
  set_calls<State>(k, {applicable, candidates, prepare});
  k.slot_query = slot_query;
  k.open = open;
  k.close = destroy<Session>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("cholesky-streams-cuda", out);
}
