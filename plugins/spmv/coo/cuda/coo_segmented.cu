// SPDX-License-Identifier: BSD-3-Clause
// spmv.coo.segmented.cuda: equal tiles of entries, a warp each, whatever the rows. How tiles begin, which rows fill
// whole tiles and whether rows are empty is found once, in prepare.
#include <algorithm>
#include <cmath>
#include <vector>

#include "coo_state.cuh"

namespace sextant::spmv_coo_cuda {

using namespace plugin;

namespace {

constexpr std::int64_t least_tile = 128, most_tile = 2048, most_blocks = 132 * 16;

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.op != SXT_NO_TRANSPOSE) return refuse(reason, "it sums rows: transposes are spmv.coo.atomic.cuda's");
  return check_pair(q, reason);
}

// Entries a tile: two tiles for each of 32 warps a multiprocessor.
std::int64_t tile_for(std::int64_t nnz, int units) {
  std::int64_t tile = least_tile;
  while (tile < most_tile && nnz / tile > 64 * static_cast<std::int64_t>(std::max(1, units))) tile *= 2;
  return tile;
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double nnz = static_cast<double>(q.m.nnz);
  const std::int64_t tile = tile_for(q.m.nnz, machine->units), tiles = divide_up(q.m.nnz, tile);
  const double longest = feature_or(found, feature_row_max, 0), passes = std::ceil(q.n_rhs / double{block_rhs});
  SpmvCost cost = cost_of(q, found, *machine);
  cost.passes = passes;
  cost.launches =
      passes * (longest > 2 * static_cast<double>(tile) ? 2 : 1) + (feature_or(found, feature_empty, 0) > 0);
  cost.warp_steps = nnz / 32;
  const double warps = 32.0 * std::max(1, machine->units);
  cost.chain = passes / q.n_rhs * std::max(1.0, nnz / warps / chunk_entries);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate =
      fill_spmv(list.add(), q, *machine, static_cast<double>(divide_up<std::int64_t>(tiles, 8)), cost);
  candidate.launch[0] = std::max<std::int64_t>(1, divide_up<std::int64_t>(tiles, 8));
  candidate.launch[1] = block_threads;
  candidate.launch[2] = tile;
  candidate.launch[3] = may_start_early(*machine);
  // One look at the rows, and back with the beginnings.
  candidate.setup_s = 60e-6 + 4 * nnz / machine->stream_rate + 8 * static_cast<double>(tiles) / machine->copy_rate;
  candidate.state_bytes = sizeof(State) + 8 * static_cast<std::uint64_t>(tiles + 1);
  candidate.scratch_bytes =
      static_cast<std::uint64_t>(tiles) * std::min(q.n_rhs, block_rhs) * value_bytes(q.m.q.value_type);
  return SXT_OK;
}

// Tiles inside one row, joined while the row lasts.
ChainArrays chains_of(const sxt_exec *exec, const std::vector<unsigned long long> &begin,
                      const DeviceArray &row_of_tile) {
  std::vector<std::int64_t> first, last, row;
  std::vector<std::int32_t> rows(begin.size());
  const auto tiles = static_cast<std::int64_t>(begin.size()) - 1;
  fetch(exec, rows.data(), row_of_tile.as<const std::int32_t>(), static_cast<std::uint64_t>(tiles),
        "the rows of tiles");
  for (std::int64_t t = 0; t < tiles; ++t) {
    if (!(begin[static_cast<std::size_t>(t)] & inner_tile)) continue;
    // A tile inside a row follows another only when it is the same row.
    if (!last.empty() && last.back() == t) {
      ++last.back();
      continue;
    }
    first.push_back(t), last.push_back(t + 1);
    row.push_back(rows[static_cast<std::size_t>(t)]);
  }
  if (first.empty()) return {};
  return ChainArrays(exec, first.data(), last.data(), row.data(), static_cast<std::int64_t>(first.size()));
}

