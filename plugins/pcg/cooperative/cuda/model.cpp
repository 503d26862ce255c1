// SPDX-License-Identifier: BSD-3-Clause
// The model: two barriers of the grid with the tree over the leaves, then the work of the busiest block, its leaves and
// their entries, or the bytes of A and of the vectors at the rate of the memory that holds them.
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine.hpp"
#include "layout.hpp"
#include "plugins/pcg/shared/parts.hpp"
#include "sextant/sdk/tree.hpp"

namespace cooperative {
namespace {

namespace plugin = sextant::plugin;

// Measured on one H200 (README.md): latencies and loads of one multiprocessor, so they are not scaled by rates. Entries
// take longer where a block has more than its L1 keeps, and where A does not stay in the last cache.
constexpr double barriers_s = 3.66e-6;                   // two, and the scalars
constexpr double block_s = 68e-9, most_counted = 43;     // more for every block that takes part, up to this many
constexpr double entry_s = 0.40e-9, more_s = 0.27e-9;    // an entry and its element of p; one that the L1 does not keep
constexpr double kept_entries = 18e3, far_share = 1.63;  // entries that it keeps; times as long from memory
constexpr double longest_s = 51e-9;                      // an entry of the longest row, which one thread walks alone
constexpr double host_s = 14e-6;                         // a launch and the wait for it
constexpr double launch_goal_s = 2e-3;                   // then core is asked again
constexpr double rate_share = 0.87;                      // of the memory's rate
constexpr double vectors_moved = 12;

}  // namespace

sxt_status applicable(const sxt_query *head, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &query = plugin::as<sxt_pcg_query>(head);
  if (query.m.rows > most_rows)
    return plugin::refuse(reason, "%lld rows, at most %lld are offered", (long long)query.m.rows, (long long)most_rows);
  return plugin::pcg::check_predict_recompute(query, reason);
}

const char *const features[] = {"row_nnz_max", nullptr};

sxt_status candidates(const sxt_query *head, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &query = plugin::as<sxt_pcg_query>(head);
  const double n = static_cast<double>(query.m.rows), nnz = static_cast<double>(query.m.nnz);
  const double value = static_cast<double>(plugin::value_bytes(query.m.q.value_type)),
               stored = static_cast<double>(plugin::value_bytes(query.m.matrix_type));
  const std::int64_t leaves = std::max<std::int64_t>(1, plugin::tree::leaf_count(query.m.rows)),
                     blocks = std::min<std::int64_t>(leaves, std::max(1, machine->units));
  const double rounds = std::ceil(static_cast<double>(leaves) / static_cast<double>(blocks));
  const double rows = std::min(n, rounds * static_cast<double>(plugin::tree::leaf_size));  // of the busiest block
  const double bytes = nnz * (stored + 4) + n * (4 + vectors_moved * value);
  const bool cached = nnz * (stored + 4) + 5 * n * value <= 0.8 * static_cast<double>(machine->cache_bytes);
  const double entries = n > 0 ? nnz / n * rows : 0;
  const double longest = plugin::feature(found, 0);  // NaN where it is not known
  const double work = (entries * entry_s + std::max(0.0, entries - kept_entries) * more_s +
                       longest_s * (longest > 0 ? longest : nnz / (n + 1))) *
                      (cached ? 1 : far_share);
  const double rate = rate_share * std::max(1.0, cached ? machine->cache_rate : machine->stream_rate);
  const double iteration =
      barriers_s + block_s * std::min(most_counted, static_cast<double>(blocks)) + std::max(work, bytes / rate);
  const double iterations = plugin::pcg::iterations_of(query);
  const double in_a_launch = std::clamp(std::ceil(launch_goal_s / iteration), 16.0, 4096.0);
  plugin::CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.launch[0] = blocks;
  candidate.launch[1] = static_cast<std::int64_t>(in_a_launch);
  candidate.run_s = iterations * iteration + std::ceil(iterations / in_a_launch) * host_s;
  candidate.setup_s = 2e-5;
  candidate.state_bytes = session_bytes(query.m.rows, query.m.q.value_type);
  candidate.working_set_bytes = static_cast<double>(candidate.state_bytes);
  candidate.units = static_cast<double>(blocks);
  return SXT_OK;
}

}  // namespace cooperative
