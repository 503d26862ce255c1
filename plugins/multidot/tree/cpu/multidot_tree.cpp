// SPDX-License-Identifier: BSD-3-Clause
// multidot.tree.cpu: up to eight inner products over the fixed tree of sdk/tree.hpp. All pairs of one leaf are
// summed before the next leaf, so an array that occurs in several pairs comes from memory once and then from the first
// caches. Bits equal those of reduction.tree.cpu's dotc, pair by pair, for any number of threads and any instruction
// set.
#include <algorithm>
#include <cstdint>

#include "multidot_table.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/order.h"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/cpu/team_sums.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/tree.hpp"

SXT_ISA_TABLE(sextant_multidot_tree, Table)

using namespace sextant::plugin;
namespace lanes = sextant_multidot_tree;

namespace {

using State = TeamSums<lanes::Table>;

// One value a leaf and pair.
std::uint64_t scratch_bytes(std::int64_t n, std::int32_t n_dots, sxt_value_type type) {
  return tree::leaf_count(n) * n_dots * value_bytes(type);
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_multidot_query>(query);
  if (q.n_dots >= 0 && q.n_dots <= SXT_MULTIDOT_MAX) return SXT_OK;
  return refuse(reason, "%d pairs; at most %d are taken", q.n_dots, SXT_MULTIDOT_MAX);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_multidot_query>(query);
  const double n = static_cast<double>(q.n);
  CpuCost cost;
  cost.stream_bytes = cost.working_set = n * static_cast<double>(value_bytes(q.q.value_type)) * q.distinct;
  cost.flops = n * q.n_dots * multiply_add_flops(q.q.value_type);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    const double whole = share_leaves(tree::leaf_count(q.n), threads, cost);
    // Of every leaf the lanes are folded.
    sxt_candidate &candidate =
        fill_team_sums(list.add(), machine->level, threads, cost, q.n_dots, 8.0 * whole * q.n_dots);
    candidate.state_bytes = sizeof(State);
    candidate.scratch_bytes = scratch_bytes(q.n, q.n_dots, q.q.value_type);
  });
  return SXT_OK;
}

template <class T>
void multidot(const State &state, const sxt_multidot_args &args, T *leaves, int team) {
  const auto sum_leaves = state.table->leaves[state.type - 1];
  const lanes::Call call = {args.u, args.v, args.n, args.n_dots};
  const std::int64_t n_leaves = tree::leaf_count(args.n);
  const int parts = static_cast<int>(std::min<std::int64_t>(team, n_leaves));
  for_each_part(parts, parts, [&](int part) {
    const Range range = part_of(n_leaves, parts, part);
    sum_leaves(call, range.begin, range.end, leaves);
  });
  for (std::int32_t d = 0; d < args.n_dots; ++d)
    static_cast<T *>(args.result)[d] = tree::combine(leaves + d * n_leaves, n_leaves);
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_multidot_args>(head);
  const sxt_status status = need_scratch(exec, scratch_bytes(args.n, args.n_dots, state.type));
  if (status != SXT_OK) return status;
  const int team = team_size(state.threads, *exec);
  return with_value_type(state.type, [&](auto tag) {
    return multidot(state, args, static_cast<typename decltype(tag)::type *>(exec->scratch), team), SXT_OK;
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_MULTIDOT, "multidot.tree.cpu", "cpu",
                            "leaves of 1024 elements, all pairs of a leaf together, threads share the leaves", run);
  k.version = 2;
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_ONE_ORDER;
  k.term_names = cpu_step_terms;
  set_calls<State>(k, {applicable, candidates, prepare_team_sums<lanes::Table, lanes::isa_table>});
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel>("multidot-tree", out);
}
