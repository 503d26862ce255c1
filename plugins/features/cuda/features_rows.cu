// SPDX-License-Identifier: BSD-3-Clause
// features.rows.cuda, tier 1: row lengths, one pass over the row pointers with a thread a row. Everything is counted in
// integers, so that neither the grid nor the order of blocks shows. Lengths up to a limit go into a histogram, from
// which the width of HYB follows on the host; where a third of the rows are longer, it is found by bisection.
#include <cmath>
#include <iterator>
#include <vector>

#include "cuts.cuh"
#include "features.cuh"
#include "sextant/plugin_hyb.hpp"
#include "tiles.cuh"

namespace sextant::features_cuda {

using namespace plugin;

namespace {

const char *const names[] = {"row_nnz_max",
                             "row_nnz_min",
                             "row_nnz_std",
                             "empty_rows",
                             "row_nnz_third",
                             "row_nnz_above_third",
                             "row_nnz_sum_ceil_2",
                             "row_nnz_sum_ceil_4",
                             "row_nnz_sum_ceil_8",
                             "row_nnz_sum_ceil_16",
                             "row_nnz_sum_ceil_32",
                             "warp_steps_1",
                             "warp_steps_2",
                             "warp_steps_4",
                             "warp_steps_8",
                             "warp_steps_16",
                             "warp_steps_32",
                             "row_nnz_sum_max_of_8",
                             "row_nnz_sum_max_of_32",
                             "row_imbalance_2",
                             "row_imbalance_4",
                             "row_imbalance_8",
                             "row_imbalance_16",
                             "row_imbalance_32",
                             "row_imbalance_64",
                             "row_nnz_sum_max_of_32_sorted",
                             "row_run_32",
                             "row_rises",
                             "row_nnz_most_of_256",
                             "hyb_width",
                             "hyb_rest",
                             "sorted_512_of_32",
                             SXT_TILE_CUTS,
                             SXT_TILE_SHAPES(SXT_TILE_NAMES) nullptr};
enum {
  at_max,
  at_min,
  at_std,
  at_empty,
  at_third,
  at_above,
  at_ceil,
  at_steps = at_ceil + 5,
  at_max_of = at_steps + 6,
  at_imbalance = at_max_of + 2,
  at_sorted = at_imbalance + 6,
  at_run,
  at_rises,
  at_most_of_256,
  at_hyb,
  at_sorted_share = at_hyb + 2,
  at_cuts,
  at_tiles = at_cuts + plugin::cuda::n_tile_shapes
};
static_assert(at_tiles + 2 * tile_shapes + 1 == std::size(names));

constexpr int threads = 256, bins = 1024, sort_window = 512, levels = 6;
constexpr std::int64_t most_blocks = 528;    // four a multiprocessor of the largest devices
constexpr std::int64_t most_windows = 1056;  // looked at

// What blocks add up, and what they take the most of: in shared memory first, since counters in global memory take
// additions one after the other.
struct RowSums {
  Count squares, empty, ceil[4], steps[levels], max_of_8;
  Count beyond, beyond_sum;  // rows of `bins` entries and more
  Count rises;               // rows longer than their predecessor in a window of sorting
};
struct RowMosts {
  Count longest, shortest_inverted;
  Count most_of_256;  // entries of 256 rows that a block looks at
};

struct Counts : RowSums, RowMosts {
  Count sorted;
  Count windows_sorted;   // windows where sorting pays
  Count fullest[levels];  // entries of the fullest part of 2, 4, ... 64
  TileCounts tiles;
  CutCounts cuts;
  unsigned histogram[bins];
};

// ---- on the device

// Where part p of `parts` begins when n rows are cut evenly.
__device__ std::int64_t border(std::int64_t n, int parts, int p) {
  return p * (n / parts) + min(static_cast<std::int64_t>(p), n % parts);
}

template <class Offset>
__device__ void find_fullest(const Offset *row_ptr, std::int64_t rows, Counts *out) {
  for (int level = 0, parts = 2; level < levels; ++level, parts *= 2)
    for (int p = static_cast<int>(threadIdx.x); p < parts; p += threads)
      atomicMax(&out->fullest[level],
                static_cast<Count>(row_ptr[border(rows, parts, p + 1)] - row_ptr[border(rows, parts, p)]));
}

// A length into the block's histogram: once for a whole warp of equal ones, once for each distinct one otherwise.
__device__ void count_length(unsigned *histogram, std::int64_t length, bool in) {
  const int bin = in && length < bins ? static_cast<int>(length) : -1;
  const unsigned peers = __match_any_sync(0xffffffffu, bin);
  if (bin >= 0 && static_cast<int>(threadIdx.x % 32) == __ffs(peers) - 1) atomicAdd(histogram + bin, __popc(peers));
}

// A block's counters to those of all.
__device__ void merge(const RowSums &sums, const RowMosts &mosts, Counts *out) {
  constexpr int n_sums = sizeof(RowSums) / sizeof(Count), n_mosts = sizeof(RowMosts) / sizeof(Count);
  static_assert(n_sums + n_mosts <= threads);
  const int t = static_cast<int>(threadIdx.x);
  if (t < n_sums) {
    const Count value = reinterpret_cast<const Count *>(&sums)[t];
    if (value) atomicAdd(reinterpret_cast<Count *>(static_cast<RowSums *>(out)) + t, value);
  } else if (t < n_sums + n_mosts) {
    const Count value = reinterpret_cast<const Count *>(&mosts)[t - n_sums];
    if (value) atomicMax(reinterpret_cast<Count *>(static_cast<RowMosts *>(out)) + (t - n_sums), value);
  }
}

template <class Offset>
__global__ void __launch_bounds__(threads) count_rows(const Offset *row_ptr, std::int64_t rows, Counts *out) {
  __shared__ unsigned histogram[bins];
  __shared__ RowSums sums;
  __shared__ RowMosts mosts;
  for (int i = static_cast<int>(threadIdx.x); i < bins; i += threads) histogram[i] = 0;
  if (threadIdx.x == 0) sums = {}, mosts = {};
  __syncthreads();
  if (blockIdx.x == 0) find_fullest(row_ptr, rows, out);
  Count longest = 0, shortest_inverted = 0, squares = 0, empty = 0, ceil[4] = {}, steps[levels] = {}, max_of_8 = 0,
        beyond = 0, beyond_sum = 0, rises = 0, most_of_256 = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads;
  // Whole warps go on together: groups of rows are formed by lanes.
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x / 32 * 32; first < rows;
       first += stride) {
    const std::int64_t i = first + threadIdx.x % 32;
    const bool in = i < rows;
    const std::int64_t length = in ? row_ptr[i + 1] - row_ptr[i] : 0;
    if (in && i % threads == 0)
      most_of_256 = max(most_of_256, static_cast<Count>(row_ptr[min(i + threads, rows)] - row_ptr[i]));
    count_length(histogram, length, in);
    std::int64_t before = __shfl_up_sync(0xffffffffu, length, 1);
    if (in) {
      if (threadIdx.x % 32 == 0 && i > 0) before = row_ptr[i] - row_ptr[i - 1];
      rises += i % sort_window != 0 && length > before;
      longest = max(longest, static_cast<Count>(length));
      shortest_inverted = max(shortest_inverted, ~static_cast<Count>(length));
      empty += length == 0;
    }
    squares += static_cast<Count>(length) * static_cast<Count>(length);
    if (length >= bins) ++beyond, beyond_sum += static_cast<Count>(length);
#pragma unroll
    for (int g = 0; g < 4; ++g) ceil[g] += static_cast<Count>((length + (2 << g) - 1) >> (g + 1) << (g + 1));
    // At level l groups are of 2^l rows, and 32 / 2^l lanes share a row; every lane adds what its group counts once.
    std::int64_t group = length;
#pragma unroll
    for (int level = 0; level < levels; ++level) {
      const int lanes = 32 >> level;
      if (level > 0) group = max(group, __shfl_xor_sync(0xffffffffu, group, 1 << (level - 1)));
      steps[level] += static_cast<Count>((group + lanes - 1) / lanes);
      if (level == 3) max_of_8 += static_cast<Count>(group);
    }
  }
  add_most(&mosts.longest, longest);
  add_most(&mosts.shortest_inverted, shortest_inverted);
  add_sum(&sums.squares, squares);
  add_sum(&sums.empty, empty);
  add_sum(&sums.max_of_8, max_of_8);
  add_sum(&sums.beyond, beyond);
  add_sum(&sums.beyond_sum, beyond_sum);
  add_sum(&sums.rises, rises);
  add_most(&mosts.most_of_256, most_of_256);
  for (int g = 0; g < 4; ++g) add_sum(&sums.ceil[g], ceil[g]);
  for (int level = 0; level < levels; ++level) add_sum(&sums.steps[level], steps[level]);
  __syncthreads();
  merge(sums, mosts, out);
  for (int i = static_cast<int>(threadIdx.x); i < bins; i += threads)
    if (histogram[i]) atomicAdd(&out->histogram[i], histogram[i]);
}

// 32 times the longest row of each slice, summed, when rows are sorted by length within windows: a bitonic sort a
// window, longest first; and the windows where that saves at least 3 %, as storage.sell.cuda asks for.
// A block looks at a window, beyond some number of windows at every so many-th.
template <class Offset>
__global__ void __launch_bounds__(sort_window)
    count_sorted(const Offset *row_ptr, std::int64_t rows, std::int64_t windows, Counts *out) {
  __shared__ long long length[sort_window];
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t b = blockIdx.x, looked = gridDim.x;
  const std::int64_t i = (windows / looked * b + windows % looked * b / looked) * sort_window + t;
  length[t] = i < rows ? static_cast<long long>(row_ptr[i + 1] - row_ptr[i]) : 0;
  __shared__ Count unsorted;
  if (t == 0) unsorted = 0;
  __syncthreads();
  const int longest = __reduce_max_sync(0xffffffffu, static_cast<int>(length[t]));
  if (t % 32 == 0) atomicAdd(&unsorted, 32 * static_cast<Count>(longest));
  for (int size = 2; size <= sort_window; size *= 2)
    for (int distance = size / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const int other = t ^ distance;
      if (other < t) continue;
      const bool descending = (t & size) == 0;
      const long long a = length[t], b = length[other];
      if ((a < b) == descending) length[t] = b, length[other] = a;
    }
  __syncthreads();
  if (t >= 32) return;
  Count sorted = t < sort_window / 32 ? 32 * static_cast<Count>(length[32 * t]) : 0;
  for (int d = 16; d > 0; d /= 2) sorted += __shfl_xor_sync(0xffffffffu, sorted, d);
  if (t > 0) return;
  atomicAdd(&out->sorted, sorted);
  if (unsorted * 100 > sorted * 103) atomicAdd(&out->windows_sorted, Count{1});
}

// Rows of `length` entries and more, and the entries beyond so many.
template <class Offset>
__global__ void __launch_bounds__(threads)
    count_from(const Offset *row_ptr, std::int64_t rows, std::int64_t length, Count *count_and_above) {
  Count reach = 0, above = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < rows; i += stride) {
    const std::int64_t own = row_ptr[i + 1] - row_ptr[i];
    reach += own >= length;
    if (own > length) above += static_cast<Count>(own - length);
  }
  add_sum(count_and_above, reach);
  add_sum(count_and_above + 1, above);
}

