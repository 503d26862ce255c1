// SPDX-License-Identifier: BSD-3-Clause
// ordering.amd.cpu, and the same for contexts of a GPU.
#include "plugins/ordering/shared/fill_kernel.hpp"
#include "plugins/ordering/shared/minimum_degree.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::ordering_amd {

namespace {

using namespace plugin;
using namespace plugin::elimination;

sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  sxt_ordering_args &args = ordering::writable(head);
  return with_small_pattern(exec, args, [&](const auto &pattern, auto *perm) -> sxt_status {
    const RowGraph rows(pattern);
    std::vector<Vertex> order;
    MinimumDegree().order(rows.graph(), rows.graph().size(), order);
    rows.give(order, nullptr, perm);
    return SXT_OK;
  });
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return ordering::offers(as<sxt_ordering_query>(query), "amd", reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  constexpr double entry_s = 2e-7, row_s = 1e-7;
  const sxt_matrix_query &q = as<sxt_ordering_query>(query).m;
  CandidateList list(out, capacity, count);
  add_candidate(list, 1, entry_s * static_cast<double>(q.nnz) + row_s * static_cast<double>(q.rows));
  return SXT_OK;
}

const sxt_kernel on_cpu =
    fill_kernel("ordering.amd.cpu", "cpu", "approximate minimum degree, one thread", run, applicable, candidates);
const sxt_kernel for_gpu =
    fill_kernel("ordering.amd-on-host.cuda", "cuda", "approximate minimum degree on the host of a GPU, one thread", run,
                applicable, candidates);

}  // namespace
}  // namespace sextant::ordering_amd

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant::ordering_amd::on_cpu, &sextant::ordering_amd::for_gpu>("ordering-amd", out);
}
