// SPDX-License-Identifier: BSD-3-Clause
// ordering.grid.cpu, and the same for contexts of a GPU.
#include <cmath>

#include "planes.hpp"
#include "plugins/ordering/shared/fill_kernel.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::ordering_grid {

namespace {

using namespace plugin;
using namespace plugin::elimination;

sxt_status order(sxt_ordering_args &args, int threads, const sxt_exec *exec) {
  return with_small_pattern(exec, args, [&](const auto &pattern, auto *perm) -> sxt_status {
    grid::Recogniser recogniser(pattern, threads);
    grid::Grid found;
    if (!recogniser.find(found)) {
      error(exec, SXT_NOT_APPLICABLE, "it is not the pattern of a grid: %s", recogniser.why_not());
      return SXT_NOT_APPLICABLE;
    }
    std::vector<TreeNode> tree;
    const std::vector<Vertex> nodes = grid::Planes(found, threads).run(tree);
    const std::int64_t unknowns = found.unknowns;
    for (std::size_t k = 0; k < nodes.size(); ++k)
      for (std::int64_t u = 0; u < unknowns; ++u)
        perm[static_cast<std::int64_t>(k) * unknowns + u] =
            static_cast<std::remove_reference_t<decltype(*perm)>>(nodes[k] * unknowns + u);
    for (TreeNode &node : tree) node.begin *= unknowns, node.end *= unknowns, node.below *= unknowns;
    give_tree(tree, args);
    return SXT_OK;
  });
}

// A matrix that is shown is looked at, so that what is no grid's is declined before it is run.
sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *filled,
                   const sxt_exec *exec, void **state) {
  const auto *a = reinterpret_cast<const sxt_storage *>(problem->a);
  if (a && is_kind(a->h, SXT_KIND_STORAGE_CSR) && a->space == SXT_SPACE_HOST) {
    const auto &csr = *reinterpret_cast<const sxt_csr *>(a);
    sxt_ordering_args args{};
    std::int64_t unused = 0;
    args.n = a->rows, args.index_type = a->index_type, args.offset_type = a->offset_type;
    args.row_ptr = csr.row_ptr, args.col = csr.col, args.perm = &unused;
    const sxt_status status = with_small_pattern(exec, args, [&](const auto &pattern, auto *) -> sxt_status {
      grid::Recogniser recogniser(pattern, 1);
      grid::Grid found;
      if (recogniser.find(found)) return SXT_OK;
      error(exec, SXT_NOT_APPLICABLE, "it is not the pattern of a grid: %s", recogniser.why_not());
      return SXT_NOT_APPLICABLE;
    });
    if (status != SXT_OK) return status;
  }
  return prepare_team(problem, candidate, filled, exec, state);
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *exec) {
  return order(ordering::writable(head), team_size(state, *exec), exec);
}
sxt_status run_on_host(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  return order(ordering::writable(head), team_size(exec->threads, *exec), exec);
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return ordering::offers(as<sxt_ordering_query>(query), "grid", reason);
}

// All entries are looked at once, all nodes at every level with each direction of planes.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  constexpr double entry_s = 4e-9, row_s = 2e-8, level_s = 3e-8, host_threads = 16, leaf = 150;
  const sxt_matrix_query &q = as<sxt_ordering_query>(query).m;
  const double threads = machine->warp != 0 ? host_threads : std::max(1, machine->units);
  CandidateList list(out, capacity, count);
  const double rows = static_cast<double>(q.rows), levels = std::max(1.0, std::log2(rows / leaf));
  double passes = 0;
  for (double level = 0; level < levels; ++level) passes += 1 / (std::exp2(level) < 8 * threads ? 1 : threads);
  add_candidate(list, machine->warp != 0 ? 1 : machine->units,
                entry_s * static_cast<double>(q.nnz) / threads + (row_s + level_s * passes) * rows);
  return SXT_OK;
}

sxt_kernel table(const char *name, const char *device, const char *description, Run runs) {
  sxt_kernel k = fill_kernel(name, device, description, runs, applicable, candidates);
  k.prepare = prepare;
  k.release = destroy<Team>;
  return k;
}
const sxt_kernel on_cpu = table("ordering.grid.cpu", "cpu", "nested dissection of a regular grid by planes", run);
const sxt_kernel for_gpu = table("ordering.grid-on-host.cuda", "cuda",
                                 "nested dissection of a regular grid by planes, on the host of a GPU", run_on_host);

}  // namespace
}  // namespace sextant::ordering_grid

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  sextant::plugin::take_team(host);
  return sextant::plugin::offer<&sextant::ordering_grid::on_cpu, &sextant::ordering_grid::for_gpu>("ordering-grid",
                                                                                                   out);
}
