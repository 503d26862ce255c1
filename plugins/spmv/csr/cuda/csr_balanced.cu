// SPDX-License-Identifier: BSD-3-Clause
// spmv.csr.balanced.cuda: tiles of equal rows plus entries along the merge path (balanced_kernel of csr_tiles.cuh),
// whatever the lengths of rows; sums of rows that cross tiles are added in order by a second launch.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "csr_state.cuh"
#include "csr_tiles.cuh"
#include "sextant/plugin_cuda_storage.hpp"

namespace sextant::spmv_csr_cuda {

using namespace plugin;

namespace {

// How many rows have ended before point b * tile of the path.
template <class Offset>
struct FindBorder {
  const Offset *row_ptr;
  std::int64_t rows, tile, items_in_all;
  std::int32_t *tile_row;
  __device__ void operator()(std::int64_t b) const {
    const std::int64_t point = min(b * tile, items_in_all);
    std::int64_t low = 0, high = rows;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (row_ptr[middle + 1] + middle < point)
        low = middle + 1;
      else
        high = middle;
    }
    tile_row[b] = static_cast<std::int32_t>(low);
  }
};

std::int64_t tile_of(const State &state) { return static_cast<std::int64_t>(state.width) * state.threads; }

template <int items, class V, class M, class Offset>
sxt_status launch(const State &state, const Csr<M, Offset> &a, const cuda::Product<V> &p, const sxt_exec *exec) {
  const char *what = "spmv.csr.balanced.cuda";
  const std::int64_t tile = tile_of(state);
  const auto *tile_row = state.tile_row.template as<const std::int32_t>();
  V *carry = static_cast<V *>(exec->scratch), *head = carry + state.tiles;
  const sxt_status status = cuda::launch_chained(exec, state.early, what, balanced_kernel<items, V, M, Offset>,
                                                 static_cast<unsigned>(state.tiles), state.threads, tile * sizeof(V), a,
                                                 p, a.rows + state.read.s.nnz, tile_row, carry, head);
  if (status != SXT_OK) return status;
  return cuda::launch_chained(exec, state.early, what, add_carries<V, M, Offset>, blocks_of(32 * state.tiles, 256), 256,
                              0, a, p, state.tiles, tile, tile_row, carry, head);
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    state.width = 4;
    begin(state, *problem, candidate, exec);
    const std::int64_t all = state.read.s.rows + state.read.s.nnz;
    state.tiles = cuda::divide_up(all, tile_of(state));
    state.tile_row = cuda::DeviceArray(exec, (state.tiles + 1) * sizeof(std::int32_t), "tiles of rows and entries");
    return with_csr(state, [&](const auto &a, auto v) -> sxt_status {
      using V = typename decltype(v)::type;
      using Offset = std::remove_cvref_t<decltype(*a.row_ptr)>;
      using M = std::remove_cvref_t<decltype(*a.values)>;
      cuda::visit_all(
          exec, state.tiles + 1,
          FindBorder<Offset>{a.row_ptr, a.rows, tile_of(state), all, state.tile_row.template as<std::int32_t>()});
      const sxt_status status = state.width == 8 ? cuda::load(exec, balanced_kernel<8, V, M, Offset>)
                                                 : cuda::load(exec, balanced_kernel<4, V, M, Offset>);
      return status == SXT_OK ? cuda::load(exec, add_carries<V, M, Offset>) : status;
    });
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  const sxt_status status = check_args(state, args, exec);
  if (status != SXT_OK || state.tiles == 0) return status;
  const std::uint64_t needed = 2 * static_cast<std::uint64_t>(state.tiles) * value_bytes(state.type);
  if (exec->scratch_bytes < needed)
    return error(exec, SXT_E_STATE, "%llu bytes of scratch lent, %llu needed", (unsigned long long)exec->scratch_bytes,
                 (unsigned long long)needed);
  return with_csr(state, [&](const auto &a, auto v) -> sxt_status {
    const auto p = cuda::product_of<typename decltype(v)::type>(args);
    sxt_status launched = SXT_OK;
    for (std::int32_t r = 0; r < args.n_rhs && launched == SXT_OK; ++r) {
      const auto column = cuda::columns_from(p, r, 1);
      launched = state.width == 8 ? launch<8>(state, a, column, exec) : launch<4>(state, a, column, exec);
    }
    return launched;
  });
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const Outlook o = outlook_of(q, found, *machine);
  const double element = static_cast<double>(value_bytes(q.m.q.value_type));
  CandidateList list(out, capacity, count);
  const auto all = (o.transposed ? q.m.cols : q.m.rows) + q.m.nnz;
  const struct { int items, threads; } shapes[] = {{4, 128}, {4, 256}, {8, 256}, {8, 512}};
  for (const auto &[items, threads] : shapes) {
    if (static_cast<std::uint64_t>(items) * threads * value_bytes(q.m.q.value_type) > most_shared) continue;
    const std::int64_t tiles = cuda::divide_up<std::int64_t>(all, items * threads);
    cuda::SpmvCost cost = cost_of(q, found, *machine, o, 5);
    cost.launches = 2 * q.n_rhs;
    cost.passes = q.n_rhs;
    cost.extra_bytes = static_cast<double>(tiles) * (12 + 4 * element) * q.n_rhs;
    cost.warp_steps = 2 * (o.nnz + o.rows) / 32;
    sxt_candidate &candidate = list.add();
    candidate.launch[0] = items;
    candidate.launch[1] = threads;
    candidate.model_class = static_cast<std::uint32_t>(items == 8) + static_cast<std::uint32_t>(threads / 128) * 2;
    fill(candidate, q, found, *machine, o, 5, static_cast<double>(tiles),
         q.n_rhs * (3 + o.longest / (32.0 * items * threads)), cost);
    candidate.state_bytes += static_cast<std::uint64_t>(4 * tiles);
    candidate.scratch_bytes = static_cast<std::uint64_t>(2 * tiles) * value_bytes(q.m.q.value_type);
  }
  return SXT_OK;
}

}  // namespace

const sxt_kernel balanced_kernel_table = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.csr.balanced.cuda", "cuda",
                            "CSR, tiles of equal rows and entries along the merge path, carries added in order", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.storages = storages;
  k.features = features;
  k.term_names = terms;
  k.term_defaults = term_defaults;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.refresh = refresh;
  k.release = destroy<State>;
  return k;
}();

}  // namespace sextant::spmv_csr_cuda
