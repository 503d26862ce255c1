// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "plugins/pcg/shared/columns.hpp"

namespace graph {
namespace {

// A kernel that reads a few inner products, tests and divides, as a node among others: its time grows with its work and
// shrinks where several parts overlap around it. Between the times on two hosts of an H200.
double scalars_s(const pcg::Recurrence &recurrence) {
  switch (recurrence.id) {
    case SXT_RECURRENCE_CLASSICAL: return 0.8e-6;
    case SXT_RECURRENCE_CHRONOPOULOS_GEAR: return 1.4e-6;
    default: return 1.5e-6;
  }
}
// Between two blocks: the wait, the callbacks, the next launch.
constexpr double host_s = 12e-6;
// Capturing and instantiating, for each kernel of a block.
constexpr double capture_s = 3e-6;

// The host enqueues every step of several right-hand sides, and waits for their inner products twice an iteration.
constexpr double enqueue_s = 2.5e-6, wait_s = 9e-6;

double columns_run_s(const pcg::Recurrence &recurrence, const sxt_pcg_query &query, const sxt_filled *slots) {
  const bool m = query.preconditioned != 0;
  const std::int32_t columns = pcg::columns_of(query);
  const pcg::PartSeconds parts = pcg::columns_seconds(recurrence, slots, columns, m);
  const double calls = std::ceil(columns / 8.0) + std::ceil((1 + m) * columns / 8.0);
  const double launches = 1 + (2 + m) * columns + calls;
  const double iteration = std::max(parts.iteration, launches * enqueue_s) + 2 * wait_s;
  return pcg::iterations_of(query) * iteration + parts.once;
}

}  // namespace

sxt_status candidates(const pcg::Recurrence &recurrence, const sxt_pcg_query &query, const sxt_filled *slots,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  if (pcg::lacks_m(recurrence, query, slots)) return SXT_NOT_APPLICABLE;
  sextant::plugin::CandidateList list(out, capacity, count);
  const bool m = query.preconditioned != 0;
  const bool classical = recurrence.id == SXT_RECURRENCE_CLASSICAL;
  const pcg::PartSeconds parts = pcg::part_seconds(recurrence, slots);
  const bool fused = slots[recurrence.find("A")].alternative == 0;
  // A, its inner products, the update, M; p and r'r of the classical. Parts predict their time when enqueued one after
  // the other, which is also their time as nodes.
  const bool one_order = (query.m.q.flags & SXT_QUERY_ONE_ORDER) != 0;  // an iteration tests whether to save its p
  const bool follows = m && recurrence.id == SXT_RECURRENCE_PREDICT_RECOMPUTE;  // r by a separate kernel, and q't
  const double launches = (fused ? 1 : 2) + 1 + m + (classical || follows ? 2 : 0),
               scalar_kernels = (classical ? 2 : 1) + one_order;
  const double iteration = parts.iteration + scalar_kernels * scalars_s(recurrence);
  const double iterations = pcg::iterations_of(query);

  const std::int64_t block = block_length(iterations, iteration, host_s);
  sxt_candidate &candidate = list.add();
  candidate.launch[0] = block;
  const double length = static_cast<double>(block);
  candidate.run_s = (iterations + static_cast<double>(short_block(block)) / 2) * iteration +
                    std::ceil(iterations / length) * host_s + parts.once;
  candidate.setup_s = (launches + scalar_kernels) * (length + static_cast<double>(short_block(block))) * capture_s;
  candidate.state_bytes = vector_bytes(query.m.rows, query.m.q.value_type) *
                          static_cast<std::uint64_t>(vectors_of(recurrence, m) + kept_of(recurrence, one_order));
  if (const std::int32_t columns = pcg::columns_of(query); columns > 1) {
    candidate.run_s = columns_run_s(recurrence, query, slots);
    candidate.setup_s = 0;
    candidate.state_bytes = vector_bytes(query.m.rows, query.m.q.value_type) *
                            static_cast<std::uint64_t>(vectors_in_all(recurrence, m, one_order, columns));
  }
  candidate.working_set_bytes = static_cast<double>(candidate.state_bytes);
  // Parts run one after the other and share the scratch.
  for (std::uint64_t i = 0; i < recurrence.n_slots; ++i)
    candidate.scratch_bytes = std::max(candidate.scratch_bytes, slots[i].scratch_bytes);
  return SXT_OK;
}

}  // namespace graph
