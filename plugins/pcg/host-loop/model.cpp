// SPDX-License-Identifier: BSD-3-Clause
// The cost of a solve as the sum of its parts.
#include "model.hpp"

#include <algorithm>
#include <cstdint>

#include "session.hpp"

namespace host_loop {
namespace {

// Scalars, tests and callbacks of an iteration.
constexpr double overhead_s = 2e-7;

}  // namespace

sxt_status candidates(const Recurrence &recurrence, const sxt_pcg_query &query, const sxt_filled *slots,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  namespace pcg = sextant::plugin::pcg;
  sextant::plugin::CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  const pcg::PartSeconds parts = pcg::part_seconds(recurrence, slots);
  candidate.run_s = pcg::iterations_of(query) * (parts.iteration + overhead_s) + parts.once;
  candidate.state_bytes = vector_bytes(query.m.rows, query.m.q.value_type) *
                          static_cast<std::uint64_t>(recurrence.vectors[query.preconditioned != 0]);
  candidate.working_set_bytes = static_cast<double>(candidate.state_bytes);
  // Parts run one after the other and share the scratch.
  for (std::uint64_t i = 0; i < recurrence.n_slots; ++i)
    candidate.scratch_bytes = std::max(candidate.scratch_bytes, slots[i].scratch_bytes);
  return SXT_OK;
}

}  // namespace host_loop
