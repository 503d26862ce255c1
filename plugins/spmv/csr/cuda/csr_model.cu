// SPDX-License-Identifier: BSD-3-Clause
// States and performance models of the CSR kernels for CUDA; README gives the formulas.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "csr_state.cuh"
#include "plugins/formats/cuda/entry_tiles.hpp"
#include "sextant/sdk/cuda/storage.hpp"

namespace sextant::spmv_csr_cuda {

using namespace plugin;

Reading reading_of(sxt_op op, sxt_symmetry symmetry) {
  if (op == SXT_NO_TRANSPOSE) return {false, false};
  const bool conjugate = op == SXT_CONJUGATE_TRANSPOSE;
  if (symmetry == SXT_SYMMETRIC) return {false, conjugate};
  if (symmetry == SXT_HERMITIAN) return {false, !conjugate};
  return {true, conjugate};
}

void begin(State &state, const sxt_problem &problem, const sxt_candidate *candidate, const sxt_exec *exec) {
  const auto &q = as<sxt_spmv_query>(problem.query);
  state.a = &as<sxt_csr>(problem.a);
  state.op = q.op;
  state.type = q.m.q.value_type;
  if (state.a->s.index_type != SXT_I32 || state.a->s.space == SXT_SPACE_HOST)
    throw cuda::Failure(SXT_E_NOT_SUPPORTED, "it reads CSR with 32-bit columns in device memory");
  // As stated, like the choice: a storage's symmetry was found for earlier values.
  const Reading reading = reading_of(q.op, q.m.symmetry);
  state.conjugated = reading.conjugated;
  state.built = reading.transposed;
  if (state.built) state.transpose = Transposed(*state.a, exec);
  state.read = state.built ? state.transpose.view() : *state.a;
  if (candidate && candidate->launch[1] > 0) {
    state.width = static_cast<int>(candidate->launch[0]);
    state.threads = static_cast<int>(candidate->launch[1]);
    state.flight = static_cast<int>(candidate->launch[2]);
    state.early = candidate->launch[3] != 0;
  }
}

sxt_status refresh(void *opaque, const sxt_problem *, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  return cuda::guarded(exec, [&] {
    if (state.built) state.transpose.take_values(*state.a, exec);
    return SXT_OK;
  });
}

sxt_status check_args(const State &state, const sxt_spmv_args &args, const sxt_exec *exec) {
  if (args.op == state.op) return SXT_OK;
  return error(exec, SXT_E_STATE, "it was prepared for operation %d, not for %d", state.op, args.op);
}

// ---- models

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};
#define SXT_WIDTHS(name) name "1", name "2", name "4", name "8", name "16", name "32"
#define SXT_TILES(of, shape) of "tile_steps_" shape, of "tile_most_" shape
#define SXT_ROWS(of)                                                                                              \
  of "row_nnz_max", of "empty_rows", SXT_WIDTHS(of "warp_steps_"), SXT_TILES(of, "512_128"),                      \
      SXT_TILES(of, "1024_128"), SXT_TILES(of, "1024_256"), SXT_TILES(of, "2048_256"), SXT_TILES(of, "4096_512"), \
      of "tile_cuts_128_2", of "tile_cuts_128_8", of "tile_cuts_256_2", of "tile_cuts_256_8"
const char *const features[] = {SXT_ROWS(""),
                                "x_sector_miss_unit",
                                "x_sector_miss_cache",
                                SXT_WIDTHS("x_sectors_"),
                                SXT_WIDTHS("x_tags_"),
                                SXT_ROWS("transpose_"),
                                nullptr};
static_assert(std::size(features) == feature_transpose + feature_miss_unit + 1);
#undef SXT_ROWS
#undef SXT_WIDTHS
#undef SXT_TILES

// The position of a shape's features of rows; -1: it has none.
static int tile_feature(int entries, int threads) {
  constexpr struct { int entries, threads; } order[] = {{512, 128}, {1024, 128}, {1024, 256}, {2048, 256}, {4096, 512}};
  for (int i = 0; i < static_cast<int>(std::size(order)); ++i)
    if (order[i].entries == entries && order[i].threads == threads) return static_cast<int>(feature_tiles) + 2 * i;
  return -1;
}

