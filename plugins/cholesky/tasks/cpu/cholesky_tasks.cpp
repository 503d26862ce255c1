// SPDX-License-Identifier: BSD-3-Clause
// cholesky.tasks.cpu: a multifrontal factorisation as tasks over the assembly tree, on the threads that the call is
// lent.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "model.hpp"
#include "runs.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant_cholesky_tasks;
using namespace sextant::plugin;

namespace {

std::int32_t phase_of(const sxt_cholesky_query &q) {
  return q.phase == SXT_CHOLESKY_FACTOR || q.phase == SXT_CHOLESKY_INVERSE ? q.phase : SXT_CHOLESKY_SOLVE;
}

// Without a structure: lists of rows and entries, what lies on stacks, vectors.
void estimate(const sxt_cholesky_query &q, std::int64_t threads, std::uint64_t *bytes) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type)), n = static_cast<double>(q.m.rows);
  const double rows = static_cast<double>(q.index_size) - n, team = static_cast<double>(threads);
  double sum = 12 * rows + 8 * static_cast<double>(q.m.nnz) / 2 + 60 * static_cast<double>(q.n_super) + 1e4;
  if (phase_of(q) == SXT_CHOLESKY_FACTOR) sum += number * (1.3 + 0.1 * team) * q.stack_values + n;
  if (phase_of(q) == SXT_CHOLESKY_SOLVE)
    sum += number * static_cast<double>(std::clamp<std::int64_t>(q.n_rhs, 1, most_columns)) * 1.1 * n;
  if (phase_of(q) == SXT_CHOLESKY_INVERSE) sum += number * (1.5 + 0.1 * team) * q.stack_values;
  *bytes = static_cast<std::uint64_t>(sum);
}

// How a candidate is launched: threads, and whether sets go side by side.
struct Launch {
  Launch(const sxt_candidate *candidate, std::int64_t by_default)
      : threads(std::max<std::int64_t>(1, candidate ? candidate->launch[0] : by_default)),
        apart(candidate && candidate->launch[1] == sets_apart) {}
  std::int64_t threads;
  bool apart;
};

void set_up(State &state, const sxt_cholesky_query &q, const Launch &launch) {
  state.threads = launch.threads;
  state.apart = launch.apart && state.phase != SXT_CHOLESKY_INVERSE && !state.is_small();
  state.columns = std::clamp<std::int64_t>(q.n_rhs, 1, most_columns);
  state.type = q.m.q.value_type;
}

void bytes(const sxt_query *query, const sxt_symbolic *symbolic, const sxt_machine *machine,
           const sxt_candidate *candidate, std::uint64_t *host, std::uint64_t *device) {
  const auto &q = as<sxt_cholesky_query>(query);
  const Launch launch(candidate, machine ? machine->units : 1);
  *device = 0;
  estimate(q, launch.threads, host);
  if (!symbolic) return;
  try {
    State state(*symbolic, phase_of(q));
    set_up(state, q, launch);
    *host = sizeof(State) + state.plan.bytes() + sizeof(Session) + bytes_of(state);
  } catch (...) {  // the estimate stands
  }
}

