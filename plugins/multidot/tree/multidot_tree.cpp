// SPDX-License-Identifier: BSD-3-Clause
// multidot.tree.cpu: up to eight inner products over the fixed tree of plugin_tree.hpp. All pairs of one leaf are
// summed before the next leaf, so an array that stands in several pairs comes from memory once and then from the first
// caches. Bits equal those of reduction.tree.cpu's dotc, pair by pair, whatever the threads and the instruction set.
#include <algorithm>
#include <cstdint>

#include "multidot_table.hpp"
#include "sextant/kinds/multidot.h"
#include "sextant/plugin_cpu.hpp"
#include "sextant/plugin_isa.hpp"
#include "sextant/plugin_simd.hpp"
#include "sextant/plugin_tree.hpp"

SXT_ISA_TABLE(sextant_multidot_tree, Table)

using namespace sextant::plugin;
namespace lanes = sextant_multidot_tree;

namespace {

struct State {
  const lanes::Table *table;
  std::int64_t threads;
  sxt_value_type type;
};

constexpr const char *terms[] = {"launches", "barriers", "stream_bytes", "gathers", "flops", "steps", nullptr};

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
    // A team shares whole leaves.
    const std::int64_t leaves = tree::leaf_count(q.n);
    const std::int64_t busiest = (leaves + threads - 1) / threads;
    cost.imbalance = leaves ? static_cast<double>(busiest * threads) / static_cast<double>(leaves) : 1;
    sxt_candidate &candidate = fill(list.add(), threads, cost);
    candidate.launch[1] = machine->level;
    candidate.model_class = static_cast<std::uint32_t>(2 * q.n_dots + (threads > 1));
    candidate.terms[5] = 8.0 * static_cast<double>(busiest * threads) * q.n_dots;  // a leaf's lanes are folded
    candidate.n_terms = 6;
    candidate.state_bytes = sizeof(State);
    candidate.scratch_bytes = scratch_bytes(q.n, q.n_dots, q.q.value_type);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    return give(new State{&lanes::isa_table(isa_level(candidate)), candidate ? candidate->launch[0] : exec->threads,
                          problem->query->value_type},
                state);
  });
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
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.term_names = terms;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.release = destroy<State>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = describe("multidot-tree", kernels);
  return *out = &plugin, SXT_OK;
}