void cut(State &state, std::int64_t tile, const sxt_exec *exec) {
  const sxt_coo &a = *state.a;
  state.tiles = divide_up(a.s.nnz, tile);
  const auto words = static_cast<std::uint64_t>(state.tiles) + 1;
  state.begin = DeviceArray(exec, (words + 2) * sizeof(unsigned long long), "the beginnings of tiles");
  auto *begin = state.begin.as<unsigned long long>();
  fill_bytes(exec, begin + words, 0, 2 * sizeof *begin, "clear counters");
  const DeviceArray row_of_tile(exec, words * sizeof(std::int32_t), "the rows of tiles", Life::call);
  find_tiles<<<static_cast<unsigned>(divide_up<std::int64_t>(state.tiles + 1, 8)), 256, 0, stream_of(*exec)>>>(
      static_cast<const std::int32_t *>(a.row), a.s.nnz, tile, state.tiles, begin, row_of_tile.as<std::int32_t>(),
      begin + words);
  need_launch("a search for the beginnings of tiles");
  std::vector<unsigned long long> host(words + 2);
  fetch(exec, host.data(), begin, words + 2, "the beginnings of tiles");
  state.empty_rows = static_cast<std::int64_t>(host[words]) < a.s.rows;
  const bool inner = host[words + 1] > 0;
  host.resize(words);
  if (inner) state.chains = chains_of(exec, host, row_of_tile);
}

template <class V, class M>
void load_code(const sxt_exec *exec) {
  const sxt_status status[] = {load(exec, coo_segments<V, M, 1>), load(exec, coo_segments<V, M, block_rhs>),
                               load(exec, add_carries<V>), load(exec, scale_columns<V>)};
  for (const sxt_status each : status)
    if (each != SXT_OK) throw Failure(each, "the code of a kernel could not be loaded");
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return build<State>(exec, out, [&](State &state) -> sxt_status {
    const auto &q = as<sxt_spmv_query>(problem->query);
    state.a = &storage_of(*problem);
    state.type = q.m.q.value_type;
    state.early = candidate && candidate->launch[3];
    const std::int64_t tile = candidate ? candidate->launch[2] : 0;
    cut(state, tile >= least_tile && tile <= most_tile ? tile : 512, exec);
    return with_device_pair(state.type, state.a->s.value_type, [&](auto v, auto m) {
      return load_code<typename decltype(v)::type, typename decltype(m)::type>(exec), SXT_OK;
    });
  });
}

template <class V, class M, int R>
sxt_status launch(const State &state, const Product<V> &p, const sxt_exec *exec) {
  const unsigned blocks = blocks_for(state.tiles, block_threads / 32, most_blocks);
  V *carries = static_cast<V *>(exec->scratch);
  const Tiles tiles{state.begin.as<const unsigned long long>(), state.tiles};
  const sxt_status status =
      launch_chained(exec, state.early, "a product on coordinates", coo_segments<V, M, R>, dim3(blocks), block_threads,
                     0, entries_of<M>(*state.a), tiles, p, state.empty_rows, carries, state.tiles);
  return status == SXT_OK
             ? launch_carries(state.chains.view(), static_cast<const V *>(carries), state.tiles, p, state.early, exec)
             : status;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  return with_device_pair(state.type, state.a->s.value_type, [&](auto v, auto m) -> sxt_status {
    using V = typename decltype(v)::type;
    using M = typename decltype(m)::type;
    const auto p = product_of<V>(args);
    sxt_status status = state.empty_rows ? scale_outputs(state.a->s.rows, p, exec) : SXT_OK;
    if (state.tiles == 0) return status;
    if (args.n_rhs == 1) return status == SXT_OK ? launch<V, M, 1>(state, p, exec) : status;
    for (std::int32_t r = 0; r < args.n_rhs && status == SXT_OK; r += block_rhs)
      status = launch<V, M, block_rhs>(state, columns_from(p, r, std::min(block_rhs, args.n_rhs - r)), exec);
    return status;
  });
}

}  // namespace

const sxt_kernel segmented_kernel = [] {
  sxt_kernel k = coo_kernel("spmv.coo.segmented.cuda", "coordinates in equal tiles, sums by segmented scans",
                            applicable, candidates, prepare, run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  return k;
}();

}  // namespace sextant::spmv_coo_cuda