sxt_status slot_query(const sxt_query *query, std::uint64_t slot, std::uint64_t instance, const char *kind, void *out,
                      std::uint64_t capacity) {
  if (instance > 0) return SXT_NOT_APPLICABLE;
  if (capacity < sizeof(sxt_dense_query)) return SXT_E_OVERFLOW;
  const auto &q = as<sxt_cholesky_query>(query);
  auto &dense = *static_cast<sxt_dense_query *>(out);
  const bool large = slot == large_slot, solves = phase_of(q) == SXT_CHOLESKY_SOLVE;
  dense.q = {head<sxt_dense_query>(kind), q.m.q.expected_runs, q.m.q.flags & SXT_QUERY_DETERMINISTIC, q.m.q.value_type};
  dense.count = 1;
  dense.max_m = large ? 512 : 24, dense.max_k = large ? 256 : 12;
  dense.max_n = solves ? std::clamp<std::int64_t>(q.n_rhs, 1, most_columns) : dense.max_k;
  dense.flops = multiply_add_flops(dense.q.value_type) * static_cast<double>(dense.max_m * dense.max_n * dense.max_k);
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *slots,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_cholesky_query>(query);
  CandidateList list(out, capacity, count);
  const bool may_go_apart = q.n_sets > 1 && phase_of(q) != SXT_CHOLESKY_INVERSE;
  for_thread_counts(*machine, [&](int threads) {
    for (const bool apart : {true, false}) {
      if (apart && !may_go_apart) continue;
      sxt_candidate &c = list.add();
      fill_model(c, q, threads, apart);
      c.launch[1] = apart ? sets_apart : 0;
      estimate(q, threads, &c.state_bytes);
      if (apart) c.state_bytes *= static_cast<std::uint64_t>(threads);
      if (slots) c.setup_s += slots[0].setup_s + slots[1].setup_s;
    }
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *slots,
                   const sxt_exec *exec, void **state) {
  return guard(exec, [&]() -> sxt_status {
    if (!problem->data || !is_kind(*problem->data, SXT_KIND_SYMBOLIC))
      return error(exec, SXT_E_ARGUMENT, "the problem has no symbolic structure");
    if (!slots) return error(exec, SXT_E_STATE, "its slots for dense operations are not filled");
    for (int slot = 0; slot < 2; ++slot)
      if (slots[slot].scratch_bytes > 0)
        return error(exec, SXT_E_NOT_SUPPORTED, "%s wants scratch, which this scheduler has none of",
                     slots[slot].parts[0]->kernel);
    try {
      const auto &q = as<sxt_cholesky_query>(problem->query);
      auto made = std::make_unique<State>(as<sxt_symbolic>(problem->data), phase_of(q));
      set_up(*made, q, Launch(candidate, exec->threads));
      return give(made.release(), state);
    } catch (const std::length_error &problem) {
      return error(exec, SXT_E_OVERFLOW, "%s", problem.what());
    }
  });
}

sxt_status open(const void *state, const sxt_filled *slots, const sxt_exec *exec, void **session) {
  return guard(exec, [&] { return give(new Session(*static_cast<const State *>(state), slots, exec), session); });
}

template <class T>
void tell_all_pivots(const sxt_symbolic &s, const sxt_cholesky_args &args) {
  for (std::int64_t set = 0; set < args.n_sets; ++set)
    sextant_cholesky::tell_pivots(
        s, sextant_cholesky::set_of<T>(static_cast<const void *>(args.factor), args.stride_factor, set),
        args.factors == SXT_FACTORS_LLH, sextant_cholesky::set_of<real_of<T>>(args.b, args.stride_b, set));
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_cholesky_args>(head);
  const State &state = *static_cast<const State *>(opaque);
  if (const sxt_status wrong = sextant_cholesky::check(args, state.plan.s, exec)) return wrong;
  if (const sxt_status wrong = sextant_cholesky::check_types(args, state.type, exec)) return wrong;
  const bool factors = args.phase == SXT_CHOLESKY_FACTOR;
  if (args.phase == SXT_CHOLESKY_PIVOTS)
    return with_value_type(args.value_type, [&](auto tag) {
      return tell_all_pivots<typename decltype(tag)::type>(state.plan.s, args), SXT_OK;
    });
  const std::int32_t needed = sextant_cholesky::solves(args.phase) ? SXT_CHOLESKY_SOLVE : args.phase;
  if (!session || state.phase != needed)
    return error(exec, SXT_E_STATE, "the session was opened for phase %d, not for %d", state.phase, needed);
  const Session &s = *static_cast<const Session *>(session);
  const std::int64_t useful = useful_threads(needed, state.plan.work, static_cast<double>(state.plan.s.values),
                                             std::min(args.n_rhs, state.columns));
  // Small systems and sets apart go side by side, each on one thread.
  const int lent = team_size(state.threads, *exec);
  const int threads = state.is_small() || state.apart ? lent : static_cast<int>(std::min<std::int64_t>(lent, useful));
  if (factors) return run_factor(s, args, *exec, threads);
  return needed == SXT_CHOLESKY_SOLVE ? run_solve(s, args, *exec, threads) : run_inverse(s, args, *exec, threads);
}

const sxt_kernel kernel = [] {
  static const char *const dense[] = {SXT_KIND_DENSE, nullptr};
  static const sxt_slot slots[] = {{"small", dense, SXT_KERNEL_DETERMINISTIC, 1, 1, 0},
                                   {"large", dense, SXT_KERNEL_DETERMINISTIC, 1, 1, 0}};
  static const sxt_cholesky_ops ops = {sizeof ops, bytes};
  sxt_kernel k = new_kernel(SXT_KIND_CHOLESKY, "cholesky.tasks.cpu", "cpu",
                            "multifrontal, tasks over the assembly tree, large fronts in tiles", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_COMMON_FACTOR;
  k.term_names = task_terms;
  k.slots = slots;
  k.n_slots = 2;
  k.ops = &ops;
  set_calls<State>(k, {nullptr, candidates, prepare});
  k.slot_query = slot_query;
  k.open = open;
  k.close = destroy<Session>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel>("cholesky-tasks", out);
}
