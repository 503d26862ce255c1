// SPDX-License-Identifier: BSD-3-Clause
// The sampling kernels of features.sample.cuda: what each block counts. Distinct lines are counted in maps of one bit a
// hash value, and the count is corrected for what fell together (linear counting: Whang, Vander-Zanden and Taylor, ACM
// TODS 15, 1990); long walks keep only a known share of the hash values.
#pragma once

#include "features.cuh"

namespace sextant::features_cuda {

inline constexpr int sample_threads = 512, map_bits = 1 << 17, map_words = map_bits / 32;
inline constexpr int most_walks = 64, walk_power = 13, walk_points = 6;  // 512, 1024, ... 8192, and the end
inline constexpr int first_level = 14, last_level = 22, levels = last_level - first_level + 1;
inline constexpr int group_rows = 24, fill_sizes = 4, longest_row = 4096, diagonal_prime = 131071;
inline constexpr int request_groups = 512, widths = 6;  // lanes a row: 1, 2, ... 32

// Hubs: columns of one sample are counted in so many counters by hash, the fullest are taken for hubs, and another
// sample says which share of the entries they have, so that chance does not pass for a hub.
inline constexpr int hub_slots = 1 << 20, hub_samples = 1 << 18, hub_bins = 256, hub_limit = 16384;

// What is counted twice: sectors of 32 bytes and lines of 64.
inline constexpr int grains = 2;

struct SampleCounts {
  unsigned walk[most_walks][grains][walk_points];  // bits that were set so far
  Count level[grains][levels];                     // bits that windows up to 2^p entries set
  Count entries[widths], sectors[widths], tags[widths];
  Count block_entries, blocks[fill_sizes], bandwidth, diagonals;
  unsigned hub_counters[hub_bins];  // counters of each value
  Count hub_entries;                // of the second sample, in columns of the fullest counters
};

// How the blocks of one launch share the work.
struct SamplePlan {
  std::int64_t rows, nnz;
  int shift;                        // columns to sectors; one more to lines, two more to tags
  std::int64_t walks, walk_length;  // short walks over consecutive entries, a block each
  std::int64_t long_begin, long_length;
  int long_blocks, share;  // one in `share` hash values counts, a power of two
  std::int64_t requests;   // sampled groups of 32 rows, a warp each
  int request_blocks;
  std::int64_t groups;    // sampled groups of 24 rows, a block each
  std::int64_t row_step;  // ends of every so many rows are looked at
  int end_blocks;
  int hub_blocks;
};

__device__ inline unsigned hashed(std::int64_t id) {
  return static_cast<unsigned>(static_cast<Count>(id) * 0x9E3779B97F4A7C15ull >> 32);
}

// Sets a bit; true when it was not set.
__device__ inline bool set_bit(unsigned *map, unsigned bit) {
  const unsigned mask = 1u << bit % 32;
  return !(map[bit / 32] & mask) && !(atomicOr(map + bit / 32, mask) & mask);
}

__device__ inline void walk(const std::int32_t *col, const SamplePlan &plan, std::int64_t which,
                            unsigned (*map)[map_words], SampleCounts *out) {
  __shared__ unsigned found[grains];
  for (int w = static_cast<int>(threadIdx.x); w < grains * map_words; w += sample_threads) map[0][w] = 0;
  if (threadIdx.x < grains) found[threadIdx.x] = 0;
  __syncthreads();
  const std::int64_t begin =
      plan.walks > 1 ? (plan.nnz - plan.walk_length) / (plan.walks - 1) * which : (plan.nnz - plan.walk_length) / 2;
  int point = 0;
  for (std::int64_t done = 0; done < plan.walk_length; done += sample_threads) {
    const std::int64_t k = done + threadIdx.x;
    for (int g = 0; g < grains; ++g) {
      const bool fresh = k < plan.walk_length && set_bit(map[g], hashed(col[begin + k] >> (plan.shift + g)) >> 15);
      const unsigned votes = __ballot_sync(0xffffffffu, fresh);
      if (threadIdx.x % 32 == 0 && votes) atomicAdd(found + g, __popc(votes));
    }
    __syncthreads();
    const std::int64_t next = done + sample_threads;
    if (threadIdx.x < grains) {
      if ((next & (next - 1)) == 0 && next <= plan.walk_length)
        out->walk[which][threadIdx.x][point] = found[threadIdx.x];
      if (next >= plan.walk_length) out->walk[which][threadIdx.x][walk_points - 1] = found[threadIdx.x];
    }
    if ((next & (next - 1)) == 0) ++point;
    __syncthreads();
  }
}

// maps: grains x levels maps; an entry marks the smallest window that holds it.
__device__ inline void walk_far(const std::int32_t *col, const SamplePlan &plan, int block, unsigned *maps) {
  const std::int64_t stride = static_cast<std::int64_t>(plan.long_blocks) * sample_threads;
  for (std::int64_t k = static_cast<std::int64_t>(block) * sample_threads + threadIdx.x; k < plan.long_length;
       k += stride) {
    const int level = max(0, 64 - __clzll(k) - first_level);
    for (int g = 0; g < grains; ++g) {
      const unsigned hash = hashed(col[plan.long_begin + k] >> (plan.shift + g));
      if ((hash & static_cast<unsigned>(plan.share - 1)) == 0)
        set_bit(maps + (g * levels + level) * map_words, hash >> 15);
    }
  }
}

// Distinct values among the lanes that take part; every lane gets the number.
__device__ inline int distinct(std::int32_t value, bool active) {
  const unsigned peers = __match_any_sync(0xffffffffu, active ? value : -1);
  const int lane = static_cast<int>(threadIdx.x % 32);
  return __popc(__ballot_sync(0xffffffffu, active && __ffs(peers) - 1 == lane));
}

// The requests of a warp for 32 rows from `row`, for every number of lanes a row: some sets of rows, some steps of
// each.
template <class Offset>
__device__ void look_at_requests(const Offset *row_ptr, const std::int32_t *col, const SamplePlan &plan,
                                 std::int64_t row, SampleCounts *out) {
  constexpr int most_sets = 4, most_steps = 4;
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int width = 0; width < widths; ++width) {
    const int lanes = 1 << width, sets = min(lanes, most_sets);
    Count entries = 0, sectors = 0, tags = 0;
    for (int s = 0; s < sets; ++s) {
      const std::int64_t i = row + s * (lanes / sets) * (32 / lanes) + lane / lanes;
      const std::int64_t begin = i < plan.rows ? static_cast<std::int64_t>(row_ptr[i]) : 0;
      const std::int64_t length = i < plan.rows ? static_cast<std::int64_t>(row_ptr[i + 1]) - begin : 0;
      std::int64_t longest = length;
      for (int d = 16; d > 0; d /= 2) longest = max(longest, __shfl_xor_sync(0xffffffffu, longest, d));
      const std::int64_t steps = (longest + lanes - 1) / lanes,
                         looked = min(steps, static_cast<std::int64_t>(most_steps));
      for (std::int64_t j = 0; j < looked; ++j) {
        const std::int64_t k = steps * j / looked * lanes + lane % lanes;
        const bool active = k < length;
        const std::int32_t column = active ? col[begin + k] : 0;
        entries += __popc(__ballot_sync(0xffffffffu, active));
        sectors += distinct(column >> plan.shift, active);
        tags += distinct(column >> (plan.shift + 2), active);
      }
    }
    if (lane > 0) continue;
    atomicAdd(&out->entries[width], entries);
    atomicAdd(&out->sectors[width], sectors);
    atomicAdd(&out->tags[width], tags);
  }
}

