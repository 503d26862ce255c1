// SPDX-License-Identifier: BSD-3-Clause
// ordering.metis.cpu, and the same for contexts of a GPU.
#include <cstdlib>
#include <memory>

#include "library.hpp"
#include "plugins/ordering/shared/fill_kernel.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::ordering_metis {

namespace {

using namespace plugin;
using namespace plugin::elimination;

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

// Overcommitting systems grant this anyway; where a limit is set it is told here and not by METIS.
bool has_memory(std::uint64_t bytes) {
  void *const memory = std::malloc(bytes);
  std::free(memory);
  return memory != nullptr;
}

sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  sxt_ordering_args &args = ordering::writable(head);
  return with_small_pattern(exec, args, [&](const auto &pattern, auto *perm) -> sxt_status {
    WeightedGraph graph = symmetric_graph_of(pattern);
    const Vertex n = graph.size();
    if (graph.edges() > most)
      return error(exec, SXT_E_NOT_SUPPORTED, "%lld neighbours: METIS was built for 32-bit indices",
                   (long long)graph.edges());
    std::vector<std::int32_t> start(graph.start.begin(), graph.start.end()), order(graph.weight.size()),
        inverse(graph.weight.size());
    if (!has_memory(Metis::bytes(n, graph.edges()))) throw std::bad_alloc();
    // A graph without edges is one that METIS has nothing to compute for, and divides by.
    if (graph.edges() == 0)
      std::iota(order.begin(), order.end(), 0);
    else if (!Metis::instance().order(n, start.data(), graph.neighbour.data(), order.data(), inverse.data()))
      return error(exec, SXT_E_INTERNAL, "METIS refused a graph of %d vertices", n);
    std::copy(order.begin(), order.end(), perm);
    return SXT_OK;
  });
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_ordering_query>(query);
  if (const sxt_status status = ordering::offers(q, "metis", reason); status != SXT_OK) return status;
  if (q.m.nnz > most) return refuse(reason, "%lld entries: METIS was built for 32-bit indices", (long long)q.m.nnz);
  const Metis &metis = Metis::instance();
  return metis.is_open() ? SXT_OK : refuse(reason, "%s", metis.why());
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  constexpr double entry_s = 1e-6;
  const sxt_matrix_query &q = as<sxt_ordering_query>(query).m;
  CandidateList list(out, capacity, count);
  add_candidate(list, 1, entry_s * static_cast<double>(q.nnz + q.rows));
  return SXT_OK;
}

sxt_kernel table(const char *name, const char *device, const char *description) {
  sxt_kernel k = fill_kernel(name, device, description, run, applicable, candidates);
  k.flags |= SXT_KERNEL_BASELINE;
  return k;
}
const sxt_kernel on_cpu = table("ordering.metis.cpu", "cpu", "METIS's nested dissection, one thread");
const sxt_kernel for_gpu =
    table("ordering.metis-on-host.cuda", "cuda", "METIS's nested dissection on the host of a GPU, one thread");

}  // namespace
}  // namespace sextant::ordering_metis

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant::ordering_metis::on_cpu, &sextant::ordering_metis::for_gpu>("ordering-metis",
                                                                                                     out);
}
