// SPDX-License-Identifier: BSD-3-Clause
// features.sample.cpu, tier 2: how close together the columns lie, from a sample of them. Short walks over consecutive
// entries are many and go to one thread each; long ones are shared by the team, which marks lines in one map. README.md
// explains how footprints become misses. The counts do not depend on the number of threads.
#include <atomic>
#include <bit>
#include <cstdint>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "features.hpp"
#include "footprint.hpp"
#include "plugins/features/shared/names.hpp"
#include "sample_fills.hpp"
#include "sextant/sdk/cpu/csr.hpp"

namespace sextant::features_basic {

using namespace plugin;

namespace {

const char *const names[] = {SXT_FEATURES_OF_X, SXT_FEATURES_OF_BLOCKS, SXT_FEATURES_OF_BANDS, SXT_FEATURES_OF_STRIPS,
                             nullptr};
constexpr int n_x = 6, n_blocks = most_fill_size - least_fill_size + 1, n_bands = 2, n_strips = 2;
const sxt_features_ops ops = {sizeof(sxt_features_ops), names, 2, 0, nullptr};

constexpr std::int64_t many = 50000;       // entries from which a team is faster despite its forks
constexpr std::int64_t short_walk = 4096;  // entries
constexpr std::int64_t middle_walk = 1 << 17, longest_walk = 1 << 22;  // entries, shared by a team
constexpr std::int64_t most_middle_walks = 3, most_short_walks = 64;
constexpr double small_cache = 32768, middle_cache = 1048576, large_cache = 33554432;

int threads_for(std::int64_t nnz, int units) { return nnz < many ? 1 : std::max(1, units); }

std::uint64_t lines_of(std::int64_t cols) { return static_cast<std::uint64_t>(cols) / 4 + 1; }  // c128: four a line

std::int64_t short_walks(std::int64_t nnz) {
  return std::clamp<std::int64_t>(nnz / 100 / short_walk, nnz > 0, most_short_walks);
}

// Walks by teams serve windows beyond the short ones. Together they read at most half of the entries, so that sampling
// stays cheaper than one product; a matrix of two short walks or less is read whole.
struct TeamWalks {
  std::int64_t middle, middle_walks, longest;  // lengths are powers of two; 0: no such walk
};

TeamWalks team_walks(std::int64_t nnz) {
  if (nnz <= 2 * short_walk) return {0, 0, 0};
  const auto power_within = [](std::int64_t entries, std::int64_t most) {
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::min(entries, most))));
  };
  const std::int64_t middle = power_within(nnz / 4, middle_walk), longest = power_within(nnz / 4, longest_walk);
  return {middle, std::clamp<std::int64_t>(nnz / (4 * middle), 1, most_middle_walks), longest > middle ? longest : 0};
}

std::int64_t team_entries(std::int64_t nnz) {
  const TeamWalks walks = team_walks(nnz);
  return walks.middle * walks.middle_walks + walks.longest + (nnz <= 2 * short_walk && nnz > short_walk ? nnz : 0);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const int threads = threads_for(q.nnz, machine->units);
  const double walked = static_cast<double>(short_walks(q.nnz) * short_walk + team_entries(q.nnz));
  const double in_blocks = static_cast<double>(sampled_entries(q.nnz));
  CpuCost cost;
  cost.stream_bytes = 4 * (walked + in_blocks) + static_cast<double>(lines_of(q.cols));
  // About five cycles an entry of a walk, four for each block size, and ten for strips.
  cost.flops =
      (5 * walked + (10 + 4 * n_blocks) * in_blocks) * multiply_add_flops(SXT_F64) * scalar_slowdown(*machine, SXT_F64);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = fill(list.add(), threads, cost);
  candidate.launch[1] = static_cast<std::int64_t>(machine->unit_cache_bytes);
  candidate.launch[2] = static_cast<std::int64_t>(machine->cache_bytes);
  candidate.state_bytes = sizeof(State);
  candidate.scratch_bytes = static_cast<std::uint64_t>(threads) * sizeof(SmallSet) + lines_of(q.cols);
  return SXT_OK;
}

struct Team {
  int threads;
  SmallSet *sets;        // one a thread
  unsigned char *lines;  // one a line of x
  int shift;             // columns to lines
};

bool wants_some(const sxt_features_args &args, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    const char *const one[] = {names[i], nullptr};
    if (wants(args, one)) return true;
  }
  return false;
}

// One thread walks alone.
template <class Column>
void walk_alone(const Column *col, std::int64_t length, std::int64_t nnz, int shift, SmallSet &set, Footprint &out) {
  set.clear();
  std::int64_t distinct = 0;
  for (std::int64_t k = 0; k < length; ++k) {
    distinct += set.insert(static_cast<std::uint64_t>(col[k]) >> shift);
    const auto done = static_cast<std::uint64_t>(k + 1);
    if (done >= 512 && std::has_single_bit(done)) out.add(std::countr_zero(done), static_cast<double>(distinct));
  }
  if (length == nnz) out.add(-1, static_cast<double>(distinct));
}

