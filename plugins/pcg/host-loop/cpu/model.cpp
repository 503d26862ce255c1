// SPDX-License-Identifier: BSD-3-Clause
// The cost of a solve as the sum of its parts, and of handing vectors from one to the next.
#include "model.hpp"

#include <algorithm>
#include <cstdint>

#include "plugins/pcg/shared/columns.hpp"
#include "session.hpp"

namespace host_loop {
namespace {

// Scalars, tests and callbacks of an iteration.
constexpr double overhead_s = 2e-7;
// Each part is measured alone, with its vectors where it left them. Here the part before left them, often in the cache
// of another core: measured, an iteration within the cores' own caches took 1.4 to 2.7 times the sum of its parts.
constexpr double handed_over = 0.8;

// The time of an iteration over the sum of its parts. Where vectors come from memory it does not matter which core
// wrote them.
double handing_over(const sxt_pcg_query &query, const sxt_machine &machine) {
  if (machine.units <= 1) return 1;
  namespace plugin = sextant::plugin;
  const double matrix =
      static_cast<double>(query.m.nnz) * static_cast<double>(plugin::value_bytes(query.m.matrix_type) + 4);
  const double vectors = 5 * static_cast<double>(vector_bytes(query.m.rows, query.m.q.value_type));
  const double caches = static_cast<double>(machine.unit_cache_bytes) * machine.units;
  return 1 + handed_over * std::min(1.0, caches / (matrix + vectors + 1));
}

}  // namespace

sxt_status candidates(const Recurrence &recurrence, const sxt_pcg_query &query, const sxt_machine &machine,
                      const sxt_filled *slots, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  namespace pcg = sextant::plugin::pcg;
  if (pcg::lacks_m(recurrence, query, slots)) return SXT_NOT_APPLICABLE;
  sextant::plugin::CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  pcg::PartSeconds parts = pcg::part_seconds(recurrence, slots);
  const std::int32_t columns = pcg::columns_of(query);
  if (columns > 1) parts = pcg::columns_seconds(recurrence, slots, columns, query.preconditioned != 0);
  const double iteration_s = parts.iteration * handing_over(query, machine) + overhead_s;
  candidate.run_s = pcg::iterations_of(query) * iteration_s + parts.once;
  candidate.state_bytes = vector_bytes(query.m.rows, query.m.q.value_type) *
                          static_cast<std::uint64_t>(recurrence.vectors[query.preconditioned != 0] * columns);
  candidate.working_set_bytes = static_cast<double>(candidate.state_bytes);
  // Parts run one after the other and share the scratch.
  for (std::uint64_t i = 0; i < recurrence.n_slots; ++i)
    candidate.scratch_bytes = std::max(candidate.scratch_bytes, slots[i].scratch_bytes);
  return SXT_OK;
}

}  // namespace host_loop
