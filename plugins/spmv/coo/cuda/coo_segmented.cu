// SPDX-License-Identifier: BSD-3-Clause
// spmv.coo.segmented.cuda: equal tiles of entries for any rows, in one launch (plugins/formats/cuda/row_ends.hpp).
// Which entries end rows is found once, in prepare; after that the rows of the coordinates are not read.
#include <algorithm>
#include <cmath>

#include "coo_state.cuh"
#include "plugins/formats/cuda/row_plan.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::spmv_coo_cuda {

using namespace plugin;

namespace {

constexpr std::uint64_t feature_cuts = feature_run + 1;  // of each shape

struct Segmented : State {
  RowPlan plan;
};

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.op != SXT_NO_TRANSPOSE) return refuse(reason, "it sums rows: spmv.coo.atomic.cuda serves transposes");
  return check_matrix_types(q.m.q.value_type, q.m.matrix_type, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double nnz = static_cast<double>(q.m.nnz), rows = static_cast<double>(q.m.rows);
  const double longest = feature(found, feature_row_max);
  CandidateList list(out, capacity, count);
  int model_class = -1;
  for (const TileShape &shape : tile_shapes) {
    ++model_class;
    if (same_as_before(shape, longest)) continue;
    const std::int64_t slack = shape.slack(longest);
    const double tiles = std::ceil(nnz / static_cast<double>(TileShape::entries(shape.threads, slack)));
    SpmvCost cost = cost_of(q, found, *machine);
    // Reads not the rows, but their ends.
    cost.matrix_bytes = nnz * (static_cast<double>(value_bytes(q.m.matrix_type)) + 4.25) + 16 * tiles;
    cost.launches = cost.passes = q.n_rhs > 1 ? divide_up<std::int32_t>(q.n_rhs, block_rhs) : 1;
    cost.warp_steps = steps_of_tiles(nnz, tiles);
    cost.threads = shape.threads;
    const double cuts = feature(found, feature_cuts + static_cast<std::uint64_t>(model_class));
    cost.chain =
        cost.passes / q.n_rhs * chain_of_tiles(cuts, feature_or(found, feature_row_max, 0), shape.threads, slack);
    cost.busiest = cost.passes / q.n_rhs * busiest_of_tiles(feature_or(found, feature_empty, 0));
    sxt_candidate &candidate = fill_spmv(list.add(), q, *machine, tiles, cost);
    candidate.launch[1] = shape.threads;
    candidate.launch[2] = slack;
    candidate.launch[3] = may_start_early(*machine);
    candidate.model_class = static_cast<std::uint32_t>(model_class);
    // A pass over the rows, some launches and a wait for counts.
    candidate.setup_s = 80e-6 + (8 * nnz + 16 * rows) / machine->stream_rate;
    candidate.state_bytes = sizeof(Segmented) + static_cast<std::uint64_t>(nnz / 4 + 16 * tiles + 4 * rows);
  }
  return SXT_OK;
}

template <class V, class M>
sxt_status load_code(const sxt_exec *exec) {
  const sxt_status status = load(exec, multiply_ended_rows<V, M, 1>);
  return status == SXT_OK ? load(exec, multiply_ended_rows<V, M, block_rhs>) : status;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return build<Segmented>(exec, out, [&](Segmented &state) -> sxt_status {
    state.a = &storage_of(*problem);
    state.type = problem->query->value_type;
    state.early = candidate && candidate->launch[3];
    const bool given = candidate && candidate->launch[1] > 0;
    const sxt_storage &shape = state.a->s;
    const DeviceArray row_ptr(exec, (static_cast<std::uint64_t>(shape.rows) + 1) * sizeof(std::int64_t), "row pointers",
                              Life::call);
    visit_all(exec, shape.rows + 1,
              FindRow{static_cast<const std::int32_t *>(state.a->row), shape.nnz, row_ptr.as<std::int64_t>()});
    state.plan = RowPlan(exec, row_ptr.as<const std::int64_t>(), shape.rows, shape.nnz,
                         given ? static_cast<int>(candidate->launch[1]) : block_threads,
                         given ? candidate->launch[2] : block_threads);
    return with_device_pair(state.type, shape.value_type, [&](auto v, auto m) {
      return load_code<typename decltype(v)::type, typename decltype(m)::type>(exec);
    });
  });
}

sxt_status open(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **out) {
  const auto &state = *static_cast<const Segmented *>(opaque);
  return open_parts(exec, state.plan.parts(), block_rhs, state.type, out);
}

sxt_status run(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const Segmented *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  auto *packets = static_cast<const PartSession *>(opened)->packets.as<ulonglong2>();
  return with_device_pair(state.type, state.a->s.value_type, [&](auto v, auto m) {
    return state.plan.multiply<typename decltype(v)::type, typename decltype(m)::type, block_rhs>(
        state.a->col, state.a->values, false, args, packets, state.early, "a product on coordinates", exec);
  });
}

}  // namespace

const sxt_kernel segmented_kernel = [] {
  sxt_kernel k = coo_kernel("spmv.coo.segmented.cuda", "coordinates in equal tiles, sums by segmented scans",
                            applicable, candidates, prepare, run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.refresh = refresh_pointer<Segmented>;
  k.open = open;
  k.close = destroy<PartSession>;
  k.release = destroy<Segmented>;
  return k;
}();

}  // namespace sextant::spmv_coo_cuda
