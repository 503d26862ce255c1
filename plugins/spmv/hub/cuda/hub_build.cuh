// SPDX-License-Identifier: BSD-3-Clause
// From CSR on the device to the coded entries of hub_kernels.cuh: columns are counted, the fullest become hubs, entries
// are coded and stored in the order of the lanes' loads, and the runs of warps are found.
#pragma once

#include "hub_kernels.cuh"
#include "sextant/sdk/cuda/storage.hpp"

namespace sextant::spmv_hub_cuda {

// A state's data beside the matrix. Places are those of hub_kernels.cuh.
struct Arrays {
  DeviceArray code, values, hub_columns, row_of_rank, rank_of_run, following;
  std::int64_t chunks = 0, runs = 0;
  std::int32_t n_hubs = 0;
  bool empty_rows = false;
};

// ---- functors of passes over columns, rows and entries

struct CountColumn {
  const std::int32_t *col;
  unsigned *count;
  __device__ void operator()(std::int64_t k) const { atomicAdd(count + col[k], 1u); }
};
// Columns of at least this many entries; one addition a warp.
struct CountFull {
  const unsigned *count;
  unsigned least;
  unsigned long long *found;
  __device__ void operator()(std::int64_t j) const {
    const unsigned alive = __activemask(), votes = __ballot_sync(alive, count[j] >= least);
    if (votes && static_cast<int>(threadIdx.x % 32) == __ffs(alive) - 1)
      atomicAdd(found, static_cast<unsigned long long>(__popc(votes)));
  }
};
struct MarkFull {
  const unsigned *count;
  unsigned least;
  std::int32_t *place;
  __device__ void operator()(std::int64_t j) const { place[j] = count[j] >= least; }
};
struct KeepHub {
  const std::int32_t *place;
  std::int32_t *columns;
  __device__ void operator()(std::int64_t j) const {
    if (place[j + 1] > place[j]) columns[place[j]] = static_cast<std::int32_t>(j);
  }
};
template <class Offset>
struct MarkFilledRow {
  const Offset *row_ptr;
  std::int32_t *rank;
  __device__ void operator()(std::int64_t i) const { rank[i] = row_ptr[i + 1] > row_ptr[i]; }
};
struct KeepRow {
  const std::int32_t *rank;
  std::int32_t *row_of_rank;
  __device__ void operator()(std::int64_t i) const {
    if (rank[i + 1] > rank[i]) row_of_rank[rank[i]] = static_cast<std::int32_t>(i);
  }
};

__device__ inline std::int64_t place_of_entry(std::int64_t k, int bytes) {
  const int in_chunk = static_cast<int>(k % hub_chunk);
  return k - in_chunk + place_in_chunk(in_chunk / own_entries, in_chunk % own_entries, bytes);
}
struct CodeEntry {
  const std::int32_t *col, *place;
  std::uint32_t *code;
  __device__ void operator()(std::int64_t, std::int64_t k, std::int64_t in_row) const {
    const std::int32_t j = col[k];
    const bool hub = place[j + 1] > place[j];
    const std::uint32_t column =
        hub ? hub_column | static_cast<std::uint32_t>(place[j]) : static_cast<std::uint32_t>(j);
    code[place_of_entry(k, 4)] = column | (in_row == 0 ? row_start : 0);
  }
};
struct PadCode {
  std::uint32_t *code;
  std::int64_t nnz;
  std::uint32_t padding;
  __device__ void operator()(std::int64_t n) const { code[place_of_entry(nnz + n, 4)] = padding; }
};
template <class Word>
struct PlaceValue {
  const Word *from;
  Word *to;
  __device__ void operator()(std::int64_t k) const { to[place_of_entry(k, sizeof(Word))] = from[k]; }
};

// From the first entry of a run: the number of rows that begin before the run, and the row that the run continues (-1:
// none).
struct RunStart {
  std::int32_t rank, row;
};
template <class Offset>
struct FindRun {
  const Offset *row_ptr;
  const std::int32_t *rank;
  std::int64_t rows, chunks, runs;
  RunStart *out;
  std::int32_t *rank_of_run;
  __device__ void operator()(std::int64_t run) const {
    const std::int64_t k = chunks * run / runs * hub_chunk, i = row_of_entry(row_ptr, 0, rows, k);
    const bool begins = static_cast<std::int64_t>(row_ptr[i]) == k;
    out[run] = {rank[i] + !begins, begins ? -1 : static_cast<std::int32_t>(i)};
    rank_of_run[run] = out[run].rank;
  }
};

// ---- steps

// The least number of entries that at most `most` columns have; columns are counted in `count`.
unsigned least_of_hubs(const sxt_exec *exec, const unsigned *count, std::int64_t cols, std::int64_t nnz,
                       std::int32_t most);
// Stores the matrix with at most this many hubs, for this many warps.
void build_arrays(Arrays &out, const sxt_csr &a, std::int32_t most_hubs, std::int64_t warps, const sxt_exec *exec);
// New values into their places; allocates nothing.
void place_values(const Arrays &arrays, const sxt_csr &a, const sxt_exec *exec);

}  // namespace sextant::spmv_hub_cuda