void add_tiles(cuda::SpmvCost &cost, const sxt_features *found, const Outlook &o, int items, int threads,
               double tiles) {
  const int place = tile_feature(items * threads, threads);
  const std::uint64_t at = o.of_rows(static_cast<std::uint64_t>(std::max(0, place)));
  // Unknown: entries once to shared memory and once from it, a row at a time.
  const double mean = place >= 0 ? cuda::feature_or(found, at, 2.0 * items) : 2.0 * items;
  cost.busiest = place >= 0 ? cuda::feature_or(found, at + 1, 3.0 * items) : 3.0 * items;
  cost.warp_steps = mean * tiles * threads / 32;
  cost.threads = threads;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  const sxt_status status = cuda::check_narrow(q.m, reason);
  return status == SXT_OK ? check_matrix_types(q.m.q.value_type, q.m.matrix_type, reason) : status;
}

Outlook outlook_of(const sxt_spmv_query &q, const sxt_features *found, const sxt_machine &machine) {
  Outlook o{};
  o.transposed = reading_of(q.op, q.m.symmetry).transposed;
  o.rows = static_cast<double>(o.transposed ? q.m.cols : q.m.rows);
  o.cols = static_cast<double>(o.transposed ? q.m.rows : q.m.cols);
  o.nnz = static_cast<double>(q.m.nnz);
  o.mean = o.rows > 0 ? o.nnz / o.rows : 0;
  o.longest = std::max(o.mean, cuda::feature_or(found, o.of_rows(feature_row_max), 4 * o.mean));
  o.offset_bytes = q.m.nnz < cuda::narrow_limit ? 4 : 8;
  o.entry_bytes = static_cast<double>(value_bytes(q.m.matrix_type)) + 4;
  o.state_bytes = sizeof(State);
  if (!o.transposed) return o;
  // Sorted in as many passes as a column has bytes, each reading and writing keys and places; then rows and values
  // move.
  const double passes = std::max(1.0, std::ceil(std::log2(std::max(2.0, o.rows)) / 8));
  const double moved = o.nnz * (passes * 3 * (4 + o.offset_bytes) + 2 * o.entry_bytes + 40);
  o.setup_s = 100e-6 + 6 * passes * machine.launch_s + moved / machine.stream_rate;
  o.state_bytes += static_cast<std::uint64_t>(o.nnz * (o.entry_bytes + o.offset_bytes) + o.rows * o.offset_bytes);
  return o;
}

cuda::SpmvCost cost_of(const sxt_spmv_query &q, const sxt_features *found, const sxt_machine &machine, const Outlook &o,
                       int which) {
  // A transpose is assumed to access x like the matrix, as in symmetric patterns.
  const double width = static_cast<double>(1 << which), element = static_cast<double>(value_bytes(q.m.q.value_type));
  cuda::SpmvCost cost;
  cost.matrix_bytes = o.nnz * o.entry_bytes + (o.rows + 1) * o.offset_bytes;
  const double x_bytes = element * o.cols, working_set = cost.matrix_bytes + x_bytes + element * o.rows;
  const bool fits = working_set <= 0.8 * static_cast<double>(machine.cache_bytes);
  cost.x_sectors = o.nnz * cuda::feature_or(found, feature_miss_unit, 0.4);
  cost.x_misses =
      fits ? 0 : o.nnz * cuda::feature_or(found, feature_miss_cache, x_bytes > machine.cache_bytes ? 0.2 : 0);
  const double rows_a_warp = 32 / width;
  cost.warp_steps = cuda::feature_or(found, o.of_rows(feature_steps) + static_cast<std::uint64_t>(which),
                                     (o.rows / rows_a_warp) * std::max(1.0, std::ceil(1.3 * o.mean / width)));
  cost.lanes = o.nnz;
  return cost;
}

sxt_candidate &fill(sxt_candidate &candidate, const sxt_spmv_query &q, const sxt_features *found,
                    const sxt_machine &machine, const Outlook &o, int which, double blocks, double chain,
                    const cuda::SpmvCost &cost) {
  cuda::fill_spmv(candidate, q, machine, blocks, cost);
  candidate.launch[3] = cuda::may_start_early(machine);
  candidate.terms[7] = q.n_rhs * o.nnz * cuda::feature_or(found, feature_tags + static_cast<std::uint64_t>(which), 0.3);
  candidate.terms[8] = chain;
  candidate.setup_s = o.setup_s + 10e-6;
  candidate.state_bytes = o.state_bytes;
  return candidate;
}

}  // namespace sextant::spmv_csr_cuda
