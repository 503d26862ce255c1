// SPDX-License-Identifier: BSD-3-Clause
// hermitian_step.systems.cpu: the steps around factoring and solving, one system a thread.
#include "hermitian_steps.hpp"

#include <algorithm>
#include <cstdint>

#include "plugins/hermitian/shared/butterfly.hpp"
#include "residual_columns.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/hermitian.hpp"

using namespace sextant::plugin;
using namespace sextant::hermitian_steps_cpu;

namespace {

// A group of one lane.
struct Alone {
  static std::int64_t lane() { return 0; }
  static std::int64_t lanes() { return 1; }
  static void barrier() {}
  static double sum(double value) { return value; }
  static double most(double value) { return value; }
};

// Residuals go column by column; the shared step handles NaN rows and inactive systems.
template <class T>
void apply(const sxt_hermitian_step_args &args, std::int64_t s, double *work) {
  Alone alone;
  if (steps::is_butterfly(args.step)) return steps::apply_butterfly<T>(args, s, alone);
  if (args.step != SXT_HERMITIAN_RESIDUAL) return steps::apply<T>(args, s, alone);
  if (steps::passes_over<T>(args, s, steps::order_of(args, s)) || ColumnResidual<T>(args, s, work).run()) return;
  steps::apply_residual<T>(args, s, alone);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_step_query>(query);
  CpuCost cost;
  cost.stream_bytes = cost.working_set = q.sum_n2 * static_cast<double>(value_bytes(q.q.value_type));
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    cost.imbalance = hermitian_imbalance(q.batch, threads);
    sxt_candidate &candidate = fill(list.add(), threads, cost);
    candidate.state_bytes = sizeof(Team);
    candidate.scratch_bytes = static_cast<std::uint64_t>(threads * residual_work(q.n_max)) * sizeof(double);
  });
  return SXT_OK;
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_hermitian_step_args>(head);
  const int team = team_size(state, *exec);
  const auto each = static_cast<std::uint64_t>(residual_work(args.n_max));
  if (const sxt_status wrong = need_scratch(exec, each * static_cast<std::uint64_t>(team) * sizeof(double)))
    return wrong;
  return with_value_type(args.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_claimed(args.batch, team, [&](std::int64_t s, int thread) {
      apply<T>(args, s, static_cast<double *>(exec->scratch) + each * static_cast<std::uint64_t>(thread));
    });
    return SXT_OK;
  });
}

}  // namespace

namespace sextant::hermitian_steps_cpu {

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_HERMITIAN_STEP, "hermitian_step.systems.cpu", "cpu",
                            "copies, shifts, scaling, residuals and masks of a set, one system a thread", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_terms;
  set_calls<Team>(k, {nullptr, candidates, prepare_team});
  return k;
}();

}  // namespace sextant::hermitian_steps_cpu

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel, &kind>("hermitian-steps", out);
}
