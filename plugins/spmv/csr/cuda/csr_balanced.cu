// SPDX-License-Identifier: BSD-3-Clause
// spmv.csr.balanced.cuda: equal tiles of entries for any lengths of rows, in one launch
// (plugins/formats/cuda/row_ends.hpp).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "csr_state.cuh"
#include "plugins/formats/cuda/row_plan.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::spmv_csr_cuda {

using namespace plugin;

namespace {

constexpr int block_columns = 4;  // right-hand sides that one pass over A serves

struct Balanced : State {
  cuda::RowPlan plan;
};

// f(Tag<V>, Tag<M>) for the types of a state.
template <class F>
sxt_status with_types(const Balanced &state, F &&f) {
  return cuda::with_device_pair(state.type, state.read.s.value_type, std::forward<F>(f));
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<Balanced>(exec, out, [&](Balanced &state) -> sxt_status {
    begin(state, *problem, candidate, exec);
    const auto plan = [&](const auto *row_ptr) {
      state.plan =
          cuda::RowPlan(exec, row_ptr, state.read.s.rows, state.read.s.nnz, state.threads, std::max(0, state.flight));
    };
    if (state.read.s.offset_type == SXT_I32)
      plan(static_cast<const std::int32_t *>(state.read.row_ptr));
    else
      plan(static_cast<const std::int64_t *>(state.read.row_ptr));
    return with_types(state, [&](auto v, auto m) -> sxt_status {
      using V = typename decltype(v)::type;
      using M = typename decltype(m)::type;
      const sxt_status status = cuda::load(exec, cuda::multiply_ended_rows<V, M, 1>);
      return status == SXT_OK ? cuda::load(exec, cuda::multiply_ended_rows<V, M, block_columns>) : status;
    });
  });
}

sxt_status refresh_balanced(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  return refresh(static_cast<State *>(static_cast<Balanced *>(opaque)), problem, exec);
}

sxt_status open(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **out) {
  const auto &state = *static_cast<const Balanced *>(opaque);
  return cuda::open_parts(exec, state.plan.parts(), block_columns, state.type, out);
}

sxt_status run(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const Balanced *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  if (const sxt_status status = check_args(state, args, exec); status != SXT_OK) return status;
  auto *packets = static_cast<const cuda::PartSession *>(opened)->packets.as<ulonglong2>();
  return with_types(state, [&](auto v, auto m) {
    return state.plan.template multiply<typename decltype(v)::type, typename decltype(m)::type, block_columns>(
        state.read.col, state.read.values, state.conjugated, args, packets, state.early, "spmv.csr.balanced.cuda",
        exec);
  });
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const Outlook o = outlook_of(q, found, *machine);
  CandidateList list(out, capacity, count);
  int model_class = -1;
  for (const cuda::TileShape &shape : cuda::tile_shapes) {
    ++model_class;
    if (cuda::same_as_before(shape, o.longest)) continue;
    const std::int64_t slack = shape.slack(o.longest);
    const double tiles = std::ceil(o.nnz / static_cast<double>(cuda::TileShape::entries(shape.threads, slack)));
    const double passes = cuda::divide_up<std::int32_t>(q.n_rhs, q.n_rhs > 1 ? block_columns : 1);
    cuda::SpmvCost cost = cost_of(q, found, *machine, o, 5);
    cost.matrix_bytes = o.nnz * (o.entry_bytes + 0.25) + 16 * tiles;
    cost.launches = cost.passes = passes;
    cost.warp_steps = cuda::steps_of_tiles(o.nnz, tiles);
    cost.threads = shape.threads;
    sxt_candidate &candidate = list.add();
    candidate.launch[1] = shape.threads;
    candidate.launch[2] = slack;
    candidate.model_class = static_cast<std::uint32_t>(model_class);
    const double cuts = feature(found, o.of_rows(feature_cuts) + static_cast<std::uint64_t>(model_class));
    cost.busiest = passes / q.n_rhs * cuda::busiest_of_tiles(cuda::feature_or(found, o.of_rows(feature_empty), 0));
    fill(candidate, q, found, *machine, o, 5, tiles,
         passes * cuda::chain_of_tiles(cuts, o.longest, shape.threads, slack), cost);
    candidate.setup_s += 50e-6 + (4 * o.rows + o.nnz) / machine->stream_rate;
    candidate.state_bytes += static_cast<std::uint64_t>(o.nnz / 4 + 16 * tiles + 4 * o.rows);
  }
  return SXT_OK;
}

}  // namespace

const sxt_kernel balanced_kernel_table = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.csr.balanced.cuda", "cuda",
                            "CSR, equal tiles of entries, sums by segmented scans", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  k.term_defaults = spmv_term_defaults;
  set_calls<Balanced>(k, {applicable, candidates, prepare, refresh_balanced});
  k.open = open;
  k.close = destroy<cuda::PartSession>;
  return k;
}();

}  // namespace sextant::spmv_csr_cuda