// The team marks [begin, end) and counts lines that were not marked.
template <class Column>
std::int64_t mark_together(const Column *col, std::int64_t begin, std::int64_t end, const Team &team) {
  std::atomic<std::int64_t> distinct{0};
  const int threads = end - begin < 16384 ? 1 : team.threads;
  for_each_part(threads, threads, [&](int part) {
    const Range own = part_of(end - begin, threads, part);
    std::int64_t mine = 0;
    for (std::int64_t k = begin + own.begin; k < begin + own.end; ++k) {
      std::atomic_ref<unsigned char> line(team.lines[static_cast<std::uint64_t>(col[k]) >> team.shift]);
      // Two threads may find a line unmarked; the exchange tells which was first.
      if (!line.load(std::memory_order_relaxed)) mine += !line.exchange(1, std::memory_order_relaxed);
    }
    distinct.fetch_add(mine, std::memory_order_relaxed);
  });
  return distinct.load();
}

template <class Column>
void walk_together(const Column *col, std::int64_t length, std::int64_t nnz, std::int64_t cols, const Team &team,
                   Footprint &out) {
  std::memset(team.lines, 0, lines_of(cols));
  std::int64_t distinct = 0, done = 0;
  for (std::int64_t next = short_walk; done < length; next *= 2) {
    const std::int64_t end = std::min(next, length);
    distinct += mark_together(col, done, end, team);
    done = end;
    // Short walks are more precise for short windows.
    if (done == next && done > short_walk)
      out.add(std::countr_zero(static_cast<std::uint64_t>(done)), static_cast<double>(distinct));
  }
  if (length == nnz) out.add(-1, static_cast<double>(distinct));
}

// Walk `i` of `n` of a length starts here: evenly spread, the last one ending with the matrix.
std::int64_t start_of(std::int64_t i, std::int64_t n, std::int64_t length, std::int64_t nnz) {
  return n > 1 ? (nnz - length) / (n - 1) * i : (nnz - length) / 2;
}

template <class Column>
void measure(const sxt_csr &a, const Column *col, const Team &team, Footprint &out) {
  const std::int64_t nnz = a.s.nnz, walks = short_walks(nnz), length = std::min(nnz, short_walk);
  out.set_entries(static_cast<double>(nnz));
  out.set_most_lines(static_cast<double>(((a.s.cols - 1) >> team.shift) + 1));
  Footprint parts[most_short_walks];
  for_each_part(team.threads, team.threads, [&](int share) {
    for (std::int64_t i = share; i < walks; i += team.threads)
      walk_alone(col + start_of(i, walks, length, nnz), length, nnz, team.shift, team.sets[share], parts[i]);
  });
  for (std::int64_t i = 0; i < walks; ++i) out.merge(parts[i]);
  if (nnz <= 2 * short_walk && nnz > length) walk_together(col, nnz, nnz, a.s.cols, team, out);
  if (nnz <= 2 * short_walk) return;
  const TeamWalks shared = team_walks(nnz);
  for (std::int64_t i = 0; i < shared.middle_walks; ++i)
    walk_together(col + start_of(i, shared.middle_walks, shared.middle, nnz), shared.middle, nnz, a.s.cols, team, out);
  if (shared.longest)
    walk_together(col + start_of(0, 1, shared.longest, nnz), shared.longest, nnz, a.s.cols, team, out);
}

void tell_x(const Footprint &f, const sxt_csr &a, const State &state, double *values) {
  const double entry = static_cast<double>(value_bytes(a.s.value_type) + index_bytes(a.s.index_type));
  const double nnz = static_cast<double>(a.s.nnz), window = std::min(1024.0, nnz);
  *values++ = nnz > 0 ? f.lines(window) / window : 0;
  for (double bytes : {small_cache, middle_cache, large_cache}) *values++ = f.misses(bytes, entry);
  *values++ = f.misses(static_cast<double>(state.launch[1]), entry);
  *values++ = f.misses(static_cast<double>(state.launch[2]), entry);
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const sxt_csr &a = *state.a;
  const auto &args = as<sxt_features_args>(head);
  const int threads = team_size(state.launch[0], *exec);
  const std::uint64_t sets = static_cast<std::uint64_t>(threads) * sizeof(SmallSet);
  if (const sxt_status status = need_scratch(exec, sets + lines_of(a.s.cols)); status != SXT_OK) return status;
  Team team{threads, static_cast<SmallSet *>(exec->scratch), static_cast<unsigned char *>(exec->scratch) + sets,
            std::countr_zero(64 / value_bytes(a.s.value_type))};
  double values[std::size(names) - 1] = {};
  return with_csr_indices(a, [&](const auto *row_ptr, const auto *col) {
    if (wants_some(args, 0, n_x)) {
      Footprint footprint;
      measure(a, col, team, footprint);
      tell_x(footprint, a, state, values);
    }
    if (wants_some(args, n_x, n_blocks)) block_fills(a, row_ptr, col, threads, values + n_x);
    if (wants_some(args, n_x + n_blocks, n_bands)) band(a, row_ptr, col, team.sets[0], values + n_x + n_blocks);
    constexpr int before_strips = n_x + n_blocks + n_bands;
    if (wants_some(args, before_strips, n_strips)) strips(a, row_ptr, col, threads, values + before_strips);
    return answer(args, names, values);
  });
}

}  // namespace

const sxt_kernel sample_kernel =
    feature_kernel("features.sample.cpu", "locality, block fill, diagonals and strips from a sample of the columns",
                   &ops, candidates, run);

}  // namespace sextant::features_basic