// ---- on the host

struct Reach {
  Count rows, above;
};

Reach reach_of(const sxt_csr &a, std::int64_t length, const sxt_exec *exec) {
  auto *counters = cleared_scratch<Count>(exec, sizeof(Reach));
  with_row_ptr(a, [&](const auto *row_ptr) {
    count_from<<<cuda::blocks_for(a.s.rows, threads, most_blocks), threads, 0, cuda::stream_of(*exec)>>>(
        row_ptr, a.s.rows, length, counters);
    cuda::need_launch("a count of long rows");
  });
  return cuda::fetch(exec, reinterpret_cast<const Reach *>(counters), "a count of long rows");
}

// The largest H that a third of the rows reach, and the entries above it.
void find_third(const Counts &all, const sxt_csr &a, const sxt_exec *exec, double out[2]) {
  const auto rows = static_cast<Count>(a.s.rows);
  Count reach = all.beyond;
  std::int64_t h = bins;
  double above = 0;
  if (3 * reach >= rows) {  // long rows are the rule
    std::int64_t low = bins, high = static_cast<std::int64_t>(all.longest);
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      if (3 * reach_of(a, middle, exec).rows >= rows)
        low = middle;
      else
        high = middle - 1;
    }
    h = low;
    above = static_cast<double>(reach_of(a, h, exec).above);
  } else {
    while (h > 0 && 3 * reach < rows) reach += all.histogram[--h];
    above = static_cast<double>(all.beyond_sum) - static_cast<double>(all.beyond) * static_cast<double>(h);
    for (std::int64_t l = h + 1; l < bins; ++l)
      above += static_cast<double>(all.histogram[l]) * static_cast<double>(l - h);
  }
  out[0] = static_cast<double>(h);
  out[1] = above;
}

