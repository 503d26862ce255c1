// SPDX-License-Identifier: BSD-3-Clause
// vector.loops.cpu and vector.past_caches.cpu: the element-wise operations in the vectors of the machine's instruction
// set, threads share the elements equally. Bound by memory bandwidth: an element costs the bytes the operation reads
// and writes. Results that are only written cost twice their bytes through the caches, which first read the line they
// change; past the caches they cost once, but the next reader does not find them in a cache.
// Bits depend neither on threads nor on the instruction set: elements of different indices are never combined, products
// are rounded.
#include <cstdint>

#include "sextant/plugin/kinds/vector.h"
#include "sextant/plugin/order.h"
#include "sextant/sdk/cpu/isa.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"
#include "vector_table.hpp"

SXT_ISA_TABLE(sextant_vector_cpu, Table)

using namespace sextant::plugin;
using sextant_vector_cpu::Call;
using sextant_vector_cpu::Function;
using sextant_vector_cpu::Table;

namespace {

struct State {
  const Table *table;
  std::int64_t threads;
  sxt_value_type type;
  bool past_caches;
};

constexpr std::int64_t line_elements = 64;  // borders between threads: no cache line is shared

// Elements read and written for each element, from the kind's table.
struct Traffic {
  double reads, writes;
};
Traffic traffic_of(std::int32_t operation) {
  switch (operation) {
#define SXT_X(suffix, value, name, formula, reads, writes) \
  case value: return {reads, writes};
    SXT_VECTOR_TABLE(SXT_X)
#undef SXT_X
    default: return {2, 1};
  }
}

bool indexed(std::int32_t operation) { return operation == SXT_VECTOR_GATHER || operation == SXT_VECTOR_SCATTER; }

// Operations whose result lies in an array they do not read.
bool writes_only(std::int32_t operation) {
  return operation == SXT_VECTOR_COPY || operation == SXT_VECTOR_FILL || operation == SXT_VECTOR_WAXPBY ||
         operation == SXT_VECTOR_MULTIPLY || operation >= SXT_VECTOR_REAL_MULTIPLY;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_vector_query>(query);
  if (q.operation >= SXT_VECTOR_COPY && q.operation <= SXT_VECTOR_REAL_DIVIDE) return SXT_OK;
  return refuse(reason, "operation %d is not one of %d to %d", q.operation, SXT_VECTOR_COPY, SXT_VECTOR_REAL_DIVIDE);
}

sxt_status applicable_past_caches(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                                  sxt_message *reason) {
  const auto &q = as<sxt_vector_query>(query);
  if (const sxt_status status = applicable(query, features, machine, reason); status != SXT_OK) return status;
  if (!writes_only(q.operation))
    return refuse(reason, "operation %d reads the array it writes, or writes it in no order", q.operation);
  return SXT_OK;
}

// One class an operation, alone and in a team.
std::uint32_t model_class(std::int32_t operation, int threads) {
  return static_cast<std::uint32_t>(2 * operation + (threads > 1));
}

CpuCost cost_of(const sxt_vector_query &q, const sxt_machine &machine, bool past_caches) {
  const double n = static_cast<double>(q.n), element = static_cast<double>(value_bytes(q.q.value_type));
  const Traffic traffic = traffic_of(q.operation);
  CpuCost cost;
  cost.working_set = n * element * (traffic.reads + traffic.writes);
  const bool extra_read = writes_only(q.operation) && !past_caches;
  cost.stream_bytes = cost.working_set + (extra_read ? n * element * traffic.writes : 0);
  // In-place operations name one array as read and as written.
  if (q.operation == SXT_VECTOR_SCALE || q.operation == SXT_VECTOR_AXPY || q.operation == SXT_VECTOR_AXPBY)
    cost.working_set -= n * element;
  // Data written past the caches come from memory, of any size.
  if (past_caches) cost.working_set = std::max(cost.working_set, 2.0 * static_cast<double>(machine.cache_bytes));
  if (indexed(q.operation)) {
    cost.stream_bytes = n * (2 * element + static_cast<double>(index_bytes(q.index_type)));
    // Indices may be arbitrary; the part of the vector in a core's cache does not miss.
    const double vector_bytes = n * element, cache = static_cast<double>(machine.unit_cache_bytes);
    cost.gathers = vector_bytes > cache ? n * (1 - cache / vector_bytes) : 0;
  }
  cost.flops = n * multiply_add_flops(q.q.value_type);
  return cost;
}

template <bool past_caches>
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_vector_query>(query);
  const CpuCost cost = cost_of(q, *machine, past_caches);
  // An iteration takes four registers of each operand; an indexed one a single element.
  const double registers =
      static_cast<double>(q.n) * static_cast<double>(value_bytes(q.q.value_type)) / register_bytes_of(machine->level);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    sxt_candidate &candidate = fill(list.add(), threads, cost);
    candidate.launch[1] = machine->level;
    candidate.model_class = model_class(q.operation, threads);
    candidate.terms[5] = threads + (indexed(q.operation) ? static_cast<double>(q.n) : registers / 4);
    candidate.n_terms = 6;
    candidate.state_bytes = sizeof(State);
  });
  return SXT_OK;
}

template <bool past_caches>
sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    return give(new State{&sextant_vector_cpu::isa_table(isa_level(candidate)),
                          candidate ? candidate->launch[0] : exec->threads, problem->query->value_type, past_caches},
                state);
  });
}

Function function_of(const State &state, const sxt_vector_args &args) {
  const Table &table = *state.table;
  const int type = state.type - 1;
  if (args.index_type == SXT_I64 && indexed(args.operation))
    return args.operation == SXT_VECTOR_GATHER ? table.gather_wide[type] : table.scatter_wide[type];
  const Function past = state.past_caches ? table.past_caches[type][args.operation] : nullptr;
  return past ? past : table.plain[type][args.operation];
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  static constexpr double ones[2] = {1, 0};
  static constexpr float single_ones[2] = {1, 0};
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_vector_args>(head);
  if (args.operation < SXT_VECTOR_COPY || args.operation > SXT_VECTOR_REAL_DIVIDE)
    return error(exec, SXT_E_NOT_SUPPORTED, "vector operation %d is unknown", args.operation);
  const Function apply = function_of(state, args);
  const bool single = state.type == SXT_F32 || state.type == SXT_C64;
  const void *one = single ? static_cast<const void *>(single_ones) : ones;
  const Call call = {
      args.x,    args.y, args.z, args.alpha.value ? args.alpha.value : one, args.beta.value ? args.beta.value : one,
      args.index};
  const int team = team_size(state.threads, *exec);
  if (team == 1) return apply(call, 0, args.n), SXT_OK;
  for_each_part(team, team, [&](int part) {
    const Range range = part_of(args.n, team, part, line_elements);
    apply(call, range.begin, range.end);
  });
  return SXT_OK;
}

template <bool past_caches>
sxt_kernel make_kernel(const char *name, const char *description) {
  sxt_kernel k = new_kernel(SXT_KIND_VECTOR, name, "cpu", description, run);
  k.version = 2;
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_ONE_ORDER;
  k.term_names = cpu_step_terms;
  set_calls<State>(k,
                   {past_caches ? applicable_past_caches : applicable, candidates<past_caches>, prepare<past_caches>});
  return k;
}

const sxt_kernel loops = make_kernel<false>("vector.loops.cpu", "full-width vectors, threads share the elements");
const sxt_kernel past_caches =
    make_kernel<true>("vector.past_caches.cpu", "full-width vectors, results written past the caches");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&loops, &past_caches>("vector-cpu", out);
}
