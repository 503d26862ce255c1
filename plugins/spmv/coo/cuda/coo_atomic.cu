// SPDX-License-Identifier: BSD-3-Clause
// spmv.coo.atomic.cuda: every operation, an atomic addition an entry. Bits depend on the order of the additions.
#include <algorithm>
#include <array>
#include <cmath>

#include "coo_state.cuh"
#include "plugins/formats/cuda/entry_tiles.hpp"
#include "plugins/formats/cuda/scatter.hpp"

namespace sextant::spmv_coo_cuda {

using namespace plugin;

namespace {

constexpr std::int64_t most_blocks = 132 * 8;
constexpr double slice_bytes = 512;  // bytes of y in a slice of the last cache, estimated from times of short y
// tail.chain counts additions that wait for each other here, as tail.busiest does.
constexpr std::array<double, spmv_term_count> term_defaults = [] {
  std::array<double, spmv_term_count> defaults{};
  std::copy_n(scatter_term_defaults, spmv_term_count, defaults.begin());
  defaults[8] = same_element_s;
  return defaults;
}();
constexpr std::uint64_t feature_column_max = feature_run + 1 + n_tile_shapes;  // behind those of the other kernel

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  return check_matrix_types(q.m.q.value_type, q.m.matrix_type, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  SpmvCost cost = cost_of(q, found, *machine);
  cost.passes = std::ceil(q.n_rhs / double{block_rhs});
  cost.launches = cost.passes + 1;
  cost.atomics = static_cast<double>(q.m.nnz) * (is_complex_type(q.m.q.value_type) ? 2 : 1);
  // Additions of a warp to one element wait for each other: as many rounds as lanes with equal rows; and all those of
  // one row, or of one column, of which a warp rarely has several entries.
  const bool by_columns = q.op != SXT_NO_TRANSPOSE, mirrored = by_columns && q.m.symmetry != SXT_GENERAL;
  cost.warp_steps = static_cast<double>(q.m.nnz) / 32 * (by_columns ? 1 : feature_or(found, feature_run, 4));
  // A short y lies in few slices of the last cache, which take its additions one after the other.
  const std::int64_t outputs = by_columns ? q.m.cols : q.m.rows;
  const double y_bytes = static_cast<double>(outputs) * static_cast<double>(value_bytes(q.m.q.value_type));
  cost.chain = cost.warp_steps / std::max(1.0, y_bytes / slice_bytes);
  cost.busiest = feature_or(found, by_columns && !mirrored ? feature_column_max : std::uint64_t{feature_row_max}, 0);
  cost.threads = block_threads;
  CandidateList list(out, capacity, count);
  const unsigned blocks = blocks_for(q.m.nnz, block_threads, most_blocks);
  sxt_candidate &candidate = fill_spmv(list.add(), q, *machine, blocks, cost);
  candidate.launch[0] = blocks;
  candidate.launch[1] = block_threads;
  candidate.launch[2] = 1;
  candidate.state_bytes = sizeof(State);
  return SXT_OK;
}

template <class V, class M>
void load_code(const sxt_exec *exec) {
  const sxt_status status[] = {load(exec, coo_atomic<V, M, 1>), load(exec, coo_atomic<V, M, block_rhs>),
                               load(exec, scale_columns<V>)};
  for (const sxt_status each : status)
    if (each != SXT_OK) throw Failure(each, "the code of a kernel could not be loaded");
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return build<State>(exec, out, [&](State &state) -> sxt_status {
    state.a = &storage_of(*problem);
    state.type = problem->query->value_type;
    return with_device_pair(state.type, state.a->s.value_type, [&](auto v, auto m) {
      return load_code<typename decltype(v)::type, typename decltype(m)::type>(exec), SXT_OK;
    });
  });
}

template <class V, class M, int R>
sxt_status launch(const State &state, const Product<V> &p, sxt_op op, const sxt_exec *exec) {
  coo_atomic<V, M, R><<<blocks_for(state.a->s.nnz, block_threads, most_blocks), block_threads, 0, stream_of(*exec)>>>(
      entries_of<M>(*state.a), p, op != SXT_NO_TRANSPOSE, op == SXT_CONJUGATE_TRANSPOSE);
  return launched(exec, "a product on coordinates");
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  return with_device_pair(state.type, state.a->s.value_type, [&](auto v, auto m) -> sxt_status {
    using V = typename decltype(v)::type;
    using M = typename decltype(m)::type;
    const auto p = product_of<V>(args);
    const bool plain = args.op == SXT_NO_TRANSPOSE;
    sxt_status status = scale_outputs(plain ? state.a->s.rows : state.a->s.cols, p, exec);
    if (state.a->s.nnz == 0) return status;
    if (args.n_rhs == 1) return status == SXT_OK ? launch<V, M, 1>(state, p, args.op, exec) : status;
    for (std::int32_t r = 0; r < args.n_rhs && status == SXT_OK; r += block_rhs)
      status = launch<V, M, block_rhs>(state, columns_from(p, r, std::min(block_rhs, args.n_rhs - r)), args.op, exec);
    return status;
  });
}

}  // namespace

const sxt_kernel atomic_kernel = [] {
  sxt_kernel k = coo_kernel("spmv.coo.atomic.cuda", "coordinates, an atomic addition an entry", applicable, candidates,
                            prepare, run);
  k.version = 2;
  k.term_defaults = term_defaults.data();
  return k;
}();

}  // namespace sextant::spmv_coo_cuda
