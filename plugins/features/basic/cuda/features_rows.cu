// SPDX-License-Identifier: BSD-3-Clause
// features.rows.cuda, tier 1: row lengths. One pass over the row pointers counts (row_counts.cuh), then some tiles,
// windows and cuts are examined. All in integers, so that results depend neither on the grid nor on the order of
// blocks. Lengths up to a limit go into a histogram, from which the width of HYB follows on the host; where a third of
// the rows are longer, it is found by bisection.
#include <cmath>
#include <iterator>
#include <memory>

#include "cuts.cuh"
#include "plugins/features/shared/names.hpp"
#include "plugins/formats/hyb.hpp"
#include "tiles.cuh"
#include "windows.cuh"

namespace sextant::features_cuda {

using namespace plugin;

namespace {

const char *const names[] = {SXT_FEATURES_OF_LENGTHS,
                             "row_nnz_sum_ceil_2",
                             SXT_FEATURES_OF_CEILINGS,
                             "warp_steps_1",
                             "warp_steps_2",
                             "warp_steps_4",
                             "warp_steps_8",
                             "warp_steps_16",
                             "warp_steps_32",
                             SXT_FEATURES_OF_SLICES,
                             SXT_FEATURES_OF_PARTS,
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

struct Counts : RowCounts {
  WindowCounts windows;
  TileCounts tiles;
  CutCounts cuts;
};

// ---- on the device

// The examinations that need the longest row, side by side: the blocks of each.
struct Looks {
  unsigned tiles, windows, cuts;  // tiles and cuts: for each shape
  unsigned blocks() const { return tiles * tile_shapes + windows + cuts * cuda::n_tile_shapes; }
};

template <class Offset>
__global__ void __launch_bounds__(look_threads)
    look_closer(const Offset *row_ptr, std::int64_t rows, std::int64_t nnz, Looks looks,
                const __grid_constant__ TileShapes shapes, const __grid_constant__ CutShapes cuts, Counts *out) {
  unsigned block = blockIdx.x;
  cuda::await_predecessor();
  const auto longest = static_cast<std::int64_t>(out->longest);
  // The largest tiles take longest: first.
  if (block < looks.tiles * tile_shapes) {
    const int of = tile_shapes - 1 - static_cast<int>(block / looks.tiles);
    return look_at_tiles(row_ptr, rows, nnz, shapes, of, block % looks.tiles, longest, &out->tiles);
  }
  block -= looks.tiles * tile_shapes;
  if (block < looks.windows) return look_at_window(row_ptr, rows, block, looks.windows, &out->windows);
  block -= looks.windows;
  look_at_cuts(row_ptr, rows, nnz, cuts, static_cast<int>(block / looks.cuts), block % looks.cuts, longest, &out->cuts);
}

// Rows of `length` entries and more, and the entries beyond so many.
template <class Offset>
__global__ void __launch_bounds__(row_threads)
    count_from(const Offset *row_ptr, std::int64_t rows, std::int64_t length, Count *count_and_above) {
  Count reach = 0, above = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * row_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * row_threads + threadIdx.x; i < rows; i += stride) {
    const std::int64_t own = row_ptr[i + 1] - row_ptr[i];
    reach += own >= length;
    if (own > length) above += static_cast<Count>(own - length);
  }
  add_sum(count_and_above, reach);
  add_sum(count_and_above + 1, above);
}

// ---- on the host

unsigned row_blocks(std::int64_t rows) { return cuda::blocks_for(rows, row_threads * lane_rows, most_row_blocks); }

struct Reach {
  Count rows, above;
};

Reach reach_of(const sxt_csr &a, std::int64_t length, const sxt_exec *exec) {
  auto *counters = cleared_scratch<Count>(exec, sizeof(Reach));
  with_row_ptr(a, [&](const auto *row_ptr) {
    count_from<<<cuda::blocks_for(a.s.rows, row_threads, most_row_blocks), row_threads, 0, cuda::stream_of(*exec)>>>(
        row_ptr, a.s.rows, length, counters);
    cuda::need_launch("a count of long rows");
  });
  return cuda::fetch(exec, reinterpret_cast<const Reach *>(counters), "a count of long rows");
}

// Lengths in the histogram that rows can have.
int lengths_of(const Counts &all) { return static_cast<int>(std::min<Count>(length_bins, all.longest + 1)); }

// The largest H that a third of the rows reach, and the entries above it.
void find_third(const Counts &all, const sxt_csr &a, const sxt_exec *exec, double out[2]) {
  const auto rows = static_cast<Count>(a.s.rows);
  Count reach = all.beyond.rows;
  std::int64_t h = length_bins;
  double above = 0;
  if (3 * reach >= rows) {  // long rows are the rule
    std::int64_t low = length_bins, high = static_cast<std::int64_t>(all.longest);
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
    h = lengths_of(all);
    while (h > 0 && 3 * reach < rows) reach += all.histogram[--h];
    above = static_cast<double>(all.beyond.entries) - static_cast<double>(all.beyond.rows) * static_cast<double>(h);
    for (std::int64_t l = h + 1; l < lengths_of(all); ++l)
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
  if (all.beyond.rows == 0) {
    double squares = 0;
    for (int l = 0; l < lengths_of(all); ++l) squares += all.histogram[l] * (l - mean) * (l - mean);
    return std::sqrt(squares / rows);
  }
  Count squares = all.beyond.squares;
  for (int l = 0; l < lengths_of(all); ++l) squares += Count{all.histogram[l]} * static_cast<Count>(l * l);
  const long double sum = static_cast<long double>(squares), n = rows, entries = nnz;
  return static_cast<double>(std::sqrt(std::max(0.0L, (n * sum - entries * entries) / (n * n))));
}

// Entries when rows are rounded up to 2, 4, 8 and 16, and what values[at_run] says.
void evaluate_lengths(const Counts &all, double nnz, double *values) {
  // Rows of k * step - step + 1 .. k * step entries, for steps that double.
  Count rows[length_bins + 1] = {};
  int count = lengths_of(all) - 1;
  for (int l = 1; l <= count; ++l) rows[l] = all.histogram[l];
  for (int g = 0; g < 4; ++g) {
    Count steps = 0;
    count = (count + 1) / 2;
    for (int k = 1; k <= count; ++k) {
      rows[k] = rows[2 * k - 1] + rows[2 * k];
      steps += rows[k] * static_cast<Count>(k);
    }
    rows[count + 1] = 0;
    values[at_ceil + g] = static_cast<double>(all.beyond.ceil[g] + (steps << (g + 1)));
  }
  // Of entries in rows of 32 and more every one has 31 like it beside it.
  double run = 32 * nnz;
  for (int l = 1; l < std::min(lengths_of(all), 32); ++l) run -= static_cast<double>(all.histogram[l]) * l * (32 - l);
  values[at_run] = nnz > 0 ? run / nnz : 0;
}

void evaluate(const Counts &all, const sxt_csr &a, double *values) {
  const double rows = static_cast<double>(a.s.rows), nnz = static_cast<double>(a.s.nnz);
  values[at_max] = static_cast<double>(all.longest);
  values[at_min] = longest_possible - static_cast<double>(all.least_missing);
  values[at_std] = deviation(all, rows, nnz);
  values[at_empty] = static_cast<double>(all.histogram[0]);
  evaluate_lengths(all, nnz, values);
  values[at_ceil + 4] = 32 * static_cast<double>(all.steps[0]);  // a row each at level 0
  // steps[level] holds every group as often as lanes had it; 32 / 2^level lanes of a product share a row.
  for (int level = 0; level < row_levels; ++level)
    values[at_steps + 5 - level] = static_cast<double>(all.steps[level] >> std::max(0, level - 2));
  values[at_max_of] = 4 * static_cast<double>(all.max_of_8);  // two lanes added each longest row
  values[at_max_of + 1] = 32 * values[at_steps];              // one lane a row: steps are entries
  for (int level = 0; level < row_levels; ++level)
    values[at_imbalance + level] = nnz > 0 ? static_cast<double>(all.fullest[level]) * (2 << level) / nnz : 1;
  const double looked = static_cast<double>(looked_windows(a));
  // As many as the looked-at windows have, but no fewer than there are entries.
  values[at_sorted] =
      std::max(nnz, static_cast<double>(all.windows.stored) * (static_cast<double>(windows_of(a)) / looked));
  values[at_sorted_share] = static_cast<double>(all.windows.sorted) / looked;
  for (int s = 0; s < cuda::n_tile_shapes; ++s) values[at_cuts + s] = cut_share(all.cuts, s, a, values[at_max]);
  values[at_rises] = static_cast<double>(all.rises);
  values[at_most_of_256] = static_cast<double>(all.most_of_256);
  const plugin::HybWidth hyb = plugin::hyb_cheapest_width(a.s, all.histogram, length_bins);
  values[at_hyb] = static_cast<double>(hyb.width);
  values[at_hyb + 1] = hyb.rest;
  for (int shape = 0; shape < tile_shapes; ++shape) tell_tiles(all.tiles, shape, a, values[at_max], values + at_tiles);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const double rows = static_cast<double>(q.rows);
  cuda::CudaCost cost;
  cost.launches = 5;  // clearing, counting, looking, copying back, and what waiting takes
  cost.stream_bytes = cost.working_set = (q.nnz > std::numeric_limits<std::int32_t>::max() ? 8 : 4) * rows;
  cost.flops = 130 * rows;  // some thirty integer operations, and waiting for the looks that grow with the rows
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = cuda::fill(list.add(), *machine, row_blocks(q.rows), row_threads, 1, cost);
  candidate.setup_s = call_s;
  candidate.state_bytes = sizeof(State);
  candidate.scratch_bytes = sizeof(Counts);
  return SXT_OK;
}

sxt_status begin(void *opaque, const sxt_head *head, const sxt_exec *exec) {
  auto &state = *static_cast<State *>(opaque);
  return cuda::guarded(exec, [&] {
    if (state.a->s.rows == 0) return SXT_OK;
    const Asked asked(as<sxt_features_args>(head), rows_names());
    count_all_rows(*state.a, asked, exec);
    return begin_fetching<Counts>(state, asked, exec), SXT_OK;
  });
}

sxt_status report(const Counts &all, const sxt_csr &a, const Asked &asked, const sxt_exec *exec) {
  double values[std::size(names)] = {};
  evaluate(all, a, values);
  if (asked.any(at_third, 2)) find_third(all, a, exec, values + at_third);
  return asked.answer(values);
}

sxt_status tell_nothing(const Asked &asked) {
  double values[std::size(names)] = {};
  for (int level = 0; level < row_levels; ++level) values[at_imbalance + level] = 1;
  return asked.answer(values);
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  return cuda::guarded(exec, [&] {
    const auto &args = as<sxt_features_args>(head);
    if (state.a->s.rows == 0) return tell_nothing(Asked(args, rows_names()));
    return with_counters<Counts>(
        state, args, rows_names(), exec, [&](const Asked &asked) { count_all_rows(*state.a, asked, exec); },
        [&](const Counts &all, const Asked &asked) { return report(all, *state.a, asked, exec); });
  });
}

const sxt_features_ops ops = {sizeof(sxt_features_ops), names, 1, 0, begin};

}  // namespace

std::uint64_t rows_scratch_bytes() { return sizeof(Counts); }

const Names &rows_names() {
  static const Names own(names);
  return own;
}

void count_all_rows(const sxt_csr &a, const Asked &asked, const sxt_exec *exec) {
  if (a.s.rows == 0) return;
  auto *counts = cleared_scratch<Counts>(exec, sizeof(Counts));
  const bool sorted = asked.any(at_sorted, 1) || asked.any(at_sorted_share, 1);
  const Looks looks{asked.any(at_tiles, 2 * tile_shapes) ? tile_blocks(a) : 0,
                    sorted ? static_cast<unsigned>(looked_windows(a)) : 0,
                    asked.any(at_cuts, cuda::n_tile_shapes) ? cut_blocks(a, look_threads) : 0};
  with_row_ptr(a, [&](const auto *row_ptr) {
    count_rows<<<row_blocks(a.s.rows), row_threads, 0, cuda::stream_of(*exec)>>>(
        row_ptr, static_cast<unsigned>(a.s.rows), counts);
    cuda::need_launch("a count of row lengths");
    if (looks.blocks() == 0) return;
    launch_second(exec, "a closer look at rows", look_closer<std::remove_cvref_t<decltype(*row_ptr)>>, looks.blocks(),
                  look_threads, row_ptr, a.s.rows, a.s.nnz, looks, all_tile_shapes, cut_shapes(), counts);
  });
}

sxt_status tell_rows(const sxt_csr &a, const Asked &asked, const sxt_exec *exec) {
  if (a.s.rows == 0) return tell_nothing(asked);
  const auto all = std::make_unique<Counts>();
  cuda::fetch(exec, all.get(), static_cast<const Counts *>(exec->scratch), 1, "counts of rows");
  return report(*all, a, asked, exec);
}

const sxt_kernel rows_kernel = feature_kernel("features.rows.cuda", "row lengths, one pass over the row pointers", &ops,
                                              csr_storage, candidates, run);

}  // namespace sextant::features_cuda
