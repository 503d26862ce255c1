// SPDX-License-Identifier: BSD-3-Clause
// cholesky.levels.cuda: multifrontal Cholesky on one GPU, all fronts of a level of the assembly tree at once.
#include <algorithm>
#include <cstdint>

#include "model.hpp"
#include "sextant/sdk/cuda/dense_panel.hpp"
#include "sextant/sdk/describe.hpp"
#include "state.hpp"

using namespace sextant_cholesky_levels;
using namespace sextant::plugin;

namespace {

// Levels that are recorded: a launch at least each, and a graph has room for so many.
constexpr std::int64_t most_levels = 20000;

bool is_solve(std::int32_t phase) { return phase != SXT_CHOLESKY_FACTOR; }
Room room_of(const sxt_cholesky_query &q, const Plan &plan, bool solves) {
  return solves ? solve_room(q) : factor_room(q, static_cast<double>(plan.update_values[0] + plan.update_values[1]));
}

Widths widths_of(const sxt_candidate *candidate, const sxt_cholesky_query &q) {
  Widths widths;
  widths.number = static_cast<std::int64_t>(value_bytes(q.m.q.value_type));
  if (is_solve(q.phase)) widths.columns = solve_room(q).group();
  widths.wide_tiles = q.m.q.value_type == SXT_F64;
  if (!candidate || candidate->launch[0] < panel_columns) return widths;
  if (q.m.q.value_type == SXT_F32 && (candidate->launch[2] == 1 || candidate->launch[2] == 3))
    widths.products = candidate->launch[2], widths.wide_tiles = true;
  widths.block = candidate->launch[0] / panel_columns * panel_columns;
  widths.most_small = std::clamp<std::int64_t>(candidate->launch[1], 40, 200);
  return widths;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *machine, sxt_message *reason) {
  const auto &q = as<sxt_cholesky_query>(query);
  if (q.phase == SXT_CHOLESKY_INVERSE) return refuse(reason, "it computes no entries of the inverse");
  constexpr std::int64_t shared = std::int64_t{208} << 10;
  if (machine && machine->shared_per_block > 0 && shared > machine->shared_per_block)
    return refuse(reason, "a front takes up to %lld bytes of shared memory, a block has %lld", (long long)shared,
                  (long long)machine->shared_per_block);
  if (q.height > most_levels)
    return refuse(reason, "the assembly tree has %lld levels, it records at most %lld", (long long)q.height,
                  (long long)most_levels);
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_cholesky_query>(query);
  CandidateList list(out, capacity, count);
  if (is_solve(q.phase)) return fill_solve_model(list.add(), q), SXT_OK;
  const auto add = [&](std::int64_t products) {
    for (const std::int64_t block : {256, 128, 512})
      for (const std::int64_t small : {88, 200}) {
        Widths widths;
        widths.block = block, widths.most_small = small, widths.products = products;
        fill_factor_model(list.add(), q, widths);
      }
  };
  const bool f32 = q.m.q.value_type == SXT_F32;
  if (f32) add(3);
  add(0);
  if (f32 && (q.m.q.flags & SXT_QUERY_ROUNDED)) add(1);
  return SXT_OK;
}

void bytes(const sxt_query *query, const sxt_symbolic *symbolic, const sxt_machine *, const sxt_candidate *candidate,
           std::uint64_t *host, std::uint64_t *device) {
  const auto &q = as<sxt_cholesky_query>(query);
  estimate_bytes(q, host, device);
  if (!symbolic) return;
  try {
    const bool solves = is_solve(q.phase);
    const Plan plan(*symbolic, widths_of(candidate, q), solves);
    const Room room = room_of(q, plan, solves);
    *device = state_bytes(plan, solves) + session_bytes(plan, q.m.q.value_type, solves, room);
    *host = sizeof(State) + sizeof(Session) + plan.bytes();
    if (!solves) *host += static_cast<std::uint64_t>(symbolic->n) + 16 * static_cast<std::uint64_t>(room.sets);
  } catch (...) {  // the estimate stands
  }
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  if (!problem->data || !is_kind(*problem->data, SXT_KIND_SYMBOLIC))
    return error(exec, SXT_E_ARGUMENT, "the problem has no symbolic structure");
  const auto &q = as<sxt_cholesky_query>(problem->query);
  return cuda::build<State>(exec, state, [&](State &made) -> sxt_status {
    made.type = q.m.q.value_type, made.factors = q.factors;
    made.phase = is_solve(q.phase) ? SXT_CHOLESKY_SOLVE : SXT_CHOLESKY_FACTOR;
    const Widths widths = widths_of(candidate, q);
    if (const sxt_status failed = load_solve(exec, made)) return failed;
    if (const sxt_status failed = is_solve(q.phase) ? SXT_OK : load_factor(exec, made.type, widths)) return failed;
    made.plan.emplace(as<sxt_symbolic>(problem->data), widths, is_solve(q.phase));
    made.room = room_of(q, *made.plan, is_solve(q.phase));
    return fill(made, exec), SXT_OK;
  });
}

sxt_status open(const void *state, const sxt_filled *, const sxt_exec *exec, void **session) {
  return cuda::build<Session>(
      exec, session, [&](Session &made) { return fill(made, *static_cast<const State *>(state), exec), SXT_OK; });
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_cholesky_args>(head);
  const State &state = *static_cast<const State *>(opaque);
  if (const sxt_status wrong = sextant_cholesky::check(args, state.plan->s, exec)) return wrong;
  if (args.factors != state.factors)
    return error(exec, SXT_E_STATE, "it was prepared for factorisation %d, not for %d", state.factors, args.factors);
  if (const sxt_status wrong = sextant_cholesky::check_types(args, state.type, exec)) return wrong;
  if (args.phase == SXT_CHOLESKY_PIVOTS) return run_pivots(state, args, exec);
  if (args.phase == SXT_CHOLESKY_INVERSE)
    return error(exec, SXT_E_NOT_SUPPORTED, "this scheduler computes no entries of the inverse");
  const bool factors = args.phase == SXT_CHOLESKY_FACTOR;
  if (!session || state.phase != (factors ? SXT_CHOLESKY_FACTOR : SXT_CHOLESKY_SOLVE))
    return error(exec, SXT_E_STATE, "the session was opened for phase %d, not for %d", state.phase, args.phase);
  Session &s = *static_cast<Session *>(session);
  return factors ? run_factor(state, *s.factor, args, exec) : run_solve(state, *s.solve, args, exec);
}

const sxt_kernel kernel = [] {
  static const sxt_cholesky_ops ops = {sizeof ops, bytes};
  sxt_kernel k = new_kernel(SXT_KIND_CHOLESKY, "cholesky.levels.cuda", "cuda",
                            "multifrontal, all fronts of a level at once, recorded and replayed", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_PLAIN_FACTOR;
  k.term_names = level_terms;
  k.term_defaults = level_defaults;
  k.ops = &ops;
  set_calls<State>(k, {applicable, candidates, prepare});
  k.open = open;
  k.close = destroy<Session>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("cholesky-levels-cuda", out);
}
