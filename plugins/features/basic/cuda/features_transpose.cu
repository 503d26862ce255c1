// SPDX-License-Identifier: BSD-3-Clause
// features.transpose.cuda, tier 3: the features of rows (features.rows.cuda) of the transposed matrix, whose row
// lengths are the entries of the columns. They are counted, summed to row pointers in memory of the call, and examined
// there.
#include <cstring>
#include <iterator>
#include <type_traits>
#include <vector>

#include "features.cuh"
#include "plugins/formats/cuda/entry_tiles.hpp"
#include "plugins/formats/cuda/scatter.hpp"
#include "tiles.cuh"

namespace sextant::features_cuda {

using namespace plugin;

namespace {

#define SXT_PREFIX "transpose_"
#define SXT_TILES(entries, threads) \
  SXT_PREFIX "tile_steps_" #entries "_" #threads, SXT_PREFIX "tile_most_" #entries "_" #threads,
const char *const names[] = {
    SXT_PREFIX "row_nnz_max",          SXT_PREFIX "empty_rows",      SXT_PREFIX "warp_steps_1",
    SXT_PREFIX "warp_steps_2",         SXT_PREFIX "warp_steps_4",    SXT_PREFIX "warp_steps_8",
    SXT_PREFIX "warp_steps_16",        SXT_PREFIX "warp_steps_32",   SXT_PREFIX "tile_cuts_128_2",
    SXT_PREFIX "tile_cuts_128_8",      SXT_PREFIX "tile_cuts_256_2", SXT_PREFIX "tile_cuts_256_8",
    SXT_TILE_SHAPES(SXT_TILES) nullptr};
#undef SXT_TILES
const sxt_features_ops ops = {sizeof(sxt_features_ops), names, 3, 0, nullptr};

// Scratch of a run: counters of rows, then row pointers, then room for the totals of tiles while they are summed.
struct Room {
  Room(std::int64_t rows, std::int64_t nnz) : offset_bytes(nnz <= cuda::narrow_limit ? 4 : 8) {
    pointers_at = (rows_scratch_bytes() + 255) / 256 * 256;
    totals_at = pointers_at + static_cast<std::uint64_t>((rows + 1) * offset_bytes);
    std::int64_t totals = 0;
    for (std::int64_t tiles = rows + 1; tiles > 1 || totals == 0;) totals += tiles = cuda::divide_up(tiles, scan_tile);
    bytes = totals_at + static_cast<std::uint64_t>(totals * offset_bytes);
  }
  static constexpr std::int64_t scan_tile = cuda::scan_threads * cuda::scan_items;
  int offset_bytes;
  std::uint64_t pointers_at, totals_at, bytes;
};

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const double cols = static_cast<double>(q.cols), nnz = static_cast<double>(q.nnz);
  cuda::CudaCost cost;
  cost.launches = 11;  // counting, sums, clearing, looking, copying back and waiting
  cost.stream_bytes = cost.working_set = 4 * nnz + 24 * cols;
  cost.flops = 10 * nnz + 60 * cols;
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = cuda::fill(list.add(), *machine, cuda::blocks_for(q.nnz, cuda::column_threads, 1056),
                                        cuda::column_threads, 1, cost);
  candidate.setup_s = call_s;
  candidate.state_bytes = sizeof(State);
  candidate.scratch_bytes = Room(q.cols, q.nnz).bytes;
  return SXT_OK;
}

// As exclusive_scan, in memory that is there: a run allocates nothing.
template <class T>
void scan_within(const sxt_exec *exec, T *values, std::int64_t n, T *totals) {
  const std::int64_t tiles = cuda::divide_up(n, Room::scan_tile);
  cuda::scan_tiles<T>
      <<<static_cast<unsigned>(tiles), cuda::scan_threads, 0, cuda::stream_of(*exec)>>>(n, values, totals);
  cuda::need_launch("a prefix sum");
  if (tiles == 1) return;
  scan_within(exec, totals, tiles, totals + tiles);
  cuda::visit_all(exec, n, cuda::AddTileTotals<T>{values, totals, n});
}

// The transpose of `a` as far as its row pointers, of the type that its entries need.
template <class Offset>
sxt_status tell_transpose(const sxt_csr &a, const Asked &asked, const sxt_exec *exec) {
  sxt_csr transpose{};
  transpose.s = a.s;
  std::swap(transpose.s.rows, transpose.s.cols);
  transpose.s.offset_type = sizeof(Offset) == 4 ? SXT_I32 : SXT_I64;
  const std::int64_t rows = transpose.s.rows;
  const Room room(rows, a.s.nnz);
  need_lent(exec, room.bytes);
  auto *row_ptr = reinterpret_cast<Offset *>(static_cast<char *>(exec->scratch) + room.pointers_at);
  auto *totals = reinterpret_cast<Offset *>(static_cast<char *>(exec->scratch) + room.totals_at);
  cuda::fill_bytes(exec, row_ptr, 0, static_cast<std::uint64_t>(rows + 1) * sizeof(Offset), "clear counters");
  cuda::count_columns(exec, static_cast<const std::int32_t *>(a.col), a.s.nnz, row_ptr);
  scan_within(exec, row_ptr, rows + 1, totals);
  transpose.row_ptr = row_ptr;
  count_all_rows(transpose, asked, exec);
  return tell_rows(transpose, asked, exec);
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const sxt_csr &a = *static_cast<const State *>(opaque)->a;
  const auto &args = as<sxt_features_args>(head);
  return cuda::guarded(exec, [&] {
    // The name of a feature of rows there; other names are not found.
    constexpr std::size_t prefix = std::size(SXT_PREFIX) - 1;
    std::vector<const char *> plain;
    for (std::uint64_t i = 0; i < args.count; ++i)
      plain.push_back(std::strncmp(args.names[i], SXT_PREFIX, prefix) ? "" : args.names[i] + prefix);
    sxt_features_args of_rows = args;
    of_rows.names = plain.data();
    const Asked asked(of_rows, rows_names());
    return a.s.nnz <= cuda::narrow_limit ? tell_transpose<std::int32_t>(a, asked, exec)
                                         : tell_transpose<std::int64_t>(a, asked, exec);
  });
}

}  // namespace

const sxt_kernel transpose_kernel =
    feature_kernel("features.transpose.cuda", "row lengths of the transpose", &ops, csr_storage, candidates, run);

}  // namespace sextant::features_cuda
