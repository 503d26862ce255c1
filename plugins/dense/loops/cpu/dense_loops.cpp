// SPDX-License-Identifier: BSD-3-Clause
// dense.loops.cpu: small dense operations on tiles in registers, at the widest instruction set of the machine.
#include <cstdint>

#include "dense_table.hpp"
#include "sextant/sdk/cpu/isa.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/dense.hpp"
#include "sextant/sdk/describe.hpp"

SXT_ISA_TABLE(sextant_dense_loops, Table)

using namespace sextant_dense;
using sextant_dense_loops::Table;
using sextant_dense_loops::Work;

namespace {

struct State {
  const Table *table;
};

// Beside the flops: what a call, an item and its tiles cost. Operands beyond the second cache are read again and again,
// because nothing is packed.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_dense_query>(query);
  const double items = static_cast<double>(q.count), bytes = working_set(q);
  const double per_tile =
      register_bytes_of(machine->level) * 3 * 64;  // multiply-adds of bytes that hide a tile's start
  CpuCost cost;
  cost.working_set = bytes;
  cost.flops = q.flops * (bytes > static_cast<double>(machine->unit_cache_bytes) ? 2.0 : 1.25);
  CandidateList list(out, capacity, count);
  sxt_candidate &c = fill(list.add(), 1, cost);
  c.launch[1] = machine->level;
  c.terms[5] = items * 20 + q.flops * static_cast<double>(value_bytes(q.q.value_type)) / per_tile;
  c.n_terms = 6;
  c.state_bytes = sizeof(State);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] { return give(new State{&sextant_dense_loops::isa_table(isa_level(candidate))}, state); });
}

Work work_of(const sxt_dense_args &d, std::int64_t g) {
  const Item<char> x = item_of<char>(d, g);
  return {d.operation, d.unit != 0, x.m,    x.n, x.k,    x.a.data,      x.b.data,      x.c.data,
          x.a.ld,      x.b.ld,      x.c.ld, x.d, x.incd, pivot_rule(d), marks_of(d, g)};
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_dense_args>(head);
  if (const sxt_status wrong = check(args, exec)) return wrong;
  if (args.value_type < SXT_F32 || args.value_type > SXT_C128) return SXT_E_TYPE;
  const auto function = static_cast<const State *>(state)->table->work[args.value_type - 1];
  for (std::int64_t g = 0; g < args.count; ++g) {
    const std::int32_t info = function(work_of(args, g));
    if (args.info) args.info[g] = info;
  }
  return SXT_OK;
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_DENSE, "dense.loops.cpu", "cpu", "small operations on tiles in registers", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_step_terms;
  set_calls<State>(k, {nullptr, candidates, prepare});
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = sextant_dense::describe("dense-loops", kernels);
  return *out = &plugin, SXT_OK;
}
