// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the CSR kernels for CUDA on the host: the matrix they read for an operation (itself, taken conjugate,
// or a transpose built once), the types they are compiled for, and their models.
#pragma once

#include <algorithm>
#include <cstdint>

#include "csr_rows.cuh"
#include "csr_transpose.cuh"
#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/cuda/spmv.hpp"

namespace sextant::spmv_csr_cuda {

extern const sxt_kernel scalar_kernel, vector_kernel, adaptive_kernel_table, balanced_kernel_table, scatter_kernel,
    adaptive_dots_kernel;

// The source of op(A): symmetric and Hermitian matrices are their own transposes, but for a conjugation.
struct Reading {
  bool transposed, conjugated;
};
Reading reading_of(sxt_op op, sxt_symmetry symmetry);

struct State {
  const sxt_csr *a = nullptr;  // the matrix's own arrays
  Transposed transpose;        // of a general matrix
  sxt_csr read{};              // the arrays that kernels read
  bool conjugated = false, built = false;
  sxt_op op = SXT_NO_TRANSPOSE;
  sxt_value_type type = SXT_F64;  // of the vectors
  // Of the candidate: launch[0], threads a row or entries a thread; launch[1], threads a block; launch[2], entries a
  // thread has in flight, or the weight of a tile.
  int width = 1, threads = 128, flight = 0;
  bool early = false;                      // launch[3]: kernels may begin while their predecessor ends
  cuda::DeviceArray tile_row, tile_entry;  // of kernels that work in tiles
  std::int64_t tiles = 0;
  unsigned blocks = 0;  // of kernels with persistent blocks
};

// The beginning of every prepare.
void begin(State &state, const sxt_problem &problem, const sxt_candidate *candidate, const sxt_exec *exec);
// Whole rows in tiles for blocks of state.width x state.threads entries: state.tile_row, tile_entry and tiles.
void cut_tiles(State &state, const sxt_exec *exec);
// Blocks of a kernel that the device holds at once, at most one a tile.
template <class K>
unsigned resident_blocks(K *kernel, int threads, std::uint64_t shared, std::int64_t tiles) {
  int device = 0, units = 1, of_unit = 1;
  cuda::need(cudaGetDevice(&device), "ask for the current device");
  cuda::need(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device), "ask for multiprocessors");
  cuda::need(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_unit, kernel, threads, shared),
             "ask for resident blocks");
  return static_cast<unsigned>(std::min<std::int64_t>(tiles, std::int64_t{units} * std::max(1, of_unit)));
}
// New values: the matrix's own arrays have them already, a transpose copies them.
sxt_status refresh(void *state, const sxt_problem *, const sxt_exec *exec);
// SXT_OK when the args are of the state's operation.
sxt_status check_args(const State &state, const sxt_spmv_args &args, const sxt_exec *exec);

template <class Offset>
Tiles<Offset> tiles_of(const State &state) {
  return {state.tile_row.as<const std::int32_t>(), state.tile_entry.as<const Offset>(),
          static_cast<std::int32_t>(state.tiles)};
}

template <class M, class Offset>
Csr<M, Offset> csr_of(const State &state) {
  return {state.read.s.rows, static_cast<const Offset *>(state.read.row_ptr),
          static_cast<const std::int32_t *>(state.read.col), static_cast<const M *>(state.read.values),
          state.conjugated};
}

// f(Csr, Tag<V>) for the types of a state.
template <class F>
sxt_status with_csr(const State &state, F &&f) {
  return cuda::with_device_pair(state.type, state.read.s.value_type, [&](auto v, auto m) -> sxt_status {
    using M = typename decltype(m)::type;
    if (state.read.s.offset_type == SXT_I32) return f(csr_of<M, std::int32_t>(state), v);
    return f(csr_of<M, std::int64_t>(state), v);
  });
}

inline unsigned blocks_of(std::int64_t work, std::int64_t threads) {
  return static_cast<unsigned>(cuda::divide_up(work, threads));
}

// ---- models

extern const char *const storages[];
extern const char *const features[];
using cuda::spmv_term_defaults, cuda::spmv_terms;
// The features in their order: of the rows, of the places of x, and of the rows of the transpose as of the rows. Widths
// are 1, 2, 4, 8, 16, 32 threads a row.
enum : std::uint64_t {
  feature_row_max,
  feature_empty,
  feature_steps,
  feature_tiles = feature_steps + 6,  // mean and most steps of a tile, shape after shape
  feature_cuts = feature_tiles + 10,
  feature_miss_unit = feature_cuts + 4,
  feature_miss_cache,
  feature_sectors,
  feature_tags = feature_sectors + 6,
  feature_transpose = feature_tags + 6
};

sxt_status applicable(const sxt_query *, const sxt_features *, const sxt_machine *, sxt_message *);

// The shapes of blocks of the adaptive kernels, and the entries of a tile.
struct Shape {
  int items, threads;
  bool twice;
};
inline constexpr Shape shapes[] = {{8, 128, false}, {8, 256, false}, {8, 512, true}, {4, 128, false}, {4, 256, false}};
std::int64_t tile_entries(std::int64_t capacity, double longest);

// The common part of a kernel's candidates.
struct Outlook {
  double rows, cols, nnz, mean, longest;  // of the matrix that is read
  double offset_bytes, entry_bytes;
  bool transposed;  // built: features of the transpose describe its rows
  double setup_s;   // of building it
  std::uint64_t state_bytes;
  // The position of the feature that describes the rows which are read.
  std::uint64_t of_rows(std::uint64_t feature) const { return transposed ? feature + feature_transpose : feature; }
};
Outlook outlook_of(const sxt_spmv_query &, const sxt_features *, const sxt_machine &);
// Costs common to all: A once a pass, sectors of x; `which` is log2 of the threads that share a row (5: a warp of
// consecutive entries).
cuda::SpmvCost cost_of(const sxt_spmv_query &, const sxt_features *, const sxt_machine &, const Outlook &, int which);
// The candidate with the further terms: passes of the L1 cache over x, and the longest chain of dependent loads.
sxt_candidate &fill(sxt_candidate &, const sxt_spmv_query &, const sxt_features *, const sxt_machine &, const Outlook &,
                    int which, double blocks, double chain, const cuda::SpmvCost &);

// The work of the blocks of a kernel that works in tiles: all of them together, and the busiest.
void add_tiles(cuda::SpmvCost &, const sxt_features *, const Outlook &, int items, int threads, double tiles);

// Candidates of the adaptive kernels, one a shape; more: the cost of a run beside the product.
void add_shapes(plugin::CandidateList &, const sxt_spmv_query &, const sxt_features *, const sxt_machine &,
                void (*more)(const sxt_spmv_query &, cuda::SpmvCost &));

}  // namespace sextant::spmv_csr_cuda
