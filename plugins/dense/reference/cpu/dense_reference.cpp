// SPDX-License-Identifier: BSD-3-Clause
// dense.reference.cpu: every operation by its formula, one item after the other.
#include "dense_reference.hpp"

#include <cstdint>

#include "sextant/sdk/describe.hpp"
#include "textbook.hpp"

namespace sextant_dense {
namespace {

// No SIMD, and every product waits for the sum before it.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_dense_query>(query);
  CpuCost cost;
  cost.working_set = working_set(q);
  cost.flops = 4 * q.flops * scalar_slowdown(*machine, q.q.value_type);
  CandidateList list(out, capacity, count);
  fill(list.add(), 1, cost);
  return SXT_OK;
}

sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_dense_args>(head);
  if (const sxt_status wrong = check(args, exec)) return wrong;
  return with_value_type(args.value_type, [&](auto tag) {
    for (std::int64_t g = 0; g < args.count; ++g) textbook::work<typename decltype(tag)::type>(args, g);
    return SXT_OK;
  });
}

}  // namespace

const sxt_kernel reference = [] {
  sxt_kernel k = new_kernel(SXT_KIND_DENSE, "dense.reference.cpu", "cpu", "all operations as their formulas read", run);
  k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_terms;
  k.candidates = candidates;
  return k;
}();

}  // namespace sextant_dense

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant_dense::reference, &sextant_dense::kind>("dense-reference", out);
}
