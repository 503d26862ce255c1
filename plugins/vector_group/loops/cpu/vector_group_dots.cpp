// SPDX-License-Identifier: BSD-3-Clause
// vector_group_dots.leaves.cpu: a group's update and inner products of the updated vectors, leaf by leaf: 1024 elements
// are updated, then multiplied while the first caches hold them. Bound by memory bandwidth: the traffic of the update.
// Products are summed over the fixed tree of sdk/tree.hpp: bits depend neither on threads nor on the instruction set.
#include <algorithm>
#include <cstdint>

#include "group_calls.hpp"
#include "sextant/plugin/kinds/vector_group_dots.h"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/tree.hpp"

namespace sextant_vector_group_cpu {
namespace {

std::uint64_t scratch_bytes(std::int64_t n, std::int32_t n_dots, sxt_value_type type) {
  return static_cast<std::uint64_t>(tree::leaf_count(n)) * static_cast<std::uint64_t>(n_dots) * value_bytes(type);
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_vector_group_dots_query>(query);
  if (!known_group(q.group)) return refuse_group(reason, q.group);
  if (q.n_dots >= 0 && q.n_dots <= SXT_VECTOR_GROUP_DOTS_MAX) return SXT_OK;
  return refuse(reason, "%d inner products; at most %d are taken", q.n_dots, SXT_VECTOR_GROUP_DOTS_MAX);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_vector_group_dots_query>(query);
  const double n = static_cast<double>(q.n), element = static_cast<double>(value_bytes(q.q.value_type));
  const Traffic traffic = traffic_of(q.group);
  CpuCost cost;
  cost.stream_bytes = n * element * traffic.moved;
  cost.working_set = n * element * traffic.vectors;
  cost.flops = n * multiply_add_flops(q.q.value_type) * (traffic.multiply_adds + q.n_dots);
  CandidateList list(out, capacity, count);
  const double registers = n * element / register_bytes_of(machine->level);
  for_thread_counts(*machine, [&](int threads) {
    // A team shares whole leaves.
    const std::int64_t leaves = tree::leaf_count(q.n), busiest = (leaves + threads - 1) / threads;
    cost.imbalance = leaves ? static_cast<double>(busiest * threads) / static_cast<double>(leaves) : 1;
    sxt_candidate &candidate = fill(list.add(), threads, cost);
    candidate.launch[1] = machine->level;
    candidate.model_class = static_cast<std::uint32_t>(2 * q.group + (threads > 1));
    // Loop iterations of the update take four registers; a leaf's lanes are folded once a product.
    candidate.terms[5] =
        threads + registers / 4 * (1 + q.n_dots) + 8.0 * static_cast<double>(busiest * threads) * q.n_dots;
    candidate.n_terms = 6;
    candidate.state_bytes = sizeof(State);
    candidate.scratch_bytes = scratch_bytes(q.n, q.n_dots, q.q.value_type);
  });
  return SXT_OK;
}

template <class T>
void update_and_sum(const State &state, const sxt_vector_group_dots_args &args, T *leaves, int team) {
  const std::int64_t n_leaves = tree::leaf_count(args.g.n);
  const auto update = state.table->update_leaves[state.type - 1][args.g.group];
  const DotsCall call = {call_of(args.g, state.type), args.g.n, args.n_dots, args.a, args.b};
  const int parts = static_cast<int>(std::min<std::int64_t>(team, n_leaves));
  for_each_part(parts, parts, [&](int part) {
    const Range range = part_of(n_leaves, parts, part);
    update(call, range.begin, range.end, leaves);
  });
  for (std::int32_t d = 0; d < args.n_dots; ++d)
    static_cast<T *>(args.dots)[d] = tree::combine(leaves + d * n_leaves, n_leaves);
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_vector_group_dots_args>(head);
  if (!known_group(args.g.group)) return error(exec, SXT_E_NOT_SUPPORTED, "vector group %d is unknown", args.g.group);
  const sxt_status status = need_scratch(exec, scratch_bytes(args.g.n, args.n_dots, state.type));
  if (status != SXT_OK) return status;
  const int team = team_size(state.threads, *exec);
  return with_value_type(state.type, [&](auto tag) {
    return update_and_sum(state, args, static_cast<typename decltype(tag)::type *>(exec->scratch), team), SXT_OK;
  });
}

}  // namespace

const sxt_kernel dots_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_VECTOR_GROUP_DOTS, "vector_group_dots.leaves.cpu", "cpu",
                            "leaves of 1024 elements updated, then multiplied; threads share the leaves", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_step_terms;
  set_calls<State>(k, {applicable, candidates, prepare});
  return k;
}();

}  // namespace sextant_vector_group_cpu
