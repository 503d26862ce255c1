// SPDX-License-Identifier: BSD-3-Clause
// The plugin's edge: three kernels of kind sxt.pcg/1 that differ in their recurrence only.
#include <cmath>
#include <cstdint>

#include "engine.hpp"
#include "model.hpp"
#include "recorded.hpp"

namespace graph {
namespace {

namespace plugin = sextant::plugin;
namespace cuda = plugin::cuda;

// Kernel functions carry no closure, so each recurrence gets its own by template.
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

template <std::int32_t id>
sxt_status prepare_of(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *,
                      const sxt_exec *exec, void **state) {
  return cuda::guarded(exec, [&] {
    const auto &query = plugin::as<sxt_pcg_query>(problem->query);
    const std::int64_t block = std::max<std::int64_t>(1, candidate->launch[0]);
    return plugin::give(
        new State{&recurrence(id), query.m.q.value_type, query.m.rows, query.preconditioned != 0, block}, state);
  });
}

sxt_status open(const void *state, const sxt_filled *slots, const sxt_exec *exec, void **session) {
  return cuda::guarded(
      exec, [&] { return plugin::give(new Session(*static_cast<const State *>(state), slots, *exec), session); });
}

sxt_status run(const void *state_pointer, void *session, const sxt_head *head, const sxt_exec *exec) {
  return cuda::guarded(exec, [&]() -> sxt_status {
    const State &state = *static_cast<const State *>(state_pointer);
    if (const sxt_status status = pcg::check_args(head, state.n, exec); status != SXT_OK) return status;
    auto &args =
        *reinterpret_cast<sxt_pcg_args *>(const_cast<sxt_head *>(head));  // the kind's results stand in its args
    auto &own = *static_cast<Session *>(session);
    Engine engine(state, own, args, *exec);
    pcg::Conversation(args, *exec, engine, own.residuals).run();
    return SXT_OK;
  });
}

template <std::int32_t id>
sxt_kernel kernel(const char *name, const char *description) {
  sxt_kernel k = plugin::new_kernel(SXT_KIND_PCG, name, "cuda", description, run);
  k.flags = SXT_KERNEL_DETERMINISTIC;  // as its parts are, which inherit the query's demand
  k.value_types = plugin::all_value_types;
  k.ops = pcg_ops();
  k.slots = recurrence(id).slots;
  k.n_slots = recurrence(id).n_slots;
  k.applicable = applicable_of<id>;
  k.candidates = candidates_of<id>;
  k.slot_query = slot_query_of<id>;
  k.prepare = prepare_of<id>;
  k.open = open;
  k.close = plugin::destroy<Session>;
  k.release = plugin::destroy<State>;
  return k;
}

const sxt_plugin &description() {
  static const sxt_kernel classical = kernel<SXT_RECURRENCE_CLASSICAL>(
      "pcg.graph.classical.cuda", "conjugate gradients in captured blocks of iterations, two reductions an iteration");
  static const sxt_kernel chronopoulos_gear = kernel<SXT_RECURRENCE_CHRONOPOULOS_GEAR>(
      "pcg.graph.chronopoulos-gear.cuda",
      "Chronopoulos-Gear conjugate gradients in captured blocks of iterations, one reduction an iteration");
  static const sxt_kernel predict_recompute = kernel<SXT_RECURRENCE_PREDICT_RECOMPUTE>(
      "pcg.graph.predict-recompute.cuda",
      "predict-and-recompute conjugate gradients in captured blocks of iterations, one reduction an iteration");
  static const sxt_kernel *const kernels[] = {&classical, &chronopoulos_gear, &predict_recompute};
  static const sxt_plugin table = plugin::describe("pcg-graph", kernels);
  return table;
}

}  // namespace
}  // namespace graph

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  *out = &graph::description();
  return SXT_OK;
}
