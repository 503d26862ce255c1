// SPDX-License-Identifier: BSD-3-Clause
// spmv.sell.slices.cuda: rows in lanes; four right-hand sides share a pass over A. The number of warps that share a
// slice depends on the length of rows and the number of slices: enough loads must be in flight on every multiprocessor.
#include <algorithm>
#include <bit>
#include <cmath>

#include "sell_state.cuh"
#include "sextant/plugin/order.h"

namespace sextant::spmv_sell_cuda {

using namespace plugin;

namespace {

constexpr int block_rhs = 4;
template <int R>
inline constexpr int flight_of = R == 1 ? 8 : 4;

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.op != SXT_NO_TRANSPOSE) return refuse(reason, "rows lie in lanes: spmv.sell.atomic.cuda serves transposes");
  return check_matrix_types(q.m.q.value_type, q.m.matrix_type, reason);
}

// Powers of two: about a flight of entries a lane, and sixteen warps a multiprocessor where rows are long enough.
int sharing_for(double mean_width, double slices, double units) {
  const double by_length = mean_width / 12, by_count = std::min(units * 24 / std::max(1.0, slices), mean_width / 4);
  const double wanted = std::max({1.0, by_length, by_count});
  return 1 << std::clamp(static_cast<int>(std::lround(std::log2(wanted))), 0, 3);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  cuda::SpmvCost cost = cost_of(q, found, *machine);
  const double slices = std::ceil(static_cast<double>(q.m.rows) / slice_rows);
  const double width = slices > 0 ? stored_entries(q, found) / slice_rows / slices : 0;
  const double longest = std::max(width, cuda::feature_or(found, feature_row_max, 2 * width));
  const int best = sharing_for(width, slices, std::max(1, machine->units));
  const int rhs = std::min(q.n_rhs, block_rhs), flight = rhs > 1 ? flight_of<block_rhs> : flight_of<1>;
  cost.passes = cost.launches = std::ceil(q.n_rhs / static_cast<double>(block_rhs));
  if (q.n_rhs < block_rhs) cost.passes = cost.launches = 1;
  CandidateList list(out, capacity, count);
  // Warps that share a slice add its columns in another order than one alone.
  const bool alone = (q.m.q.flags & SXT_QUERY_ONE_ORDER) != 0;
  for (int sharing = alone ? 1 : std::max(1, best / 2); sharing <= (alone ? 1 : std::min(most_sharing, 2 * best));
       sharing *= 2) {
    const int threads = std::max(128, 32 * sharing);
    const double blocks = std::ceil(slices * sharing * 32 / threads);
    cost.chain = std::ceil(longest / (sharing * flight)) / q.n_rhs * cost.passes;
    cost.threads = threads;
    sxt_candidate &candidate = cuda::fill_spmv(list.add(), q, *machine, blocks, cost);
    candidate.launch[0] = static_cast<std::int64_t>(blocks);
    candidate.launch[1] = threads;
    candidate.launch[2] = sharing;
    candidate.launch[3] = cuda::may_start_early(*machine);
    candidate.model_class = static_cast<std::uint32_t>(std::countr_zero(static_cast<unsigned>(sharing)));
    candidate.state_bytes = sizeof(State);
  }
  return SXT_OK;
}

template <class V, class M>
sxt_status load_code(const sxt_exec *exec) {
  const sxt_status status = cuda::load(exec, sell_slices<V, M, 1, flight_of<1>>);
  return status == SXT_OK ? cuda::load(exec, sell_slices<V, M, block_rhs, flight_of<block_rhs>>) : status;
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
sxt_status launch(const State &state, const cuda::Product<V> &p, const sxt_exec *exec) {
  const int slices_a_block = state.threads / 32 / state.sharing;
  const auto blocks = static_cast<unsigned>(cuda::divide_up<std::int64_t>(state.a->n_slices, slices_a_block));
  return cuda::launch_chained(exec, state.early, "a product on SELL", sell_slices<V, M, R, flight_of<R>>, dim3(blocks),
                              static_cast<unsigned>(state.threads), 0, slices_of<M>(*state.a), p, state.sharing);
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  if (state.a->n_slices == 0) return SXT_OK;
  return cuda::with_device_pair(state.type, state.a->s.value_type, [&](auto v, auto m) -> sxt_status {
    using V = typename decltype(v)::type;
    using M = typename decltype(m)::type;
    const auto p = cuda::product_of<V>(args);
    if (args.n_rhs == 1) return launch<V, M, 1>(state, p, exec);
    for (std::int32_t r = 0; r < args.n_rhs; r += block_rhs) {
      const auto some = cuda::columns_from(p, r, std::min(block_rhs, args.n_rhs - r));
      if (const sxt_status status = launch<V, M, block_rhs>(state, some, exec); status != SXT_OK) return status;
    }
    return SXT_OK;
  });
}

}  // namespace

const sxt_kernel slices_kernel = [] {
  sxt_kernel k =
      sell_kernel("spmv.sell.slices.cuda", "SELL-C-sigma, a row a lane", applicable, candidates, prepare, run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE | SXT_KERNEL_ONE_ORDER;
  return k;
}();

}  // namespace sextant::spmv_sell_cuda
