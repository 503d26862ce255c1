// SPDX-License-Identifier: BSD-3-Clause
// The model: an iteration is an exchange between blocks, A and the gathers out of shared memory, and the halo's packets
// out of the last cache. Nothing else moves.
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "layout.hpp"
#include "pack.hpp"
#include "plugins/pcg/shared/parts.hpp"

namespace persistent {
namespace {

namespace plugin = sextant::plugin;

// Between the times on three hosts of an H200 (README.md): latencies and shared memory of one multiprocessor, so they
// are not scaled by the machine's rates.
constexpr double exchange_s = 1.56e-6;                          // sums, packets there and back, scalars, barriers
constexpr double cluster_s = 1.33e-6, cluster_block_s = 17e-9;  // the same two in a grid of one cluster
constexpr double block_s = 1.1e-9;                              // more for every block whose packets are read
constexpr double pair_s = 0.21e-9;          // two entries of one row, with the conflicts of their gathers
constexpr double pair_in_turn_s = 0.18e-9;  // the same in turns that have few conflicts
constexpr double warp_s = 50e-9;            // every warp beyond those that gather sums and halo
constexpr double pass_s = 0.15e-6;          // every further row of a thread
constexpr double fold_s = 34e-9;            // adding up the lanes of a row, each time that there are twice as many
constexpr double chain_s = 15e-9;           // a pair of the longest row beyond those of the others
constexpr double host_s = 12e-6;            // a launch and the wait for it
// Growing the parts three times and packing: 10 to 19 ns on one core of a Xeon, 6 to 14 on two (README.md), and some 20
// bytes between host and device; beside an H200 with 16 cores 9 to 21 ns in all. A calibration measures it.
constexpr double setup_entry_s = 9.5e-9, setup_row_s = 32e-9, setup_s = 4e-4;
// To find the turns: on one thread, and on this many from worth_threads entries on.
constexpr double turn_entry_s = 12e-9, turn_threads = 8;
// A launch should last about this long: the host's work in between then costs a hundredth, and core still sees
// progress, time limits and cancellations hundreds of times a second.
constexpr double launch_goal_s = 2e-3;

struct Estimate {
  double rows, pairs, halo;  // of the largest block
  double iteration_s;
  std::uint64_t shared;
};

// Slices are padded, and rows of mixed length fill them less well.
constexpr double padding = 1.2;

struct Grid {
  std::int64_t parts;
  bool clustered, in_turns;  // in_turns: entries ordered by the banks of shared memory
};

// longest: entries of the longest row; NaN where it is not known.
Estimate estimate(const sxt_pcg_query &query, double longest, const Grid &grid) {
  const auto parts = static_cast<double>(grid.parts);
  const bool clustered = grid.clustered;
  const double n = static_cast<double>(query.m.rows), entries = std::max(0.0, static_cast<double>(query.m.nnz) - n);
  Estimate e{};
  e.rows = std::ceil(n / parts);
  e.pairs = std::ceil(padding * entries / parts / 2);
  // The surface of a compact part, wider where rows reach farther; never more than there are rows or entries.
  const double length = n > 0 ? entries / n : 0;
  e.halo = std::min({n - e.rows, 2 * e.pairs, 2.4 * std::sqrt(length) * std::pow(e.rows, 2.0 / 3)});
  const Shape shape = shape_for(static_cast<std::int64_t>(e.rows), length + 1);
  const double lanes = shape.group, mean_pairs = std::ceil(length / (2 * lanes)),
               most_pairs = longest > 0 ? std::ceil((longest - 1) / (2 * lanes)) : mean_pairs;
  const double more_warps = parts <= most_cluster ? 0 : std::max(0, shape.threads - packet_threads) / warp_lanes;
  e.iteration_s = (clustered ? cluster_s + cluster_block_s * parts : exchange_s + block_s * parts) +
                  (grid.in_turns ? pair_in_turn_s : pair_s) * e.pairs + warp_s * more_warps +
                  pass_s * std::max(0, shape.passes - 1) + fold_s * std::log2(lanes) +
                  chain_s * std::max(0.0, most_pairs - mean_pairs);
  e.shared = shared_bytes(static_cast<std::int64_t>(plugin::value_bytes(query.m.q.value_type)),
                          static_cast<std::int64_t>(plugin::value_bytes(query.m.matrix_type)),
                          static_cast<std::int64_t>(e.pairs), static_cast<std::int64_t>(e.rows),
                          static_cast<std::int64_t>(e.halo), clustered);
  return e;
}

double block_shared(const sxt_machine &machine) { return static_cast<double>(machine.shared_per_block) - 1024; }

bool fits(const Estimate &e, const sxt_machine &machine) {
  return e.rows <= most_threads * most_passes && static_cast<double>(e.shared) <= block_shared(machine) &&
         e.rows + e.halo < 0xffff;
}

}  // namespace

sxt_status applicable(const sxt_pcg_query &query, const sxt_machine &machine, sxt_message *reason) {
  if (const sxt_status status = plugin::pcg::check_predict_recompute(query, reason); status != SXT_OK) return status;
  const Estimate e = estimate(query, 0, {std::max(1, machine.units), false, false});
  if (fits(e, machine)) return SXT_OK;
  if (e.rows > most_threads * most_passes)
    return plugin::refuse(reason, "%lld rows on %d multiprocessors are %.0f each, %d fit the registers",
                          (long long)query.m.rows, machine.units, e.rows, most_threads * most_passes);
  return plugin::refuse(reason,
                        "about %llu bytes of shared memory for each of %d multiprocessors, a block may have %.0f",
                        (unsigned long long)e.shared, machine.units, block_shared(machine));
}

const char *const features[] = {"row_nnz_max", nullptr};

sxt_status candidates(const sxt_pcg_query &query, const sxt_features *found, const sxt_machine &machine,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  plugin::CandidateList list(out, capacity, count);
  const double iterations = plugin::pcg::iterations_of(query);
  const auto units = static_cast<std::int64_t>(std::max(1, machine.units));
  const auto n = static_cast<std::int64_t>(query.m.rows),
             value = static_cast<std::int64_t>(plugin::value_bytes(query.m.q.value_type));
  const auto offer = [&](const Grid &grid) {
    const auto &[parts, clustered, in_turns] = grid;
    if (parts < 1 || parts > units || (parts > 1 && parts > n)) return;
    const Estimate e = estimate(query, plugin::feature(found, 0), grid);
    if (!fits(e, machine) || (clustered && e.rows > most_threads * cluster_passes)) return;
    const double longest = std::clamp(std::ceil(launch_goal_s / e.iteration_s), 32.0, 4096.0);
    sxt_candidate &candidate = list.add();
    candidate.launch[0] = parts;
    candidate.launch[1] = static_cast<std::int64_t>(longest);
    candidate.launch[2] = clustered;
    candidate.launch[3] = in_turns;
    // A comes into shared memory at every launch.
    const double load_s = static_cast<double>(e.shared) * static_cast<double>(parts) / machine.stream_rate;
    candidate.run_s = iterations * e.iteration_s + std::ceil(iterations / longest) * (host_s + load_s);
    const double entries = static_cast<double>(query.m.nnz);
    candidate.setup_s = setup_s + setup_entry_s * entries + setup_row_s * static_cast<double>(query.m.rows);
    if (in_turns) candidate.setup_s += turn_entry_s * entries / (query.m.nnz < worth_threads ? 1 : turn_threads);
    candidate.state_bytes =
        static_cast<std::uint64_t>(e.pairs * 2 * static_cast<double>(parts)) * (sizeof(double) + 6) +
        static_cast<std::uint64_t>(n * (2 * value + 32));
    candidate.working_set_bytes = static_cast<double>(candidate.state_bytes);
    candidate.units = static_cast<double>(parts);
  };
  for (const bool in_turns : {false, true}) {
    for (const std::int64_t parts : {units, units / 2, units / 4, std::int64_t{1}}) offer({parts, false, in_turns});
    for (const std::int64_t parts : {most_cluster, most_cluster / 2}) offer({parts, true, in_turns});
  }
  return SXT_OK;
}

}  // namespace persistent