// Whether a row holds a column of [from, from + size).
__device__ inline bool holds(const std::int32_t *begin, const std::int32_t *end, std::int64_t from, int size) {
  while (begin < end) {
    const std::int32_t *middle = begin + (end - begin) / 2;
    if (*middle < from)
      begin = middle + 1;
    else if (*middle < from + size)
      return true;
    else
      end = middle;
  }
  return false;
}

// Entry k of row `own` of a group begins a dense block when none of its row or of the block row's earlier rows lies in
// it.
__device__ inline bool begins_block(const std::int32_t *col, const std::int64_t *begin, int own, std::int64_t k,
                                    int size) {
  const std::int64_t from = col[k] / size * static_cast<std::int64_t>(size);
  if (k > begin[own] && col[k - 1] >= from) return false;
  for (int r = own / size * size; r < own; ++r)
    if (holds(col + begin[r], col + min(begin[r + 1], begin[r] + longest_row), from, size)) return false;
  return true;
}

// A block looks at the entries of group_rows rows: dense blocks, diagonals, bandwidth.
template <class Offset>
__device__ void look_at_group(const Offset *row_ptr, const std::int32_t *col, const SamplePlan &plan, std::int64_t row,
                              unsigned *map, SampleCounts *out) {
  __shared__ std::int64_t begin[group_rows + 1];
  if (threadIdx.x <= group_rows) begin[threadIdx.x] = row_ptr[min(plan.rows, row + threadIdx.x)];
  __syncthreads();
  const std::int64_t last = begin[group_rows];
  Count entries = 0, blocks[fill_sizes] = {}, bandwidth = 0;
  int own = 0;
  // Whole warps go on together: sums over them follow.
  for (std::int64_t k = begin[0] + threadIdx.x; k < last; k += sample_threads) {
    while (k >= begin[own + 1]) ++own;
    if (k - begin[own] >= longest_row) continue;
    ++entries;
    const std::int64_t diagonal = col[k] - (row + own) + plan.rows;
    bandwidth = max(bandwidth, static_cast<Count>(llabs(diagonal - plan.rows)));
    set_bit(map, static_cast<unsigned>(diagonal % diagonal_prime));
    const int sizes[fill_sizes] = {2, 3, 4, 8};
#pragma unroll
    for (int s = 0; s < fill_sizes; ++s) blocks[s] += begins_block(col, begin, own, k, sizes[s]);
  }
  __syncwarp();
  add_sum(&out->block_entries, entries);
  for (int s = 0; s < fill_sizes; ++s) add_sum(&out->blocks[s], blocks[s]);
  add_most(&out->bandwidth, bandwidth);
}

