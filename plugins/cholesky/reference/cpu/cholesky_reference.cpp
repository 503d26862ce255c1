// SPDX-License-Identifier: BSD-3-Clause
// cholesky.reference.cpu: one column after the other on one thread, and no slots.
#include "cholesky_reference.hpp"

#include <complex>
#include <cstdint>
#include <vector>

#include "elimination.hpp"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant_cholesky {
namespace {

struct State {
  explicit State(const sxt_symbolic &s) : entries(s) {}
  Entries entries;
};

template <class T>
void factor_set(const Entries &e, const sxt_cholesky_args &args, std::int64_t set) {
  const sxt_symbolic &s = e.symbolic();
  T *const l = set_of<T>(args.factor, args.stride_factor, set);
  Failure failure = scatter_set(s, args, set, l);
  std::int64_t changed = 0;
  if (failure.column < 0)
    failure = factor(e, l, pivot_rule(args), [&](std::int64_t j) {
      if (args.pivots && changed < args.pivots_capacity) args.pivots[set * args.pivots_capacity + changed] = j;
      ++changed;
    });
  args.failed_column[set] = failure.column;
  args.failed_pivot[set] = failure.pivot;
  args.changed[set] = changed;
}

template <class T>
void solve_set(const Entries &e, const sxt_cholesky_args &args, std::int64_t set, T *x) {
  const sxt_symbolic &s = e.symbolic();
  const T *const l = set_of<T>(static_cast<const void *>(args.factor), args.stride_factor, set);
  const bool unit = args.factors == SXT_FACTORS_LDLH, whole = args.phase == SXT_CHOLESKY_SOLVE;
  for (std::int64_t r = 0; r < args.n_rhs; ++r) {
    T *const b = set_of<T>(args.b, args.stride_b, set) + r * args.ldb;
    const bool from_caller = whole || args.phase == SXT_CHOLESKY_FORWARD;
    const bool to_caller = whole || args.phase == SXT_CHOLESKY_BACKWARD;
    for (std::int64_t k = 0; k < s.n; ++k) x[k] = b[from_caller ? s.perm[k] : k];
    if (from_caller) forward(e, l, unit, x);
    if (unit && (whole || args.phase == SXT_CHOLESKY_DIAGONAL))
      for (std::int64_t k = 0; k < s.n_factored; ++k) x[k] /= l[e.at(k, 0)];
    if (to_caller) backward(e, l, unit, x);
    for (std::int64_t k = 0; k < s.n; ++k) b[to_caller ? s.perm[k] : k] = x[k];
  }
}

template <class T>
void run_set(const Entries &e, const sxt_cholesky_args &args, std::int64_t set, T *x) {
  const T *const l = set_of<T>(static_cast<const void *>(args.factor), args.stride_factor, set);
  if (args.phase == SXT_CHOLESKY_FACTOR) return factor_set<T>(e, args, set);
  if (args.phase == SXT_CHOLESKY_PIVOTS)
    return tell_pivots(e.symbolic(), l, args.factors == SXT_FACTORS_LLH,
                       set_of<real_of<T>>(args.b, args.stride_b, set));
  if (args.phase != SXT_CHOLESKY_INVERSE) return solve_set<T>(e, args, set, x);
  invert(e, l, args.factors == SXT_FACTORS_LDLH, set_of<T>(args.inverse, args.stride_inverse, set));
}

// x: n numbers, where the phase solves.
void run_sets(const Entries &entries, const sxt_cholesky_args &args, void *x) {
  for (std::int64_t set = 0; set < args.n_sets; ++set)
    with_value_type(args.value_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      run_set<T>(entries, args, set, static_cast<T *>(x));
      return SXT_OK;
    });
}

// No SIMD, and a search for every entry.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_cholesky_query>(query);
  const double complex = multiply_add_flops(q.m.q.value_type) / 2;
  const double sets = static_cast<double>(q.n_sets), values = static_cast<double>(q.values);
  const double solves = 2 * values * static_cast<double>(q.n_rhs);
  CpuCost cost;
  cost.working_set = values * static_cast<double>(value_bytes(q.m.q.value_type));
  cost.stream_bytes = 2 * cost.working_set * sets;
  cost.flops = 8 * sets * complex * scalar_slowdown(*machine, q.m.q.value_type) *
               (q.phase == SXT_CHOLESKY_SOLVE ? 2 * solves : q.flops);
  CandidateList list(out, capacity, count);
  sxt_candidate &c = fill(list.add(), 1, cost);
  c.state_bytes = sizeof(State) + 8 * static_cast<std::uint64_t>(q.m.rows);
  c.scratch_bytes = static_cast<std::uint64_t>(q.m.rows) * value_bytes(q.m.q.value_type);
  return SXT_OK;
}

// The owner of each column, and the vector that a session is lent.
void bytes(const sxt_query *query, const sxt_symbolic *, const sxt_machine *, const sxt_candidate *,
           std::uint64_t *host, std::uint64_t *device) {
  const auto &q = as<sxt_cholesky_query>(query);
  *host = sizeof(State) + (sizeof(std::int64_t) + value_bytes(q.m.q.value_type)) * static_cast<std::uint64_t>(q.m.rows);
  *device = 0;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status {
    if (!problem->data || !is_kind(*problem->data, SXT_KIND_SYMBOLIC))
      return error(exec, SXT_E_ARGUMENT, "the problem has no symbolic structure");
    return give(new State(as<sxt_symbolic>(problem->data)), state);
  });
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_cholesky_args>(head);
  const Entries &entries = static_cast<const State *>(state)->entries;
  const sxt_symbolic &s = entries.symbolic();
  if (const sxt_status wrong = check(args, s, exec)) return wrong;
  if (const sxt_status wrong =
          need_scratch(exec, solves(args.phase) ? static_cast<std::uint64_t>(s.n) * value_bytes(args.value_type) : 0))
    return wrong;
  run_sets(entries, args, exec->scratch);
  return SXT_OK;
}

}  // namespace

void run_reference(const sxt_symbolic &s, const sxt_cholesky_args &args) {
  std::vector<std::complex<double>> x(static_cast<std::size_t>(s.n));
  run_sets(Entries(s), args, x.data());
}

const sxt_kernel reference = [] {
  static const sxt_cholesky_ops ops = {sizeof ops, bytes};
  sxt_kernel k = new_kernel(SXT_KIND_CHOLESKY, "cholesky.reference.cpu", "cpu", "column by column, one thread", run);
  k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_terms;
  k.ops = &ops;
  set_calls<State>(k, {nullptr, candidates, prepare});
  return k;
}();

}  // namespace sextant_cholesky

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant_cholesky::reference, &sextant_cholesky::kind>("cholesky-reference", out);
}
