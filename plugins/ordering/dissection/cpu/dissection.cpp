// SPDX-License-Identifier: BSD-3-Clause
// ordering.dissection.cpu, and the same for contexts of a GPU.
#include <cmath>

#include "dissector.hpp"
#include "plugins/ordering/shared/fill_kernel.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::ordering_dissection {

namespace {

using namespace plugin;
using namespace plugin::elimination;

sxt_status order(sxt_ordering_args &args, int threads, const sxt_exec *exec) {
  return with_small_pattern(exec, args, [&](const auto &pattern, auto *perm) -> sxt_status {
    const RowGraph rows(pattern);
    std::vector<TreeNode> nodes;
    const std::vector<Vertex> order = Dissector(rows.graph(), threads).run(nodes);
    rows.give(order, &nodes, perm);
    give_tree(nodes, args);
    return SXT_OK;
  });
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *exec) {
  return order(ordering::writable(head), team_size(state, *exec), exec);
}
// The threads of a GPU's context are those of its host.
sxt_status run_on_host(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  return order(ordering::writable(head), team_size(exec->threads, *exec), exec);
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return ordering::offers(as<sxt_ordering_query>(query), "dissection", reason);
}

// Levels cost alike; the first are one part each, which one thread separates.
double seconds(const sxt_matrix_query &q, double threads) {
  constexpr double entry_s = 9e-8, row_s = 5e-8, least_rows = 200;
  const double level_s = entry_s * static_cast<double>(q.nnz) + row_s * static_cast<double>(q.rows);
  const double levels = std::max(1.0, std::log2(static_cast<double>(q.rows) / least_rows));
  double sum = 0;
  for (double level = 0; level < levels; ++level) sum += level_s / std::min(threads, std::exp2(level));
  return sum;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  constexpr double host_threads = 16;  // a GPU's numbers do not say how many there are
  const sxt_matrix_query &q = as<sxt_ordering_query>(query).m;
  CandidateList list(out, capacity, count);
  if (machine->warp != 0)
    add_candidate(list, 1, seconds(q, host_threads));
  else
    for_thread_counts(*machine, [&](int threads) { add_candidate(list, threads, seconds(q, threads)); });
  return SXT_OK;
}

const sxt_kernel on_cpu = [] {
  sxt_kernel k = fill_kernel("ordering.dissection.cpu", "cpu", "nested dissection by separators of several levels", run,
                             applicable, candidates);
  k.prepare = prepare_team;
  k.release = destroy<Team>;
  return k;
}();
const sxt_kernel for_gpu = fill_kernel("ordering.dissection-on-host.cuda", "cuda",
                                       "nested dissection by separators of several levels, on the host of a GPU",
                                       run_on_host, applicable, candidates);

}  // namespace
}  // namespace sextant::ordering_dissection

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  sextant::plugin::take_team(host);
  return sextant::plugin::offer<&sextant::ordering_dissection::on_cpu, &sextant::ordering_dissection::for_gpu>(
      "ordering-dissection", out);
}
