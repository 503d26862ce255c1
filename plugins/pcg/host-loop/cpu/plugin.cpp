// SPDX-License-Identifier: BSD-3-Clause
// The plugin's edge: three kernels of kind sxt.pcg/1 that differ in their recurrence only.
#include <cmath>
#include <cstdint>

#include "columns.hpp"
#include "model.hpp"
#include "plugins/pcg/shared/parts.hpp"
#include "recurrences.hpp"
#include "sextant/sdk/describe.hpp"

namespace host_loop {
namespace {

namespace plugin = sextant::plugin;

// Kernel functions carry no closure, so each recurrence gets its own by template.
template <std::int32_t id>
sxt_status applicable_of(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return plugin::pcg::check_query(recurrence(id), plugin::as<sxt_pcg_query>(query), reason);
}
template <std::int32_t id>
sxt_status candidates_of(const sxt_query *query, const sxt_features *, const sxt_machine *machine,
                         const sxt_filled *slots, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  return candidates(recurrence(id), plugin::as<sxt_pcg_query>(query), *machine, slots, out, capacity, count);
}
template <std::int32_t id>
sxt_status slot_query_of(const sxt_query *query, std::uint64_t slot, std::uint64_t instance, const char *kind,
                         void *out, std::uint64_t capacity) {
  return plugin::pcg::slot_query(recurrence(id), plugin::as<sxt_pcg_query>(query), slot, instance, kind, out, capacity);
}

template <std::int32_t id>
sxt_status prepare_of(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                      void **state) {
  return plugin::guard(exec, [&] {
    const auto &query = plugin::as<sxt_pcg_query>(problem->query);
    return plugin::give(new State{&recurrence(id), query.m.q.value_type, query.m.rows, query.preconditioned != 0,
                                  plugin::pcg::columns_of(query)},
                        state);
  });
}

sxt_status open(const void *state, const sxt_filled *slots, const sxt_exec *exec, void **session) {
  return plugin::guard(
      exec, [&] { return plugin::give(new Session(*static_cast<const State *>(state), slots, *exec), session); });
}

template <class T>
sxt_status solve(const State &state, const Session &session, sxt_pcg_args &args, const sxt_exec &exec) {
  using Limits = std::numeric_limits<plugin::real_of<T>>;
  Operator<T> op(state, session, args, exec);
  Monitor monitor(args, exec, static_cast<double>(Limits::min()), static_cast<double>(Limits::max()));
  try {
    switch (state.recurrence->id) {
      case SXT_RECURRENCE_CLASSICAL: classical(op, monitor); break;
      case SXT_RECURRENCE_CHRONOPOULOS_GEAR: chronopoulos_gear(op, monitor); break;
      default: predict_recompute(op, monitor); break;
    }
  } catch (const PartFailed &failure) {
    return failure.status;  // the part has attached its sentence
  }
  return SXT_OK;
}

sxt_status run(const void *state_pointer, void *session, const sxt_head *head, const sxt_exec *exec) {
  return plugin::guard(exec, [&] {
    const State &state = *static_cast<const State *>(state_pointer);
    if (const sxt_status status = plugin::pcg::check_args(head, state.n, exec); status != SXT_OK) return status;
    // The kind's results are in its args.
    auto &args = *reinterpret_cast<sxt_pcg_args *>(const_cast<sxt_head *>(head));
    return plugin::with_value_type(state.type, [&]<class T>(plugin::Tag<T>) {
      return solve<T>(state, *static_cast<const Session *>(session), args, *exec);
    });
  });
}

template <std::int32_t id>
sxt_kernel kernel(const char *name, const char *description) {
  sxt_kernel k = plugin::new_kernel(SXT_KIND_PCG, name, "cpu", description, run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_ONE_ORDER;  // as its parts, which inherit the query's demands
  k.value_types = plugin::all_value_types;
  k.slots = recurrence(id).slots;
  k.n_slots = recurrence(id).n_slots;
  plugin::set_calls<State>(k, {applicable_of<id>, candidates_of<id>, prepare_of<id>});
  k.slot_query = slot_query_of<id>;
  k.open = open;
  k.close = plugin::destroy<Session>;
  return k;
}

// Columns have equal bits from run to run, but not the bits of a single solve: not for the one order.
sxt_kernel classical_with_columns() {
  static const sxt_pcg_columns_ops ops{{sizeof(sxt_pcg_columns_ops), nullptr}, run_columns};
  sxt_kernel k = kernel<SXT_RECURRENCE_CLASSICAL>("pcg.host-loop.classical.cpu",
                                                  "conjugate gradients driven from the host, two reductions an "
                                                  "iteration; several right-hand sides in one pass over A");
  k.flags |= SXT_KERNEL_COLUMNS;
  k.ops = &ops.one;
  return k;
}

const sxt_plugin &description() {
  static const sxt_kernel classical_kernel = classical_with_columns();
  static const sxt_kernel chronopoulos_gear_kernel = kernel<SXT_RECURRENCE_CHRONOPOULOS_GEAR>(
      "pcg.host-loop.chronopoulos-gear.cpu", "Chronopoulos-Gear conjugate gradients, one reduction an iteration");
  static const sxt_kernel predict_recompute_kernel = kernel<SXT_RECURRENCE_PREDICT_RECOMPUTE>(
      "pcg.host-loop.predict-recompute.cpu", "predict-and-recompute conjugate gradients, one reduction an iteration");
  static const sxt_kernel *const kernels[] = {&classical_kernel, &chronopoulos_gear_kernel, &predict_recompute_kernel};
  static const sxt_plugin table = plugin::describe("pcg-host-loop", kernels);
  return table;
}

}  // namespace
}  // namespace host_loop

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  *out = &host_loop::description();
  return SXT_OK;
}