template <class Offset>
__device__ void look_at_ends(const Offset *row_ptr, const std::int32_t *col, const SamplePlan &plan, int block,
                             SampleCounts *out) {
  Count bandwidth = 0;
  const std::int64_t stride = static_cast<std::int64_t>(plan.end_blocks) * sample_threads;
  for (std::int64_t n = static_cast<std::int64_t>(block) * sample_threads + threadIdx.x; n * plan.row_step < plan.rows;
       n += stride) {
    const std::int64_t i = n * plan.row_step;
    if (row_ptr[i] == row_ptr[i + 1]) continue;
    const std::int64_t left = llabs(i - col[row_ptr[i]]), right = llabs(i - col[row_ptr[i + 1] - 1]);
    bandwidth = max(bandwidth, static_cast<Count>(max(left, right)));
  }
  __syncwarp();
  add_most(&out->bandwidth, bandwidth);
}

// Entry of a sample: the first takes even places, the second odd ones, evenly spread.
__device__ inline unsigned hub_slot(const std::int32_t *col, const SamplePlan &plan, std::int64_t n, int odd) {
  return hashed(col[plan.nnz / (2 * hub_samples) * (2 * n + odd)]) % hub_slots;
}
__device__ inline void count_hubs(const std::int32_t *col, const SamplePlan &plan, int block, unsigned *counters) {
  const int stride = plan.hub_blocks * sample_threads;
  for (int n = block * sample_threads + static_cast<int>(threadIdx.x); n < hub_samples; n += stride)
    atomicAdd(counters + hub_slot(col, plan, n, 0), 1u);
}

