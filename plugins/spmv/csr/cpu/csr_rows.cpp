// SPDX-License-Identifier: BSD-3-Clause
// spmv.csr.rows.cpu: every thread takes an equal number of rows (transposed: of columns). Bits do not depend on
// threads: a row is summed by one thread, in an order that only its length decides.
#include <cstdint>

#include "csr_model.hpp"
#include "csr_product.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::spmv_csr {
namespace {

using namespace plugin;

struct State {
  const sxt_csr *a;
  sxt_value_type type;
  std::int64_t threads;
};

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    SpmvCost cost = cost_of(q, *machine, true);
    if (q.op == SXT_NO_TRANSPOSE) {
      cost.imbalance = equal_rows_imbalance(q, found, feature_row_max, threads);
    } else {
      // Every thread walks all row pointers, all of x and the columns of short rows.
      cost.extra_bytes = (threads - 1) * cost.passes * static_cast<double>(q.m.nnz * 4 + q.m.rows * 12);
      cost.steps *= threads;
    }
    cost.mispredictions = row_mispredictions(q, found, threads, false);
    cost.extra_forks = cost.passes - 1;
    fill_spmv(list.add(), q, found, *machine, threads, cost).state_bytes = sizeof(State);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    const auto &a = as<sxt_csr>(problem->a);
    const sxt_status status = check_columns(a, rows_kernel.name, exec);
    if (status != SXT_OK) return status;
    return give(new State{&a, problem->query->value_type, candidate ? candidate->launch[0] : exec->threads}, state);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  const int team = team_size(state.threads, *exec);
  return with_csr(*state.a, state.type, [&](const auto &a, auto tag) {
    using V = typename decltype(tag)::type;
    for_each_block<V>(args, [&](const Vectors<V> &v, auto width) {
      // Borders at multiples of a cache line of y.
      for_each_part(team, team, [&](int part) {
        if (args.op == SXT_NO_TRANSPOSE)
          multiply_rows<width>(a, part_of(a.rows, team, part, 16), v);
        else
          multiply_transposed<width>(a, args.op, part_of(a.cols, team, part, 16), v);
      });
    });
    return SXT_OK;
  });
}

}  // namespace

const sxt_kernel rows_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.csr.rows.cpu", "cpu", "CSR, threads share the rows equally", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  set_calls<State>(k, {applicable, candidates, prepare, refresh_pointer<State>});
  return k;
}();

}  // namespace sextant::spmv_csr