std::int64_t windows_of(const sxt_csr &a) { return cuda::divide_up<std::int64_t>(a.s.rows, sort_window); }
std::int64_t looked_windows(const sxt_csr &a) { return std::min(windows_of(a), most_windows); }

// sqrt(sum l^2 / n - (nnz / n)^2) without losing the difference.
double deviation(const Counts &all, double rows, double nnz) {
  const double mean = nnz / rows;
  double squares = 0;
  if (all.beyond == 0) {
    for (int l = 0; l < bins; ++l) squares += all.histogram[l] * (l - mean) * (l - mean);
    return std::sqrt(squares / rows);
  }
  const long double sum = static_cast<long double>(all.squares), n = rows, entries = nnz;
  return static_cast<double>(std::sqrt(std::max(0.0L, (n * sum - entries * entries) / (n * n))));
}

void evaluate(const Counts &all, const sxt_csr &a, double *values) {
  const double rows = static_cast<double>(a.s.rows), nnz = static_cast<double>(a.s.nnz);
  values[at_max] = static_cast<double>(all.longest);
  values[at_min] = static_cast<double>(~all.shortest_inverted);
  values[at_std] = deviation(all, rows, nnz);
  values[at_empty] = static_cast<double>(all.empty);
  for (int g = 0; g < 4; ++g) values[at_ceil + g] = static_cast<double>(all.ceil[g]);
  values[at_ceil + 4] = 32 * static_cast<double>(all.steps[0] / 1);  // a row each at level 0
  // steps[level] holds every group 2^level times; 32 / 2^level lanes share a row.
  for (int level = 0; level < levels; ++level)
    values[at_steps + 5 - level] = static_cast<double>(all.steps[level] >> level);
  values[at_max_of] = static_cast<double>(all.max_of_8);                         // eight lanes added each longest row
  values[at_max_of + 1] = 32 * static_cast<double>(all.steps[levels - 1] >> 5);  // one lane a row: steps are entries
  for (int level = 0; level < levels; ++level)
    values[at_imbalance + level] = nnz > 0 ? static_cast<double>(all.fullest[level]) * (2 << level) / nnz : 1;
  const double looked = static_cast<double>(looked_windows(a));
  // As many as the looked-at windows have, but no fewer than there are entries.
  values[at_sorted] = std::max(nnz, static_cast<double>(all.sorted) * (static_cast<double>(windows_of(a)) / looked));
  values[at_sorted_share] = static_cast<double>(all.windows_sorted) / looked;
  for (int s = 0; s < cuda::n_tile_shapes; ++s) values[at_cuts + s] = cut_share(all.cuts, s, a, values[at_max]);
  // Of entries in rows beyond the histogram every one has 31 like it beside it.
  double run = 32 * static_cast<double>(all.beyond_sum);
  for (int l = 1; l < bins; ++l) run += static_cast<double>(all.histogram[l]) * l * std::min(l, 32);
  values[at_run] = nnz > 0 ? run / nnz : 0;
  values[at_rises] = static_cast<double>(all.rises);
  values[at_most_of_256] = static_cast<double>(all.most_of_256);
  const plugin::HybWidth hyb = plugin::hyb_cheapest_width(a.s, all.histogram, bins, all.beyond);
  values[at_hyb] = static_cast<double>(hyb.width);
  values[at_hyb + 1] = hyb.rest;
  for (int shape = 0; shape < tile_shapes; ++shape) tell_tiles(all.tiles, shape, a, values[at_max], values + at_tiles);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const double rows = static_cast<double>(q.rows);
  cuda::CudaCost cost;
  cost.launches = 6;  // clearing, counting, copying back and waiting
  cost.stream_bytes = cost.working_set = (q.nnz > std::numeric_limits<std::int32_t>::max() ? 8 : 4) * rows;
  cost.flops = 60 * rows;  // about thirty integer operations a row
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate =
      cuda::fill(list.add(), *machine, cuda::blocks_for(q.rows, threads, most_blocks), threads, 1, cost);
  candidate.setup_s = call_s;
  candidate.state_bytes = sizeof(State);
  candidate.scratch_bytes = sizeof(Counts);
  return SXT_OK;
}

