// SPDX-License-Identifier: BSD-3-Clause
// The sampling kernels of features.sample.cuda: the counts of each block. Distinct lines are counted in maps of one bit
// a hash value, and the count is corrected for collisions (linear counting: Whang, Vander-Zanden and Taylor, ACM TODS
// 15, 1990); long walks keep only a known share of the hash values.
#pragma once

#include "block_rows.hpp"
#include "features.cuh"

namespace sextant::features_cuda {

inline constexpr int sample_threads = 512, map_bits = 1 << 17, map_words = map_bits / 32, map_parts = 4;
inline constexpr int most_walks = 64, walk_power = 13, walk_points = 6;  // 512, 1024, ... 8192, and the end
inline constexpr int first_level = 14, last_level = 22, levels = last_level - first_level + 1;
inline constexpr int far_entries = 1 << 13;  // of a block on the long walk: divides what the first window holds
inline constexpr int diagonal_prime = 131071;
inline constexpr int request_groups = 512, widths = 6;  // lanes a row: 1, 2, ... 32

// Hubs: columns of one sample are counted in this many counters by hash; the fullest are taken for hubs, and a second
// sample measures their share of the entries, so that chance does not create hubs.
inline constexpr int hub_slots = 1 << 20, hub_samples = 1 << 18, hub_bins = 256, hub_limit = 16384;
inline constexpr int hub_blocks = 128;

// The two granularities: sectors of 32 bytes and lines of 64.
inline constexpr int grains = 2;

struct alignas(16) SampleCounts {
  unsigned walk[most_walks][grains][walk_points];  // bits that were set so far
  Count level[grains][levels];                     // bits that windows up to 2^p entries set
  Count entries[widths], sectors[widths], tags[widths];
  Count block_entries[fill_sizes], blocks[fill_sizes];  // of whole block rows of each size
  Count most_blocks[fill_sizes];                        // of one of them
  Count bandwidth, diagonals;
  unsigned hub_counters[2][hub_bins];  // counters of each value, entries of the second sample in such counters
};

// How the blocks of one launch share the work.
struct SamplePlan {
  std::int64_t rows, nnz;
  int shift;                        // columns to sectors; one more to lines, two more to tags
  std::int64_t walks, walk_length;  // short walks over consecutive entries, a block each
  std::int64_t long_begin, long_length;
  int long_blocks, share;  // one in `share` hash values counts, a power of two
  std::int64_t requests;   // sampled groups of 32 rows, a warp for each and each number of lanes a row
  int request_blocks;
  std::int64_t groups;    // sampled groups of rows, a block each
  bool whole;             // they are all there are, and no row is cut
  std::int64_t row_step;  // ends of every so many rows are looked at
  int end_blocks;
  int hub_blocks;
};

__device__ inline unsigned hashed(int id) {
  return static_cast<unsigned>(Count{static_cast<unsigned>(id)} * 0x9E3779B97F4A7C15ull >> 32);
}

// Sets a bit; true when it was not set.
__device__ inline bool set_bit(unsigned *map, unsigned bit) {
  const unsigned mask = 1u << bit % 32;
  return !(map[bit / 32] & mask) && !(atomicOr(map + bit / 32, mask) & mask);
}

// Bits that the first 512, 1024, ... entries of a walk set. All its columns are loaded at once; the rest works in
// shared memory.
__device__ inline void walk(const std::int32_t *col, const SamplePlan &plan, std::int64_t which,
                            unsigned (*map)[map_words], SampleCounts *out) {
  constexpr int rounds = (1 << walk_power) / sample_threads;
  __shared__ unsigned found[grains];
  const std::int64_t begin =
      plan.walks > 1 ? (plan.nnz - plan.walk_length) / (plan.walks - 1) * which : (plan.nnz - plan.walk_length) / 2;
  const int t = static_cast<int>(threadIdx.x), length = static_cast<int>(plan.walk_length);
  std::int32_t column[rounds];
#pragma unroll
  for (int r = 0; r < rounds; ++r) {
    const int k = r * sample_threads + t;
    column[r] = k < length ? col[begin + k] : 0;
  }
  for (int w = t; w < grains * map_words; w += sample_threads) map[0][w] = 0;
  if (t < grains) found[t] = 0;
  __syncthreads();
  int point = 0;
#pragma unroll
  for (int r = 0; r < rounds; ++r) {
    const int done = r * sample_threads, next = done + sample_threads;
    if (done >= length) break;
    for (int g = 0; g < grains; ++g) {
      const bool fresh = done + t < length && set_bit(map[g], hashed(column[r] >> (plan.shift + g)) >> 15);
      const unsigned votes = __ballot_sync(0xffffffffu, fresh);
      if (t % 32 == 0 && votes) atomicAdd(found + g, __popc(votes));
    }
    const bool is_point = (next & (next - 1)) == 0;
    if (!is_point && next < length) continue;
    __syncthreads();
    if (t < grains && is_point && next <= length) out->walk[which][t][point] = found[t];
    if (t < grains && next >= length) out->walk[which][t][walk_points - 1] = found[t];
    if (is_point) ++point;
    __syncthreads();
  }
}

// maps: grains x levels maps; an entry marks the smallest window that holds it. A block's entries follow each other and
// have one such window. They are marked in shared memory first; bits that are new are then added to the maps word by
// word.
__device__ inline void walk_far(const std::int32_t *col, const SamplePlan &plan, int block, unsigned (*map)[map_words],
                                unsigned *maps) {
  constexpr int flight = 16;
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t begin = static_cast<std::int64_t>(block) * far_entries;
  const int length = static_cast<int>(min(std::int64_t{far_entries}, plan.long_length - begin));
  col += plan.long_begin + begin;
  for (int w = t; w < grains * map_words / 4; w += sample_threads)
    reinterpret_cast<uint4 *>(map[0])[w] = make_uint4(0, 0, 0, 0);
  __syncthreads();
  for (int first = t; first < length; first += flight * sample_threads) {
    std::int32_t column[flight];
#pragma unroll
    for (int f = 0; f < flight; ++f) {
      const int k = first + f * sample_threads;
      column[f] = k < length ? col[k] : -1;
    }
#pragma unroll
    for (int f = 0; f < flight; ++f)
      for (int g = 0; g < grains; ++g) {
        const unsigned hash = hashed(column[f] >> (plan.shift + g));
        if (column[f] >= 0 && (hash & static_cast<unsigned>(plan.share - 1)) == 0) set_bit(map[g], hash >> 15);
      }
  }
  __syncthreads();
  const int level = max(0, 64 - __clzll(begin) - first_level);
  // All words are loaded at once; words without new bits are not written.
  constexpr int words = map_words / sample_threads;
  for (int g = 0; g < grains; ++g) {
    unsigned *to = maps + (g * levels + level) * map_words;
    unsigned there[words];
#pragma unroll
    for (int w = 0; w < words; ++w) there[w] = __ldcg(to + w * sample_threads + t);
#pragma unroll
    for (int w = 0; w < words; ++w)
      if (const unsigned own = map[g][w * sample_threads + t]; own & ~there[w])
        atomicOr(to + w * sample_threads + t, own);
  }
}

// Distinct values among the lanes that take part; every lane gets the number.
__device__ inline int distinct(std::int32_t value, bool active) {
  const unsigned peers = __match_any_sync(0xffffffffu, active ? value : -1);
  const int lane = static_cast<int>(threadIdx.x % 32);
  return __popc(__ballot_sync(0xffffffffu, active && __ffs(peers) - 1 == lane));
}

// The requests of a warp for 32 rows from `row` when 2^width lanes share a row: some sets of rows, some steps of each,
// which are loaded together.
template <class Offset>
__device__ void look_at_requests(const Offset *row_ptr, const std::int32_t *col, const SamplePlan &plan,
                                 std::int64_t row, int width, SampleCounts *out) {
  constexpr int most_sets = 4, most_steps = 4;
  const int lane = static_cast<int>(threadIdx.x % 32), lanes = 1 << width, sets = min(lanes, most_sets);
  unsigned entries = 0, sectors = 0, tags = 0;
  for (int s = 0; s < sets; ++s) {
    const std::int64_t i = row + s * (lanes / sets) * (32 / lanes) + lane / lanes;
    const std::int64_t begin = i < plan.rows ? static_cast<std::int64_t>(row_ptr[i]) : 0;
    const int length = i < plan.rows ? row_length(row_ptr, i) : 0;
    const int longest = __reduce_max_sync(0xffffffffu, length);
    const int steps = (longest - 1 >> width) + 1, looked = min(steps, most_steps);  // none where all are empty
    std::int32_t column[most_steps];
    bool active[most_steps];
#pragma unroll
    for (int j = 0; j < most_steps; ++j) {
      const int step = looked > 0 ? steps / looked * j + steps % looked * j / looked : 0;
      const std::int64_t k = (static_cast<std::int64_t>(step) << width) + lane % lanes;
      active[j] = j < looked && k < length;
      column[j] = active[j] ? col[begin + k] : 0;
    }
#pragma unroll
    for (int j = 0; j < most_steps; ++j) {
      if (j >= looked) break;
      entries += __popc(__ballot_sync(0xffffffffu, active[j]));
      sectors += distinct(column[j] >> plan.shift, active[j]);
      tags += distinct(column[j] >> (plan.shift + 2), active[j]);
    }
  }
  if (lane > 0) return;
  atomicAdd(&out->entries[width], Count{entries});
  atomicAdd(&out->sectors[width], Count{sectors});
  atomicAdd(&out->tags[width], Count{tags});
}

// A block looks at a group of rows, whose columns it keeps in shared memory (`cols`, group_entries of them): dense
// blocks of every size, diagonals, bandwidth. Counted in shared memory first: counters in global memory take additions
// one after the other.
template <class Offset>
__device__ void look_at_group(const Offset *row_ptr, const std::int32_t *col, const SamplePlan &plan, std::int64_t row,
                              std::int32_t *cols, unsigned *diagonals, SampleCounts *out) {
  static_assert(seen_rows == 31, "a warp reads the row pointers");
  __shared__ std::int64_t from[seen_rows + 1];
  __shared__ int begin[seen_rows + 1], rows;
  __shared__ unsigned char row_of[group_entries];
  __shared__ BlockCount sums[fill_sizes];
  __shared__ unsigned blocks_of[fill_sizes][32];  // by the first row of their block row
  __shared__ unsigned bandwidth;
  const int t = static_cast<int>(threadIdx.x);
  if (t < 32) {
    const std::int64_t at = row_ptr[min(plan.rows, row + t)];
    const auto length = static_cast<unsigned>(__shfl_down_sync(0xffffffffu, at, 1) - at);  // 0 in the last lane
    const bool heavy = !plan.whole && __shfl_sync(0xffffffffu, at, 31) - __shfl_sync(0xffffffffu, at, 0) > heavy_group;
    unsigned end = heavy ? t < heavy_rows + overhang ? min(length, static_cast<unsigned>(heavy_row)) : 0u : length;
    for (int d = 1; d < 32; d *= 2) {
      const unsigned before = __shfl_up_sync(0xffffffffu, end, d);
      if (t >= d) end += before;
    }
    from[t] = at;
    if (t < seen_rows) begin[t + 1] = static_cast<int>(end);
    if (t == 0) begin[0] = 0, bandwidth = 0, rows = heavy ? heavy_rows : group_rows;
    if (t < fill_sizes) sums[t] = {};
  }
  if (t < fill_sizes * 32) blocks_of[0][t] = 0;
  __syncthreads();
  const int last = begin[seen_rows];
  for (int own = 0, k = t; k < last; k += sample_threads) {
    while (k >= begin[own + 1]) ++own;
    row_of[k] = static_cast<unsigned char>(own);
    cols[k] = col[from[own] + (k - begin[own])];
  }
  __syncthreads();
  const Group group{cols, begin, rows, row};
  const int warp = t / 32, lane = t % 32, chunks = (last + 31) / 32;
  const auto count_blocks = [&](int s, int k) {
    EntryOfBlocks entry;
    if (k < last) with_size(s, [&](auto size) { entry = look_at_entry<size>(group, row_of[k], k); });
    const int entries = __popc(__ballot_sync(0xffffffffu, entry.first >= 0)),
              blocks = __popc(__ballot_sync(0xffffffffu, entry.begins));
    if (entry.begins) atomicAdd(&blocks_of[s][entry.first], 1u);
    if (lane == 0) atomicAdd(&sums[s].entries, entries), atomicAdd(&sums[s].blocks, blocks);
  };
  unsigned widest = 0;
  for (int task = warp; task < 2 * chunks; task += sample_threads / 32) {
    const GroupTask own = group_task(task, 2, lane);
    if (own.kind == 0) {
      count_blocks(0, own.entry);
    } else if (own.entry < begin[rows]) {
      const std::int64_t diagonal = cols[own.entry] - (row + row_of[own.entry]);
      widest = max(widest, static_cast<unsigned>(llabs(diagonal)));
      set_bit(diagonals, static_cast<unsigned>((diagonal + plan.rows) % diagonal_prime));
    }
    __syncwarp();
  }
  widest = __reduce_max_sync(0xffffffffu, widest);
  if (lane == 0) atomicMax(&bandwidth, widest);
  __syncthreads();
  // Where blocks of 2 are far from full those between 4 and 8 are taken for empty, unless all is looked at.
  const bool likely = plan.whole || 10 * sums[0].entries >= 14 * sums[0].blocks;
  const int kinds = likely ? fill_sizes - 1 : 3;
  for (int task = warp; task < kinds * chunks; task += sample_threads / 32) {
    const GroupTask own = group_task(task, kinds, lane);
    count_blocks(likely || own.kind < 2 ? own.kind + 1 : fill_sizes - 1, own.entry);
  }
  __syncthreads();
  if (t == 0 && bandwidth) atomicMax(&out->bandwidth, Count{bandwidth});
  if (warp >= fill_sizes) return;
  const unsigned most = __reduce_max_sync(0xffffffffu, blocks_of[warp][lane]);
  if (lane > 0) return;
  BlockCount sum = sums[warp];
  if (!likely && warp > 2 && warp < fill_sizes - 1) sum = {sums[0].entries, sums[0].entries};
  if (sum.entries) atomicAdd(&out->block_entries[warp], Count{sum.entries});
  if (sum.blocks) atomicAdd(&out->blocks[warp], Count{sum.blocks});
  if (most) atomicMax(&out->most_blocks[warp], Count{most});
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

// The slots of a block's part of a sample of columns: the first sample takes even places, the second odd ones, evenly
// spread. A thread's columns are all loaded at once.
inline constexpr int hub_flight = hub_samples / (hub_blocks * sample_threads);
static_assert(hub_flight * hub_blocks * sample_threads == hub_samples);
__device__ inline void look_up_slots(const std::int32_t *col, const SamplePlan &plan, int block, int odd,
                                     unsigned (&slot)[hub_flight]) {
  const std::int64_t step = plan.nnz / (2 * hub_samples);
#pragma unroll
  for (int f = 0; f < hub_flight; ++f) {
    const int n = (f * hub_blocks + block) * sample_threads + static_cast<int>(threadIdx.x);
    slot[f] = hashed(col[step * (2 * n + odd)]) % hub_slots;
  }
}

__device__ inline void count_hubs(const std::int32_t *col, const SamplePlan &plan, int block, unsigned *counters) {
  unsigned slot[hub_flight];
  look_up_slots(col, plan, block, 0, slot);
#pragma unroll
  for (int f = 0; f < hub_flight; ++f) atomicAdd(counters + slot[f], 1u);
}

// maps: grains x levels maps of the long walk, then one of diagonals, then the counters of hubs.
template <class Offset>
inline __global__ void __launch_bounds__(sample_threads, 3)
    sample(const Offset *row_ptr, const std::int32_t *col, SamplePlan plan, unsigned *maps, SampleCounts *out) {
  __shared__ unsigned map[grains][map_words];
  static_assert(sizeof map >= group_entries * sizeof(std::int32_t));
  plugin::cuda::release_successor();
  std::int64_t block = blockIdx.x;  // those that take longest or wait for memory come first
  if (block < plan.groups) {
    const std::int64_t all = (plan.rows + group_rows - 1) / group_rows;
    return look_at_group(row_ptr, col, plan, all * block / plan.groups * group_rows,
                         reinterpret_cast<std::int32_t *>(map[0]), maps + grains * levels * map_words, out);
  }
  block -= plan.groups;
  if (block < plan.walks) return walk(col, plan, block, map, out);
  block -= plan.walks;
  if (block < plan.request_blocks) {
    const std::int64_t all = (plan.rows + 31) / 32;
    const std::int64_t task = block * (sample_threads / 32) + threadIdx.x / 32, which = task / widths;
    if (which < plan.requests)
      look_at_requests(row_ptr, col, plan, all * which / plan.requests * 32, static_cast<int>(task % widths), out);
    return;
  }
  block -= plan.request_blocks;
  if (block < plan.hub_blocks)
    return count_hubs(col, plan, static_cast<int>(block), maps + (grains * levels + 1) * map_words);
  block -= plan.hub_blocks;
  if (block < plan.long_blocks) return walk_far(col, plan, static_cast<int>(block), map, maps);
  look_at_ends(row_ptr, col, plan, static_cast<int>(block - plan.long_blocks), out);
}

// How many counters have each value, and how many entries of the second sample lie in counters of each value: two and
// more, fewer are no hubs.
__device__ inline void count_counters(const std::int32_t *col, const SamplePlan &plan, const unsigned *counters,
                                      int block, SampleCounts *out) {
  __shared__ unsigned bins[2][hub_bins];
  const int t = static_cast<int>(threadIdx.x);
  static_assert(2 * hub_bins == sample_threads && hub_slots % (4 * hub_blocks * sample_threads) == 0);
  bins[0][t] = 0;
  unsigned slot[hub_flight];
  look_up_slots(col, plan, block, 1, slot);
  plugin::cuda::await_predecessor();
  __syncthreads();
  constexpr int rounds = hub_slots / (4 * hub_blocks * sample_threads);
  uint4 four[rounds];
  unsigned met[hub_flight];
#pragma unroll
  for (int r = 0; r < rounds; ++r)
    four[r] = reinterpret_cast<const uint4 *>(counters)[(r * hub_blocks + block) * sample_threads + t];
#pragma unroll
  for (int f = 0; f < hub_flight; ++f) met[f] = counters[slot[f]];
  const auto count = [](unsigned *of_values, unsigned value) {
    if (value > 1) atomicAdd(of_values + min(value, hub_bins - 1u), 1u);
  };
#pragma unroll
  for (int r = 0; r < rounds; ++r)
    count(bins[0], four[r].x), count(bins[0], four[r].y), count(bins[0], four[r].z), count(bins[0], four[r].w);
#pragma unroll
  for (int f = 0; f < hub_flight; ++f) count(bins[1], met[f]);
  __syncthreads();
  if (bins[0][t]) atomicAdd(out->hub_counters[0] + t, bins[0][t]);
}

// Bits of one map, or of the map of a window, which holds the smaller ones: a part of its words.
__device__ inline void count_maps(const unsigned *maps, int which, int part, SampleCounts *out) {
  constexpr int rounds = map_words / map_parts / sample_threads;
  const bool diagonals = which == grains * levels;
  const int grain = which / levels, level = diagonals ? 0 : which % levels;
  maps += grain * levels * map_words + part * (map_words / map_parts) + threadIdx.x;
  Count bits = 0;
#pragma unroll
  for (int r = 0; r < rounds; ++r) {
    unsigned word = 0;
#pragma unroll
    for (int l = 0; l < levels; ++l)
      if (l <= level) word |= maps[l * map_words + r * sample_threads];
    bits += __popc(word);
  }
  add_sum(diagonals ? &out->diagonals : &out->level[grain][level], bits);
}

// The marks of the sample: the maps, the last of them for diagonals, and the counters of hubs.
inline constexpr int map_blocks = (grains * levels + 1) * map_parts;
inline __global__ void __launch_bounds__(sample_threads)
    count_marks(const std::int32_t *col, SamplePlan plan, const unsigned *maps, SampleCounts *out) {
  const int block = static_cast<int>(blockIdx.x);
  if (block < plan.hub_blocks) return count_counters(col, plan, maps + (grains * levels + 1) * map_words, block, out);
  plugin::cuda::await_predecessor();
  count_maps(maps, (block - plan.hub_blocks) / map_parts, (block - plan.hub_blocks) % map_parts, out);
}

}  // namespace sextant::features_cuda
