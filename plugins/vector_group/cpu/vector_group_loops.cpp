// SPDX-License-Identifier: BSD-3-Clause
// vector_group.loops.cpu: each group as one fused loop, which reads and writes every vector once; threads share the
// elements equally. After memory bandwidth. Bits depend neither on threads nor on the instruction set: an element meets
// only its own index, products are rounded.
#include <cstdint>

#include "group_table.hpp"
#include "sextant/kinds/vector_group.h"
#include "sextant/plugin_cpu.hpp"
#include "sextant/plugin_isa.hpp"
#include "sextant/plugin_simd.hpp"

SXT_ISA_TABLE(sextant_vector_group_cpu, Table)

using namespace sextant::plugin;
namespace lanes = sextant_vector_group_cpu;

namespace {

struct State {
  const lanes::Table *table;
  std::int64_t threads;
  sxt_value_type type;
};

constexpr const char *terms[] = {"launches", "barriers", "stream_bytes", "gathers", "flops", "steps", nullptr};

// Vectors a group touches, reads plus writes, and its multiply-adds an element.
struct Traffic {
  double vectors, moved, multiply_adds;
};

Traffic traffic_of(std::int32_t group) {
  if (group == SXT_GROUP_CHRONOPOULOS_GEAR) return {6, 10, 4};  // x r p s in and out, u w in
  if (group == SXT_GROUP_PREDICT_RECOMPUTE) return {4, 7, 3};   // x r p in and out, q in
  return {4, 6, 2};                                             // x r in and out, p q in
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_vector_group_query>(query);
  if (q.group >= SXT_GROUP_CLASSICAL_XR && q.group <= SXT_GROUP_PREDICT_RECOMPUTE) return SXT_OK;
  return refuse(reason, "group %d is not one of %d to %d", q.group, SXT_GROUP_CLASSICAL_XR,
                SXT_GROUP_PREDICT_RECOMPUTE);
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

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    return give(new State{&lanes::isa_table(isa_level(candidate)), candidate ? candidate->launch[0] : exec->threads,
                          problem->query->value_type},
                state);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_vector_group_args>(head);
  if (args.group < SXT_GROUP_CLASSICAL_XR || args.group > SXT_GROUP_PREDICT_RECOMPUTE)
    return error(exec, SXT_E_NOT_SUPPORTED, "vector group %d is unknown", args.group);
  static constexpr double ones[2] = {1, 0};
  static constexpr float single_ones[2] = {1, 0};
  const bool single = state.type == SXT_F32 || state.type == SXT_C64;
  const void *one = single ? static_cast<const void *>(single_ones) : ones;
  const auto or_one = [&](const sxt_scalar &s) { return s.value ? s.value : one; };
  const lanes::Call call = {args.vectors, or_one(args.scalars[0]), or_one(args.scalars[1])};
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
  static const sxt_plugin plugin = describe("vector_group-cpu", kernels);
  return *out = &plugin, SXT_OK;
}
