// SPDX-License-Identifier: BSD-3-Clause
// y = alpha A x + beta y for matrices in which some columns, the hubs, have entries in many rows: 12 bytes an entry
// (f64), a gather an entry outside the hubs, 2 flops. Bound: the rate of isolated sectors from the last cache, of which
// the copy of the hubs' x in shared memory saves its share. Entries are cut into equal runs, one a warp, for any rows;
// a run is taken in chunks of 256, eight consecutive entries a lane, stored in the order of the lanes' loads. Lanes sum
// their own entries and one scan over the warp closes rows that cross lanes. The 32-bit code of an entry holds its
// column, or its place among the hubs, and whether it begins a row. A run's part of the previous run's last row is sent
// there as a packet and is added in order (plugins/formats/cuda/parts.hpp): no atomics, bits depend only on the runs.
#pragma once

#include "plugins/formats/cuda/parts.hpp"
#include "sextant/sdk/cuda/chain.hpp"

namespace sextant::spmv_hub_cuda {

using namespace plugin::cuda;

inline constexpr std::uint32_t row_start = 1u << 31, hub_column = 1u << 30, column_bits = hub_column - 1;
inline constexpr int own_entries = 8, hub_chunk = 32 * own_entries;

// The position of entry e of a lane in its chunk, for elements of this many bytes: groups of 16 bytes, a warp's side by
// side.
__host__ __device__ constexpr int place_in_chunk(int lane, int e, int bytes) {
  const int each = bytes >= 16 ? 1 : 16 / bytes;
  return (e / each * 32 + lane) * each + e % each;
}

template <class M>
struct Coded {
  const std::uint32_t *code;
  const M *values;
  const std::int32_t *rank_of_run;  // rows with an entry that begin before the run
  const std::int32_t *row_of_rank;  // NULL: no row is empty
  const std::int32_t *following;    // how many runs continue a run's last row; NULL: no row is continued
  std::int64_t chunks;
};

// A lane's entries of a chunk.
template <class T>
__device__ __forceinline__ void load_lane(const T *chunk, int lane, T (&out)[own_entries]) {
  constexpr int each = sizeof(T) >= 16 ? 1 : 16 / sizeof(T);
  struct alignas(16) Group {
    T v[each];
  };
#pragma unroll
  for (int i = 0; i < own_entries / each; ++i) {
    const Group group = passing(reinterpret_cast<const Group *>(chunk) + i * 32 + lane);
#pragma unroll
    for (int j = 0; j < each; ++j) out[i * each + j] = group.v[j];
  }
}

// The hubs' elements of x side by side, which every block then reads in order.
template <class V>
__global__ void __launch_bounds__(256)
    collect_hubs(const std::int32_t *columns, std::int32_t count, Product<V> p, V *out) {
  const std::int32_t i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  const std::int32_t column = i < count ? __ldg(columns + i) : 0;
  await_predecessor();
  release_successor();
  if (i < count) out[i] = p.x[column];
}

// Adds a chunk to the open row; close(rank, sum) for every row that ends in it.
template <class V, class M, class Close>
__device__ __forceinline__ void sum_chunk(const Coded<M> &a, std::int64_t chunk, const V *x, const V *hubs, int lane,
                                          V &open, std::int32_t &opened, Close &&close) {
  std::uint32_t code[own_entries];
  M value[own_entries];
  V gathered[own_entries];
  load_lane(a.code + chunk * hub_chunk, lane, code);
  load_lane(a.values + chunk * hub_chunk, lane, value);
#pragma unroll
  for (int e = 0; e < own_entries; ++e) {
    const std::uint32_t at = code[e] & column_bits;
    if (code[e] & hub_column)
      gathered[e] = hubs[at];
    else
      gathered[e] = x[at];
  }
  unsigned starts = 0;
#pragma unroll
  for (int e = 0; e < own_entries; ++e) starts |= (code[e] >> 31) << e;
  // Rows that begin in lower lanes, from the bits of the lanes' counts.
  const int own = __popc(starts);
  int below = 0, all = 0;
#pragma unroll
  for (int bit = 0; bit < 4; ++bit) {
    const unsigned votes = __ballot_sync(whole_warp, own >> bit & 1);
    below += __popc(votes & ((1u << lane) - 1)) << bit;
    all += __popc(votes) << bit;
  }
  const unsigned heads = __ballot_sync(whole_warp, own > 0);
  std::int32_t rank = opened + below;
  V head{}, run{};
#pragma unroll
  for (int e = 0; e < own_entries; ++e) {
    const V product = times(convert<V>(value[e]), gathered[e]);
    if (starts >> e & 1) {
      if (starts & ((1u << e) - 1))
        close(rank, run);
      else
        head = run;
      ++rank;
      run = product;
    } else {
      run = plus(run, product);
    }
  }
  const V scanned = segmented_scan(run, heads, lane);
  V before = shuffled_up(scanned, 1);
  if (lane == 0) before = V{};
  if ((heads & ((1u << lane) - 1)) == 0) before = plus(open, before);
  if (own > 0) close(opened + below, plus(before, head));
  const V last = shuffled(scanned, 31);
  open = heads ? last : plus(open, last);
  opened += all;
}

// Warps that take a run, of this many: each has at least one chunk.
__host__ __device__ inline std::int64_t runs_of(std::int64_t chunks, std::int64_t warps) {
  return chunks < warps ? chunks : warps;
}

// Run r of n has the chunks from chunks r / n to chunks (r + 1) / n. accumulate: y was scaled by beta before. The
// shared memory holds n_hubs elements and a zero for padding. All blocks must be on the device at once: runs wait for
// those that continue their last row.
template <class V, class M, int threads>
__global__ void __launch_bounds__(threads)
    hub_runs(Coded<M> a, Product<V> p, const V *collected, std::int32_t n_hubs, bool accumulate, ulonglong2 *packets) {
  extern __shared__ __align__(16) char shared[];
  V *hubs = reinterpret_cast<V *>(shared);
  const std::int64_t runs = runs_of(a.chunks, static_cast<std::int64_t>(gridDim.x) * (threads / 32));
  // Warps of one block work far apart, so that heavy parts are shared by all blocks.
  const std::int64_t run = blockIdx.x + static_cast<std::int64_t>(threadIdx.x / 32) * gridDim.x;
  const std::int64_t first = a.chunks * run / runs, last = a.chunks * (run + 1) / runs;
  const std::int32_t begun = run < runs ? __ldg(a.rank_of_run + run) : 0;
  // Whether the run begins inside a row: else the row before it ends with nothing.
  const bool goes_on = run < runs && (__ldg(a.code + first * hub_chunk) & row_start) == 0;
  const std::int32_t following = run < runs && a.following ? __ldg(a.following + run) : 0;
  await_predecessor();
  release_successor();
  for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x); i < n_hubs; i += threads) hubs[i] = collected[i];
  if (threadIdx.x == 0) hubs[n_hubs] = V{};
  __syncthreads();
  if (run >= runs) return;
  const int lane = threadIdx.x % 32;
  const V alpha = p.alpha(), beta = accumulate ? one<V>() : p.beta();
  const auto put = [&](std::int32_t rank, V sum) {
    if (rank < begun && goes_on)
      send_part(packets, run, sum);
    else if (rank >= begun)
      store(p.y + (a.row_of_rank ? __ldg(a.row_of_rank + rank) : rank), sum, alpha, beta);
  };
  V open{};
  std::int32_t opened = begun - 1;
  for (std::int64_t chunk = first; chunk < last; ++chunk) sum_chunk<V, M>(a, chunk, p.x, hubs, lane, open, opened, put);
  if (following > 0) open = plus(open, receive_parts<V>(packets, run + 1, run + 1 + following));
  if (lane == 0) put(opened, open);
}

}  // namespace sextant::spmv_hub_cuda