// maps: grains x levels maps of the long walk, then one of diagonals, then the counters of hubs.
template <class Offset>
inline __global__ void __launch_bounds__(sample_threads)
    sample(const Offset *row_ptr, const std::int32_t *col, SamplePlan plan, unsigned *maps, SampleCounts *out) {
  __shared__ unsigned map[grains][map_words];
  std::int64_t block = blockIdx.x;
  if (block < plan.walks) return walk(col, plan, block, map, out);
  block -= plan.walks;
  if (block < plan.long_blocks) return walk_far(col, plan, static_cast<int>(block), maps);
  block -= plan.long_blocks;
  if (block < plan.request_blocks) {
    const std::int64_t all = (plan.rows + 31) / 32;
    const std::int64_t which = block * (sample_threads / 32) + threadIdx.x / 32;
    if (which < plan.requests) look_at_requests(row_ptr, col, plan, all * which / plan.requests * 32, out);
    return;
  }
  block -= plan.request_blocks;
  if (block < plan.groups) {
    const std::int64_t all = (plan.rows + group_rows - 1) / group_rows;
    return look_at_group(row_ptr, col, plan, all * block / plan.groups * group_rows, maps + grains * levels * map_words,
                         out);
  }
  block -= plan.groups;
  if (block < plan.end_blocks) return look_at_ends(row_ptr, col, plan, static_cast<int>(block), out);
  count_hubs(col, plan, static_cast<int>(block - plan.end_blocks), maps + (grains * levels + 1) * map_words);
}

// How many counters have each value.
inline __global__ void __launch_bounds__(sample_threads) count_counters(const unsigned *counters, SampleCounts *out) {
  __shared__ unsigned bins[hub_bins];
  for (int i = static_cast<int>(threadIdx.x); i < hub_bins; i += sample_threads) bins[i] = 0;
  __syncthreads();
  const int stride = static_cast<int>(gridDim.x) * sample_threads;
  for (int i = static_cast<int>(blockIdx.x) * sample_threads + static_cast<int>(threadIdx.x); i < hub_slots;
       i += stride)
    if (const unsigned value = min(counters[i], hub_bins - 1u)) atomicAdd(bins + value, 1u);
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < hub_bins; i += sample_threads)
    if (bins[i]) atomicAdd(out->hub_counters + i, bins[i]);
}

// The fullest counters, hub_limit at most, and the entries of the second sample that lie in them.
inline __global__ void __launch_bounds__(sample_threads)
    count_hub_entries(const std::int32_t *col, SamplePlan plan, const unsigned *counters, SampleCounts *out) {
  unsigned least = hub_bins - 1, taken = 0;
  while (least > 1 && taken + out->hub_counters[least] <= hub_limit) taken += out->hub_counters[least--];
  Count entries = 0;
  const int stride = static_cast<int>(gridDim.x) * sample_threads;
  for (int n = static_cast<int>(blockIdx.x) * sample_threads + static_cast<int>(threadIdx.x); n < hub_samples;
       n += stride)
    entries += min(counters[hub_slot(col, plan, n, 1)], hub_bins - 1u) > least;
  add_sum(&out->hub_entries, entries);
}

// Bits of the windows' maps, each window holding the smaller ones; the last block counts diagonals.
inline __global__ void __launch_bounds__(sample_threads) count_maps(const unsigned *maps, SampleCounts *out) {
  const int which = static_cast<int>(blockIdx.x), grain = which / levels, level = which % levels;
  Count bits = 0;
  for (int w = static_cast<int>(threadIdx.x); w < map_words; w += sample_threads) {
    unsigned word = 0;
    if (which == grains * levels)
      word = maps[which * map_words + w];
    else
      for (int l = 0; l <= level; ++l) word |= maps[(grain * levels + l) * map_words + w];
    bits += __popc(word);
  }
  add_sum(which == grains * levels ? &out->diagonals : &out->level[grain][level], bits);
}

}  // namespace sextant::features_cuda
