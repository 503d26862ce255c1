// SPDX-License-Identifier: BSD-3-Clause
// multidot.reference.cpu: one inner product after the other, summed in long double, one thread.
#include <cstdint>

#include "multidot_reference.hpp"

#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/wide.hpp"

using namespace sextant::plugin;

namespace {

// Extended precision takes about eight cycles an element; every pair is read again.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_multidot_query>(query);
  const double n = static_cast<double>(q.n);
  CpuCost cost;
  cost.stream_bytes = 2 * n * q.n_dots * static_cast<double>(value_bytes(q.q.value_type));
  cost.working_set = n * q.distinct * static_cast<double>(value_bytes(q.q.value_type));
  cost.flops = 8 * n * q.n_dots * multiply_add_flops(q.q.value_type) * scalar_slowdown(*machine, q.q.value_type);
  CandidateList list(out, capacity, count);
  fill(list.add(), 1, cost).state_bytes = sizeof(sxt_value_type);
  return SXT_OK;
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *) {
  const auto &args = as<sxt_multidot_args>(head);
  return with_value_type(*static_cast<const sxt_value_type *>(state), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int32_t d = 0; d < args.n_dots; ++d)
      static_cast<T *>(args.result)[d] =
          wide_dot(static_cast<const T *>(args.u[d]), static_cast<const T *>(args.v[d]), args.n);
    return SXT_OK;
  });
}

}  // namespace

namespace sextant::multidot_reference {

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_MULTIDOT, "multidot.reference.cpu", "cpu",
                            "pair by pair in extended precision, one thread", run);
  k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_terms;
  set_calls<sxt_value_type>(k, {nullptr, candidates, prepare_type});
  return k;
}();

}  // namespace sextant::multidot_reference

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::multidot_reference;
  return offer<&kernel, &kind.one>("multidot-reference", out);
}
