// SPDX-License-Identifier: BSD-3-Clause
// ordering.natural.cpu, and the same for contexts of a GPU: the rows as they are.
#include "plugins/ordering/shared/fill_kernel.hpp"

namespace sextant::ordering_natural {

namespace {

using namespace plugin;
using namespace plugin::elimination;

sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  return ordering::with_pattern(exec, ordering::writable(head), [&](const auto &pattern, auto *perm) -> sxt_status {
    for (std::int64_t i = 0; i < pattern.n; ++i) perm[i] = static_cast<std::remove_reference_t<decltype(*perm)>>(i);
    return SXT_OK;
  });
}

// Nobody who asks for any order means this one.
sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_ordering_query>(query);
  if (!q.method[0]) return refuse(reason, "the rows as they are have to be asked for by name: natural");
  return ordering::offers(q, "natural", reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const sxt_matrix_query &q = as<sxt_ordering_query>(query).m;
  CandidateList list(out, capacity, count);
  add_candidate(list, q, 1, 1e-9 * static_cast<double>(q.rows));
  return SXT_OK;
}

const sxt_kernel on_cpu =
    fill_kernel("ordering.natural.cpu", "cpu", "the rows as they are", run, applicable, candidates);
const sxt_kernel for_gpu =
    fill_kernel("ordering.natural-on-host.cuda", "cuda", "the rows as they are", run, applicable, candidates);

}  // namespace
}  // namespace sextant::ordering_natural

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&sextant::ordering_natural::on_cpu, &sextant::ordering_natural::for_gpu};
  static const sxt_plugin plugin = sextant::plugin::describe("ordering-natural", kernels);
  return *out = &plugin, SXT_OK;
}
