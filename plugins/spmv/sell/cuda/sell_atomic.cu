// SPDX-License-Identifier: BSD-3-Clause
// spmv.sell.atomic.cuda: transposed products, by an atomic addition an entry. Bits depend on the order of the
// additions.
#include <algorithm>
#include <cmath>

#include "plugins/formats/cuda/scatter.hpp"
#include "sell_state.cuh"

namespace sextant::spmv_sell_cuda {

using namespace plugin;

namespace {

constexpr int threads = 128, block_rhs = 4;

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.op == SXT_NO_TRANSPOSE) return refuse(reason, "it is for transposes: spmv.sell.slices.cuda needs no atomics");
  return check_matrix_types(q.m.q.value_type, q.m.matrix_type, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double slices = std::ceil(static_cast<double>(q.m.rows) / slice_rows), stored = stored_entries(q, found);
  cuda::SpmvCost cost = cost_of(q, found, *machine);
  cost.passes = std::ceil(q.n_rhs / static_cast<double>(block_rhs));
  cost.launches = cost.passes + 1;
  cost.atomics = static_cast<double>(q.m.nnz) * (cuda::is_complex_type(q.m.q.value_type) ? 2 : 1);
  cost.x_misses = 0;
  const double width = slices > 0 ? stored / slice_rows / slices : 0;
  cost.chain = std::max(width, cuda::feature_or(found, feature_row_max, 2 * width)) / 2;
  cost.busiest = cuda::feature_or(found, q.m.symmetry == SXT_GENERAL ? feature_column_max : feature_row_max, 0);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = cuda::fill_spmv(list.add(), q, *machine, std::ceil(slices * 32 / threads), cost);
  candidate.launch[0] = static_cast<std::int64_t>(std::ceil(slices * 32 / threads));
  candidate.launch[1] = threads;
  candidate.launch[2] = 1;
  candidate.state_bytes = sizeof(State);
  return SXT_OK;
}

template <class V, class M>
sxt_status load_code(const sxt_exec *exec) {
  sxt_status status = cuda::load(exec, cuda::scale_columns<V>);
  if (status == SXT_OK) status = cuda::load(exec, sell_transposed<V, M, 1>);
  return status == SXT_OK ? cuda::load(exec, sell_transposed<V, M, block_rhs>) : status;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status {
    const auto &q = as<sxt_spmv_query>(problem->query);
    const sxt_status loaded = cuda::with_device_pair(q.m.q.value_type, q.m.matrix_type, [&](auto v, auto m) {
      return load_code<typename decltype(v)::type, typename decltype(m)::type>(exec);
    });
    return loaded == SXT_OK ? keep(*problem, candidate, exec, state) : loaded;
  });
}

template <class V, class M, int R>
sxt_status launch(const State &state, const cuda::Product<V> &p, bool conjugate, const sxt_exec *exec) {
  const auto blocks = static_cast<unsigned>(cuda::divide_up<std::int64_t>(state.a->n_slices * 32, threads));
  sell_transposed<V, M, R><<<blocks, threads, 0, cuda::stream_of(*exec)>>>(slices_of<M>(*state.a), p, conjugate);
  return cuda::launched(exec, "a transposed product on SELL");
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  return cuda::with_device_pair(state.type, state.a->s.value_type, [&](auto v, auto m) -> sxt_status {
    using V = typename decltype(v)::type;
    using M = typename decltype(m)::type;
    const auto p = cuda::product_of<V>(args);
    sxt_status status = cuda::scale_outputs(state.a->s.cols, p, exec);
    if (state.a->n_slices == 0) return status;
    const bool conjugate = args.op == SXT_CONJUGATE_TRANSPOSE;
    if (args.n_rhs == 1) return status == SXT_OK ? launch<V, M, 1>(state, p, conjugate, exec) : status;
    for (std::int32_t r = 0; r < args.n_rhs && status == SXT_OK; r += block_rhs)
      status = launch<V, M, block_rhs>(state, cuda::columns_from(p, r, std::min(block_rhs, args.n_rhs - r)), conjugate,
                                       exec);
    return status;
  });
}

}  // namespace

const sxt_kernel atomic_kernel = [] {
  sxt_kernel k = sell_kernel("spmv.sell.atomic.cuda", "SELL-C-sigma transposed, atomic additions", applicable,
                             candidates, prepare, run);
  k.term_defaults = cuda::scatter_term_defaults;
  return k;
}();

}  // namespace sextant::spmv_sell_cuda
