// SPDX-License-Identifier: BSD-3-Clause
// The plugin's edge: two kernels of kind sxt.pcg/1 that differ in their recurrence only.
#include <cstdint>

#include "engine.hpp"
#include "model.hpp"
#include "sextant/plugin/order.h"
#include "sextant/sdk/cpu/isa.hpp"
#include "sextant/sdk/describe.hpp"

namespace team {
namespace {

// Kernel functions carry no closure, so each recurrence gets its own by template.
template <bool predicting>
sxt_status is_applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *, sxt_message *reason) {
  return applicable(predicting, plugin::as<sxt_pcg_query>(query), found, reason);
}
template <bool predicting>
sxt_status list_candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine,
                           const sxt_filled *, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  return candidates(predicting, plugin::as<sxt_pcg_query>(query), found, *machine, out, capacity, count);
}

// Refusals of a matrix become a status with a sentence.
template <class F>
sxt_status refusable(const sxt_exec *exec, F &&f) {
  return plugin::guard(exec, [&]() -> sxt_status {
    try {
      return f();
    } catch (const Refused &refused) {
      return plugin::error(exec, refused.status, "%s", refused.sentence.c_str());
    }
  });
}

template <bool predicting>
sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return refusable(exec, [&] {
    if (!problem->a) throw Refused{SXT_E_ARGUMENT, "the team's engine needs the matrix"};
    const std::int64_t threads = candidate ? candidate->launch[0] : exec->threads;
    return plugin::give(new State(plugin::as<sxt_pcg_query>(problem->query), *problem->a, predicting,
                                  static_cast<int>(std::max<std::int64_t>(1, threads)), plugin::isa_level(candidate)),
                        out);
  });
}

// The pattern is unchanged: only the address of the values may have changed.
sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  return refusable(exec, [&] { return static_cast<State *>(state)->product.set(*problem->a), SXT_OK; });
}

sxt_status open(const void *state, const sxt_filled *, const sxt_exec *exec, void **session) {
  return plugin::guard(exec,
                       [&] { return plugin::give(new Session(*static_cast<const State *>(state), *exec), session); });
}

template <class T>
void solve(const State &state, Session &session, sxt_pcg_args &args, const sxt_exec &exec) {
  Engine<T> engine(state, session, args, exec);
  pcg::Conversation<Engine<T>> conversation(args, exec, engine, session.residuals);
  engine.talk_to(conversation);
  conversation.run();
}

sxt_status run(const void *state_pointer, void *session, const sxt_head *head, const sxt_exec *exec) {
  return plugin::guard(exec, [&] {
    const State &state = *static_cast<const State *>(state_pointer);
    if (const sxt_status status = pcg::check_args(head, state.n, exec); status != SXT_OK) return status;
    // The kind's results are in its args.
    auto &args = *reinterpret_cast<sxt_pcg_args *>(const_cast<sxt_head *>(head));
    return plugin::with_value_type(state.type, [&]<class T>(plugin::Tag<T>) {
      return solve<T>(state, *static_cast<Session *>(session), args, *exec), SXT_OK;
    });
  });
}

template <bool predicting>
sxt_kernel kernel(const char *name, const char *description) {
  sxt_kernel k = plugin::new_kernel(SXT_KIND_PCG, name, "cpu", description, run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_ONE_ORDER;
  k.value_types = plugin::all_value_types;
  k.storages = storages;
  k.features = features;
  k.term_names = terms;
  k.term_defaults = term_defaults;
  plugin::set_calls<State>(k, {is_applicable<predicting>, list_candidates<predicting>, prepare<predicting>, refresh});
  k.open = open;
  k.close = plugin::destroy<Session>;
  return k;
}

const sxt_plugin &description() {
  static const sxt_kernel predicting =
      kernel<true>("pcg.team.predict-recompute.cpu",
                   "predict-and-recompute conjugate gradients by a team of threads with two barriers an iteration");
  static const sxt_kernel classical = kernel<false>(
      "pcg.team.classical.cpu", "conjugate gradients by a team of threads with three barriers an iteration");
  static const sxt_kernel *const kernels[] = {&predicting, &classical};
  static const sxt_plugin table = plugin::describe("pcg-team", kernels);
  return table;
}

}  // namespace
}  // namespace team

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  sextant::plugin::take_team(host);
  *out = &team::description();
  return SXT_OK;
}
