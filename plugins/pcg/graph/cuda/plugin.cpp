// SPDX-License-Identifier: BSD-3-Clause
// The plugin's edge: three kernels of kind sxt.pcg/1 that differ in their recurrence only, and that of lock_step.hpp.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine.hpp"
#include "lock_step.hpp"
#include "model.hpp"
#include "plugins/pcg/shared/columns.hpp"
#include "plugins/pcg/shared/cuda/pcg.hpp"
#include "recorded.hpp"

namespace graph {
namespace {

namespace plugin = sextant::plugin;
namespace cuda = plugin::cuda;

// Kernel functions carry no closure, so each recurrence has its own by template.
template <std::int32_t id>
sxt_status applicable_of(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return pcg::check_query(recurrence(id), plugin::as<sxt_pcg_query>(query), reason);
}
template <std::int32_t id>
sxt_status candidates_of(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *slots,
                         sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  return candidates(recurrence(id), plugin::as<sxt_pcg_query>(query), slots, out, capacity, count);
}
template <std::int32_t id>
sxt_status slot_query_of(const sxt_query *query, std::uint64_t slot, std::uint64_t instance, const char *kind,
                         void *out, std::uint64_t capacity) {
  return pcg::slot_query(recurrence(id), plugin::as<sxt_pcg_query>(query), slot, instance, kind, out, capacity);
}

std::string_view view_of(const sxt_problem &problem) {
  if (!problem.a) return {};
  return {reinterpret_cast<const char *>(problem.a), problem.a->struct_size};
}

// New values may change the view, as where a diagonal is no longer all ones.
sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] {
    State &state = *static_cast<State *>(opaque);
    if (view_of(*problem) != state.view) state.view = view_of(*problem), ++state.views;
    return SXT_OK;
  });
}

template <std::int32_t id>
sxt_status prepare_of(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *,
                      const sxt_exec *exec, void **state) {
  return cuda::guarded(exec, [&] {
    const auto &query = plugin::as<sxt_pcg_query>(problem->query);
    const std::int64_t block = std::max<std::int64_t>(1, candidate->launch[0]);
    return plugin::give(new State{&recurrence(id), query.m.q.value_type, query.m.rows, query.preconditioned != 0, block,
                                  (query.m.q.flags & SXT_QUERY_ONE_ORDER) != 0, pcg::columns_of(query),
                                  std::string(view_of(*problem)), 0},
                        state);
  });
}

template <std::int32_t id>
sxt_kernel kernel(const char *name, const char *description) {
  sxt_kernel k = cuda::new_engine<State, Session, Engine>(
      name, description, {applicable_of<id>, candidates_of<id>, prepare_of<id>, refresh});
  k.flags |= SXT_KERNEL_ONE_ORDER;  // as its parts, which inherit the demands
  k.value_types = plugin::all_value_types;
  k.ops = pcg_ops();
  k.slots = recurrence(id).slots;
  k.n_slots = recurrence(id).n_slots;
  k.slot_query = slot_query_of<id>;
  return k;
}

sxt_status run_columns(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] {
    const State &state = *static_cast<const State *>(opaque);
    const auto &session = *static_cast<const Session *>(opened);
    return pcg::run_columns(
        {state.type, state.n, state.preconditioned, state.columns, &session.parts(),
         static_cast<char *>(session.vector(0)), session.vector_stride(), session.column_results(), true},
        head, exec);
  });
}

sxt_kernel classical_with_columns() {
  const sxt_pcg_ops *const one = pcg_ops();
  static const sxt_pcg_columns_ops ops{{sizeof(sxt_pcg_columns_ops), one ? one->record : nullptr}, run_columns};
  sxt_kernel k = kernel<SXT_RECURRENCE_CLASSICAL>(
      "pcg.graph.classical.cuda",
      "conjugate gradients in captured blocks of iterations, two reductions an iteration; several right-hand sides, "
      "driven from the host, in one pass over A");
  k.flags |= SXT_KERNEL_COLUMNS;
  k.ops = &ops.one;
  return k;
}

const sxt_plugin &description() {
  static const sxt_kernel classical = classical_with_columns();
  static const sxt_kernel chronopoulos_gear = kernel<SXT_RECURRENCE_CHRONOPOULOS_GEAR>(
      "pcg.graph.chronopoulos-gear.cuda",
      "Chronopoulos-Gear conjugate gradients in captured blocks of iterations, one reduction an iteration");
  static const sxt_kernel predict_recompute = kernel<SXT_RECURRENCE_PREDICT_RECOMPUTE>(
      "pcg.graph.predict-recompute.cuda",
      "predict-and-recompute conjugate gradients in captured blocks of iterations, one reduction an iteration");
  static const sxt_kernel *const kernels[] = {&classical, &chronopoulos_gear, &predict_recompute, &lock_step_kernel(),
                                              &preconditioned_lock_step_kernel()};
  static const sxt_plugin table = plugin::describe("pcg-graph", kernels);
  return table;
}

}  // namespace
}  // namespace graph

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  *out = &graph::description();
  return SXT_OK;
}