sxt_status begin(void *opaque, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  return cuda::guarded(exec, [&] {
    count_all_rows(*state.a, as<sxt_features_args>(head), exec);
    return state.begun = true, SXT_OK;
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_features_args>(head);
  return cuda::guarded(exec, [&] {
    if (!take_begun(state)) count_all_rows(*state.a, args, exec);
    return tell_rows(*state.a, args, exec);
  });
}

const sxt_features_ops ops = {sizeof(sxt_features_ops), names, 1, 0, begin};

}  // namespace

std::uint64_t rows_scratch_bytes() { return sizeof(Counts); }

void count_all_rows(const sxt_csr &a, const sxt_features_args &args, const sxt_exec *exec) {
  if (a.s.rows == 0) return;
  auto *counts = cleared_scratch<Counts>(exec, sizeof(Counts));
  with_row_ptr(a, [&](const auto *row_ptr) {
    count_rows<<<cuda::blocks_for(a.s.rows, threads, most_blocks), threads, 0, cuda::stream_of(*exec)>>>(
        row_ptr, a.s.rows, counts);
    cuda::need_launch("a count of row lengths");
    if (wants(args, names, at_tiles, 2 * tile_shapes)) count_tiles(row_ptr, a, &counts->longest, &counts->tiles, exec);
    if (wants(args, names, at_cuts, cuda::n_tile_shapes)) count_cuts(row_ptr, a, &counts->longest, &counts->cuts, exec);
    if (!wants(args, names, at_sorted, 1) && !wants(args, names, at_sorted_share, 1)) return;
    count_sorted<<<static_cast<unsigned>(looked_windows(a)), sort_window, 0, cuda::stream_of(*exec)>>>(
        row_ptr, a.s.rows, windows_of(a), counts);
    cuda::need_launch("a count of sorted rows");
  });
}

sxt_status tell_rows(const sxt_csr &a, const sxt_features_args &args, const sxt_exec *exec) {
  double values[std::size(names)] = {};
  for (int level = 0; level < levels; ++level) values[at_imbalance + level] = 1;
  if (a.s.rows == 0) return answer(args, names, values);
  std::vector<Counts> all(1);
  cuda::fetch(exec, all.data(), static_cast<const Counts *>(exec->scratch), 1, "counts of rows");
  evaluate(all[0], a, values);
  if (wants(args, names, at_third, 2)) find_third(all[0], a, exec, values + at_third);
  return answer(args, names, values);
}

const sxt_kernel rows_kernel = feature_kernel("features.rows.cuda", "row lengths, one pass over the row pointers", &ops,
                                              csr_storage, candidates, run);

}  // namespace sextant::features_cuda
