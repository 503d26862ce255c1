// SPDX-License-Identifier: BSD-3-Clause
// vector_group_dots.reference.cpu: the group's statements, then one inner product after the other in extended
// precision.
#include <cstdint>

#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/wide.hpp"
#include "vector_group_reference.hpp"

using namespace sextant::plugin;

namespace {

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_vector_group_dots_query>(query);
  const double n = static_cast<double>(q.n), element = static_cast<double>(value_bytes(q.q.value_type));
  const int statements = q.group == SXT_GROUP_CHRONOPOULOS_GEAR ? 4 : q.group == SXT_GROUP_PREDICT_RECOMPUTE ? 3 : 2;
  CpuCost cost;
  cost.stream_bytes = (3 * statements + 2 * q.n_dots) * n * element;
  cost.working_set = (statements + 2) * n * element;
  // Extended precision takes about eight cycles an element.
  cost.flops =
      n * (statements + 8 * q.n_dots) * multiply_add_flops(q.q.value_type) * scalar_slowdown(*machine, q.q.value_type);
  CandidateList list(out, capacity, count);
  fill(list.add(), 1, cost).state_bytes = sizeof(sxt_value_type);
  return SXT_OK;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_vector_group_dots_query>(query);
  if (q.group < SXT_GROUP_CLASSICAL_XR || q.group > SXT_GROUP_PREDICT_RECOMPUTE)
    return refuse(reason, "group %d is not one of %d to %d", q.group, SXT_GROUP_CLASSICAL_XR,
                  SXT_GROUP_PREDICT_RECOMPUTE);
  if (q.n_dots >= 0 && q.n_dots <= SXT_VECTOR_GROUP_DOTS_MAX) return SXT_OK;
  return refuse(reason, "%d inner products; at most %d are taken", q.n_dots, SXT_VECTOR_GROUP_DOTS_MAX);
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *exec) {
  const sxt_value_type type = *static_cast<const sxt_value_type *>(state);
  const auto &args = as<sxt_vector_group_dots_args>(head);
  const sxt_status updated = sextant::vector_group_reference::update_group(type, args.g, exec);
  if (updated != SXT_OK) return updated;
  return with_value_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto vector = [&](std::int32_t k) { return static_cast<const T *>(args.g.vectors[k]); };
    for (std::int32_t d = 0; d < args.n_dots; ++d)
      static_cast<T *>(args.dots)[d] = wide_dot(vector(args.a[d]), vector(args.b[d]), args.g.n);
    return SXT_OK;
  });
}

}  // namespace

namespace sextant::vector_group_reference {

const sxt_kernel dots_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_VECTOR_GROUP_DOTS, "vector_group_dots.reference.cpu", "cpu",
                            "statement by statement, then product by product, one thread", run);
  k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_terms;
  set_calls<sxt_value_type>(k, {applicable, candidates, prepare_type});
  return k;
}();

}  // namespace sextant::vector_group_reference
