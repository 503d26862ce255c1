// SPDX-License-Identifier: BSD-3-Clause
// vector_group.loops.cpu: each group as one fused loop, which reads and writes every vector once; threads share the
// elements equally. Bound by memory bandwidth. Bits depend neither on threads nor on the instruction set: elements of
// different indices are never combined, products are rounded.
#include <cstdint>

#include "group_calls.hpp"
#include "sextant/plugin/order.h"
#include "sextant/sdk/describe.hpp"

namespace sextant_vector_group_cpu {
namespace {

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_vector_group_query>(query);
  return known_group(q.group) ? SXT_OK : refuse_group(reason, q.group);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_vector_group_query>(query);
  const double n = static_cast<double>(q.n), element = static_cast<double>(value_bytes(q.q.value_type));
  const Traffic traffic = traffic_of(q.group);
  CpuCost cost;
  cost.stream_bytes = n * element * traffic.moved;
  cost.working_set = n * element * traffic.vectors;
  cost.flops = n * multiply_add_flops(q.q.value_type) * traffic.multiply_adds;
  CandidateList list(out, capacity, count);
  // An iteration takes four registers of each vector.
  const double registers = n * element / register_bytes_of(machine->level);
  for_thread_counts(*machine, [&](int threads) {
    sxt_candidate &candidate = fill(list.add(), threads, cost);
    candidate.launch[1] = machine->level;
    candidate.model_class = static_cast<std::uint32_t>(2 * q.group + (threads > 1));
    candidate.terms[5] = threads + registers / 4;
    candidate.n_terms = 6;
    candidate.state_bytes = sizeof(State);
  });
  return SXT_OK;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_vector_group_args>(head);
  if (!known_group(args.group)) return error(exec, SXT_E_NOT_SUPPORTED, "vector group %d is unknown", args.group);
  const Call call = call_of(args, state.type);
  const auto update = state.table->update[state.type - 1][args.group];
  const int team = team_size(state.threads, *exec);
  if (team == 1) return update(call, 0, args.n), SXT_OK;
  for_each_part(team, team, [&](int part) {
    const Range range = part_of(args.n, team, part, 64);
    update(call, range.begin, range.end);
  });
  return SXT_OK;
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_VECTOR_GROUP, "vector_group.loops.cpu", "cpu",
                            "one fused vectorised loop a group, threads share the elements", run);
  k.version = 2;
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_ONE_ORDER;
  k.term_names = cpu_step_terms;
  set_calls<State>(k, {applicable, candidates, prepare});
  return k;
}();

}  // namespace
}  // namespace sextant_vector_group_cpu

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  sextant::plugin::take_team(host);
  return sextant::plugin::offer<&sextant_vector_group_cpu::kernel, &sextant_vector_group_cpu::dots_kernel>(
      "vector_group-cpu", out);
}
