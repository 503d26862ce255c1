// SPDX-License-Identifier: BSD-3-Clause
// spmv.csr.adaptive.cuda: tiles of whole rows that fit into shared memory (csr_adaptive.cuh). A row that is longer than
// a tile is summed by its block alone.
#include "csr_adaptive.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "csr_state.cuh"
#include "sextant/sdk/cuda/dense.hpp"
#include "sextant/sdk/cuda/storage.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::spmv_csr_cuda {

using namespace plugin;

// The most entries of a tile before its last row begins. Short rows leave only the room of a last row; where some are
// long, or nothing is known, a sixteenth.
std::int64_t tile_entries(std::int64_t capacity, double longest) {
  const bool all_short = longest <= static_cast<double>(capacity) / 8;
  return capacity - (all_short ? static_cast<std::int64_t>(std::max(0.0, longest - 1)) : capacity / 16);
}

namespace {

// The weight of a row beside its entries, so that empty ones are distributed, too: an eighth of an entry.
constexpr std::int64_t entry_weight = 8;

// Tile t begins with the first row that has at least t tiles' weight before it.
template <class Offset>
struct FindTile {
  const Offset *row_ptr;
  std::int64_t rows, weight;
  std::int32_t *tile_row;
  Offset *tile_entry;
  __device__ void operator()(std::int64_t t) const {
    std::int64_t low = 0, high = rows;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (entry_weight * row_ptr[middle] + middle < t * weight)
        low = middle + 1;
      else
        high = middle;
    }
    tile_row[t] = static_cast<std::int32_t>(low);
    tile_entry[t] = row_ptr[low];
  }
};

// f(kernel, items, twice as constants) for the shape of a state.
template <class F>
sxt_status with_shape(const State &state, F &&f) {
  if (state.width == 4) return f(std::integral_constant<int, 4>{}, std::false_type{});
  if (state.threads == 512) return f(std::integral_constant<int, 8>{}, std::true_type{});
  return f(std::integral_constant<int, 8>{}, std::false_type{});
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    state.width = 4;
    begin(state, *problem, candidate, exec);
    cut_tiles(state, exec);
    return with_csr(state, [&](const auto &a, auto v) {
      return with_shape(state, [&](auto items, auto twice) -> sxt_status {
        using V = typename decltype(v)::type;
        using Offset = std::remove_cvref_t<decltype(*a.row_ptr)>;
        using M = std::remove_cvref_t<decltype(*a.values)>;
        const auto kernel = adaptive_kernel<items, twice, V, M, Offset>;
        const std::uint64_t shared = shared_bytes(items, state.threads, twice, sizeof(V));
        if (const sxt_status status = cuda::load_with_shared(exec, kernel, shared)) return status;
        state.blocks = resident_blocks(kernel, state.threads, shared, state.tiles);
        return SXT_OK;
      });
    });
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  if (const sxt_status status = check_args(state, args, exec); status != SXT_OK) return status;
  if (state.tiles == 0) return SXT_OK;
  return with_csr(state, [&](const auto &a, auto v) {
    return with_shape(state, [&](auto items, auto twice) -> sxt_status {
      using V = typename decltype(v)::type;
      using Offset = std::remove_cvref_t<decltype(*a.row_ptr)>;
      using M = std::remove_cvref_t<decltype(*a.values)>;
      const auto p = cuda::product_of<V>(args);
      sxt_status status = SXT_OK;
      for (std::int32_t r = 0; r < args.n_rhs && status == SXT_OK; ++r)
        status = cuda::launch_chained(exec, state.early, "spmv.csr.adaptive.cuda",
                                      adaptive_kernel<items, twice, V, M, Offset>, state.blocks, state.threads,
                                      shared_bytes(items, state.threads, twice, sizeof(V)), a,
                                      cuda::columns_from(p, r, 1), tiles_of<Offset>(state));
      return status;
    });
  });
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  CandidateList list(out, capacity, count);
  return add_shapes(list, as<sxt_spmv_query>(query), found, *machine, nullptr), SXT_OK;
}

}  // namespace

void cut_tiles(State &state, const sxt_exec *exec) {
  const std::int64_t capacity = static_cast<std::int64_t>(state.width) * state.threads;
  const std::int64_t entries = state.flight > 0 ? std::min<std::int64_t>(state.flight, capacity)
                                                : tile_entries(capacity, static_cast<double>(capacity));
  const std::int64_t weight = entry_weight * entries;
  state.tiles = cuda::divide_up(state.read.s.rows + entry_weight * state.read.s.nnz, weight);
  if (state.tiles > cuda::narrow_limit - (1 << 20))
    throw cuda::Failure(SXT_E_NOT_SUPPORTED, "%lld tiles are too many", (long long)state.tiles);
  state.tile_row = cuda::DeviceArray(exec, (state.tiles + 1) * sizeof(std::int32_t), "tiles of rows");
  state.tile_entry =
      cuda::DeviceArray(exec, (state.tiles + 1) * index_bytes(state.read.s.offset_type), "tiles of entries");
  const auto find = [&](const auto *row_ptr) {
    using Offset = std::remove_cvref_t<decltype(*row_ptr)>;
    cuda::visit_all(exec, state.tiles + 1,
                    FindTile<Offset>{row_ptr, state.read.s.rows, weight, state.tile_row.as<std::int32_t>(),
                                     state.tile_entry.as<Offset>()});
  };
  if (state.read.s.offset_type == SXT_I32)
    find(static_cast<const std::int32_t *>(state.read.row_ptr));
  else
    find(static_cast<const std::int64_t *>(state.read.row_ptr));
}

void add_shapes(CandidateList &list, const sxt_spmv_query &q, const sxt_features *found, const sxt_machine &machine,
                void (*more)(const sxt_spmv_query &, cuda::SpmvCost &)) {
  const Outlook o = outlook_of(q, found, machine);
  const bool known = std::isfinite(feature(found, o.of_rows(feature_row_max)));
  for (const auto &[items, threads, twice] : shapes) {
    const std::uint64_t shared = shared_bytes(items, threads, twice, value_bytes(q.m.q.value_type));
    if (machine.shared_per_block > 0 && shared + 4096 > static_cast<std::uint64_t>(machine.shared_per_block)) continue;
    const std::int64_t entries = tile_entries(items * threads, known ? o.longest : items * threads);
    const double tiles = std::ceil((o.rows / entry_weight + o.nnz) / static_cast<double>(entries));
    cuda::SpmvCost cost = cost_of(q, found, machine, o, 5);
    cost.launches = cost.passes = q.n_rhs;
    cost.extra_bytes = (4 + o.offset_bytes) * tiles * q.n_rhs;
    add_tiles(cost, found, o, items, threads, tiles);
    if (more) more(q, cost);
    sxt_candidate &candidate = list.add();
    candidate.launch[0] = items;
    candidate.launch[1] = threads;
    candidate.launch[2] = entries;
    candidate.model_class = static_cast<std::uint32_t>(items == 8) + static_cast<std::uint32_t>(threads / 128) * 2;
    fill(candidate, q, found, machine, o, 5, tiles, 0, cost);
    candidate.state_bytes += static_cast<std::uint64_t>((4 + o.offset_bytes) * tiles);
  }
}

const sxt_kernel adaptive_kernel_table = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.csr.adaptive.cuda", "cuda",
                            "CSR, tiles of whole rows brought to shared memory in the order of memory", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  k.term_defaults = spmv_term_defaults;
  set_calls<State>(k, {applicable, candidates, prepare, refresh});
  return k;
}();

}  // namespace sextant::spmv_csr_cuda
