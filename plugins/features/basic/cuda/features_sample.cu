// SPDX-License-Identifier: BSD-3-Clause
// features.sample.cuda, tier 2: how close together the columns lie, from a sample of them. One launch does all the
// sampling, a second counts the maps, one copy brings the counters back; footprints and misses follow on the host
// (plugins/features/shared/footprint.hpp), as the README of features/basic says.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "plugins/features/shared/footprint.hpp"
#include "plugins/features/shared/names.hpp"
#include "sample.cuh"

namespace sextant::features_cuda {

using namespace plugin;

namespace {

const char *const names[] = {SXT_FEATURES_OF_X,
                             "x_sector_miss_unit",
                             "x_sector_miss_cache",
                             "x_sectors_1",
                             "x_sectors_2",
                             "x_sectors_4",
                             "x_sectors_8",
                             "x_sectors_16",
                             "x_sectors_32",
                             "x_tags_1",
                             "x_tags_2",
                             "x_tags_4",
                             "x_tags_8",
                             "x_tags_16",
                             "x_tags_32",
                             SXT_FEATURES_OF_BLOCKS,
                             "block_row_most_2",
                             "block_row_most_3",
                             "block_row_most_4",
                             "block_row_most_5",
                             "block_row_most_6",
                             "block_row_most_7",
                             "block_row_most_8",
                             SXT_FEATURES_OF_BANDS,
                             "hub_share",
                             nullptr};
constexpr int at_x = 0, n_x = 8, at_requests = n_x, n_requests = 2 * widths, at_blocks = at_requests + n_requests,
              n_blocks = 2 * fill_sizes + 2, at_hubs = at_blocks + n_blocks;
static_assert(at_hubs + 2 == std::size(names));

constexpr std::uint64_t maps_bytes = (grains * levels + 1) * map_words * sizeof(unsigned),
                        hub_bytes = hub_slots * sizeof(unsigned);
constexpr std::int64_t least_groups = 64, most_groups = 1024, least_sampled = 16384, most_sampled = 32768,
                       most_ends = 4096;

// Groups of rows that hold about 1 % of the entries, but not fewer nor more than some ten thousand.
std::int64_t sampled_groups(std::int64_t rows, std::int64_t nnz) {
  if (nnz == 0) return 0;
  const std::int64_t groups = (rows + group_rows - 1) / group_rows;
  const double wanted = static_cast<double>(std::min(nnz, std::clamp(nnz / 100, least_sampled, most_sampled)));
  const auto share = static_cast<std::int64_t>(wanted / static_cast<double>(nnz) * static_cast<double>(groups));
  return std::clamp(share, std::min(groups, least_groups), most_groups);
}

// The samples of a matrix for the requested names.
SamplePlan plan_for(std::int64_t rows, std::int64_t cols, std::int64_t nnz, sxt_value_type type, bool x, bool requests,
                    bool blocks, bool hubs) {
  SamplePlan plan{};
  plan.rows = rows;
  plan.nnz = nnz;
  const auto element = static_cast<std::int64_t>(value_bytes(type));
  plan.shift = element == 4 ? 3 : element == 8 ? 2 : 1;
  if (nnz == 0) return plan;
  if (x) {
    plan.walk_length = std::min<std::int64_t>(nnz, 1 << walk_power);
    plan.walks = std::clamp<std::int64_t>(nnz / 50 / plan.walk_length, 1, most_walks);
    if (nnz > plan.walk_length) plan.long_length = std::min<std::int64_t>(nnz, 1 << last_level);
    plan.long_begin = (nnz - plan.long_length) / 2;
    plan.long_blocks = static_cast<int>(cuda::divide_up<std::int64_t>(plan.long_length, far_entries));
    plan.share = 1;
    while (std::min(plan.long_length, cols * element / 32) / plan.share > map_bits / 4) plan.share *= 2;
  }
  if (requests) {
    plan.requests = std::min<std::int64_t>(request_groups, cuda::divide_up<std::int64_t>(rows, 32));
    plan.request_blocks = static_cast<int>(cuda::divide_up<std::int64_t>(plan.requests * widths, sample_threads / 32));
  }
  if (blocks) {
    plan.groups = sampled_groups(rows, nnz);
    plan.whole = nnz <= group_entries;
    plan.row_step = rows / most_ends + 1;
    plan.end_blocks = static_cast<int>(cuda::divide_up<std::int64_t>(std::min(rows, most_ends), sample_threads));
  }
  // Of smaller matrices the L1 caches keep the elements used often.
  if (hubs && nnz >= 4 * hub_samples) plan.hub_blocks = hub_blocks;
  return plan;
}

std::int64_t blocks_of(const SamplePlan &plan) {
  return plan.walks + plan.long_blocks + plan.request_blocks + plan.groups + plan.end_blocks + plan.hub_blocks;
}

// Keys that set so many of the map's bits.
double keys_of(double bits) { return -map_bits * std::log1p(-std::min(bits, map_bits - 1.0) / map_bits); }

Footprint footprint_of(const SampleCounts &counts, const SamplePlan &plan, int grain) {
  Footprint out(grain == 0 ? 32 : 64);
  out.set_entries(static_cast<double>(plan.nnz));
  for (std::int64_t w = 0; w < plan.walks; ++w) {
    const unsigned *found = counts.walk[w][grain];
    for (int point = 0; point + 1 < walk_points; ++point)
      if ((std::int64_t{512} << point) <= plan.walk_length) out.add(9 + point, keys_of(found[point]));
    if (plan.walk_length == plan.nnz) out.add(-1, keys_of(found[walk_points - 1]));
  }
  for (int level = 0; level < levels && plan.long_length > 0; ++level) {
    const std::int64_t window = std::int64_t{1} << (first_level + level);
    const double keys = plan.share * keys_of(static_cast<double>(counts.level[grain][level]));
    if (window <= plan.long_length) out.add(first_level + level, keys);
    if (window >= plan.long_length && plan.long_length == plan.nnz) return out.add(-1, keys), out;
  }
  return out;
}

// Sectors that units ask of the last cache, an entry, when each takes nnz / units consecutive entries with an empty
// cache that keeps what fits.
double asked_by_units(const Footprint &f, double nnz, double units, double cache) {
  const double window = nnz / units, kept = std::min(window, f.window_of_bytes(cache));
  if (window < 1) return 1;
  return std::min(1.0, (f.lines(kept) + (window - kept) * f.new_lines(kept)) / window);
}

void tell_x(const SampleCounts &counts, const SamplePlan &plan, const sxt_csr &a, const State &state, double *values) {
  const Footprint lines = footprint_of(counts, plan, 1), sectors = footprint_of(counts, plan, 0);
  const double nnz = static_cast<double>(plan.nnz), window = std::min(1024.0, nnz);
  const double entry = static_cast<double>(value_bytes(a.s.value_type) + index_bytes(a.s.index_type));
  const double unit_cache = static_cast<double>(state.launch[1]), cache = static_cast<double>(state.launch[2]);
  *values++ = nnz > 0 ? lines.lines(window) / window : 0;
  for (double bytes : {0x1p15, 0x1p20, 0x1p25, unit_cache, cache}) *values++ = lines.misses(bytes, entry);
  *values++ = nnz > 0 ? asked_by_units(sectors, nnz, static_cast<double>(state.launch[3]), 0.75 * unit_cache) : 0;
  *values++ = sectors.misses(cache, entry);
}

void tell_requests(const SampleCounts &counts, double *values) {
  for (int width = 0; width < widths; ++width) {
    const double entries = static_cast<double>(counts.entries[width]);
    values[width] = entries > 0 ? static_cast<double>(counts.sectors[width]) / entries : 0;
    values[widths + width] = entries > 0 ? static_cast<double>(counts.tags[width]) / entries : 0;
  }
}

void tell_blocks(const SampleCounts &counts, double *values) {
  tell_fills(counts.block_entries, counts.blocks, values);
  for (int s = 0; s < fill_sizes; ++s) values[fill_sizes + s] = static_cast<double>(counts.most_blocks[s]);
  values[2 * fill_sizes] = static_cast<double>(counts.bandwidth);
  values[2 * fill_sizes + 1] = static_cast<double>(counts.diagonals);
}

// The share of the second sample that lies in the fullest counters, hub_limit at most. Columns that are not hubs also
// have a share by chance, which is subtracted.
double hub_share(const SampleCounts &counts, std::int64_t cols) {
  unsigned taken = 0, entries = 0;
  for (int least = hub_bins - 1; least > 1 && taken + counts.hub_counters[0][least] <= hub_limit; --least)
    taken += counts.hub_counters[0][least], entries += counts.hub_counters[1][least];
  const double share = static_cast<double>(entries) / hub_samples,
               chance = std::min(1.0, taken / static_cast<double>(std::min<std::int64_t>(cols, hub_slots)));
  return chance < 1 ? std::max(0.0, (share - chance) / (1 - chance)) : share;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const SamplePlan plan = plan_for(q.rows, q.cols, q.nnz, q.matrix_type, true, true, true, true);
  const double walked = static_cast<double>(plan.walks * plan.walk_length + plan.long_length);
  cuda::CudaCost cost;
  cost.launches = 7;  // clearing, two kernels, copying back and waiting
  cost.stream_bytes = 4 * walked + 4 * static_cast<double>(maps_bytes);
  cost.working_set = cost.stream_bytes;
  cost.sectors = walked / 8;
  cost.flops = 140 * walked;  // as it was timed: marks wait for each other
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate =
      cuda::fill(list.add(), *machine, std::max<std::int64_t>(1, blocks_of(plan)), sample_threads, 0, cost);
  candidate.launch[1] = static_cast<std::int64_t>(machine->unit_cache_bytes);
  candidate.launch[2] = static_cast<std::int64_t>(machine->cache_bytes);
  candidate.launch[3] = std::max(1, machine->units);
  candidate.setup_s = call_s;
  candidate.state_bytes = sizeof(State);
  candidate.scratch_bytes = sizeof(SampleCounts) + maps_bytes + hub_bytes;
  return SXT_OK;
}

void count_sample(const sxt_csr &a, const SamplePlan &plan, const sxt_exec *exec) {
  auto *counts =
      cleared_scratch<SampleCounts>(exec, sizeof(SampleCounts) + maps_bytes + (plan.hub_blocks > 0 ? hub_bytes : 0));
  auto *maps = reinterpret_cast<unsigned *>(counts + 1);
  if (blocks_of(plan) == 0) return;
  with_row_ptr(a, [&](const auto *row_ptr) {
    sample<<<static_cast<unsigned>(blocks_of(plan)), sample_threads, 0, cuda::stream_of(*exec)>>>(
        row_ptr, static_cast<const std::int32_t *>(a.col), plan, maps, counts);
    cuda::need_launch("a sample of the columns");
  });
  launch_second(exec, "a count of what was sampled", count_marks, static_cast<unsigned>(plan.hub_blocks + map_blocks),
                sample_threads, static_cast<const std::int32_t *>(a.col), plan, maps, counts);
}

// The request of the args, and the plan to sample it.
struct Wish {
  Wish(const sxt_csr &a, const Asked &asked)
      : x(asked.any(at_x, n_x)),
        requests(asked.any(at_requests, n_requests)),
        blocks(asked.any(at_blocks, n_blocks)),
        plan(plan_for(a.s.rows, a.s.cols, a.s.nnz, a.s.value_type, x, requests, blocks, asked.any(at_hubs, 1))) {}
  bool x, requests, blocks;
  SamplePlan plan;
};

const Names &own_names() {
  static const Names own(names);
  return own;
}

sxt_status begin(void *opaque, const sxt_head *head, const sxt_exec *exec) {
  auto &state = *static_cast<State *>(opaque);
  return cuda::guarded(exec, [&] {
    const Asked asked(as<sxt_features_args>(head), own_names());
    count_sample(*state.a, Wish(*state.a, asked).plan, exec);
    return begin_fetching<SampleCounts>(state, asked, exec), SXT_OK;
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const sxt_csr &a = *state.a;
  return cuda::guarded(exec, [&] {
    const auto report = [&](const SampleCounts &counts, const Asked &asked) {
      const Wish wish(a, asked);
      double values[std::size(names)] = {};
      if (wish.x) tell_x(counts, wish.plan, a, state, values + at_x);
      if (wish.requests) tell_requests(counts, values + at_requests);
      if (wish.blocks) tell_blocks(counts, values + at_blocks);
      if (wish.plan.hub_blocks > 0) values[at_hubs] = hub_share(counts, a.s.cols);
      return asked.answer(values);
    };
    return with_counters<SampleCounts>(
        state, as<sxt_features_args>(head), own_names(), exec,
        [&](const Asked &asked) { count_sample(a, Wish(a, asked).plan, exec); }, report);
  });
}

const sxt_features_ops ops = {sizeof(sxt_features_ops), names, 2, 0, begin};

}  // namespace

const sxt_kernel sample_kernel =
    feature_kernel("features.sample.cuda", "locality, requests, block fill and diagonals from a sample of the columns",
                   &ops, csr_storage, candidates, run);

}  // namespace sextant::features_cuda
