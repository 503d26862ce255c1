// SPDX-License-Identifier: BSD-3-Clause
// vector.loops.cpu: one simple loop an operation, which the compiler vectorises; threads share the elements equally.
// After memory bandwidth: an element costs the bytes the operation reads and writes, and at most one multiply-add each.
// Bits do not depend on threads: an element meets only itself.
#include <cstdint>

#include "sextant/kinds/vector.h"
#include "sextant/plugin_cpu.hpp"

using namespace sextant::plugin;

namespace {

struct State {
  sxt_value_type type;
  std::int64_t threads;
};

// Elements read and written for each element, from the kind's table.
double elements_moved(std::int32_t operation) {
  switch (operation) {
#define SXT_X(suffix, value, name, formula, reads, writes) \
  case value: return reads + writes;
    SXT_VECTOR_TABLE(SXT_X)
#undef SXT_X
    default: return 3;
  }
}

bool indexed(std::int32_t operation) { return operation == SXT_VECTOR_GATHER || operation == SXT_VECTOR_SCATTER; }

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_vector_query>(query);
  if (q.operation >= SXT_VECTOR_COPY && q.operation <= SXT_VECTOR_REAL_DIVIDE) return SXT_OK;
  return refuse(reason, "operation %d is not one of %d to %d", q.operation, SXT_VECTOR_COPY, SXT_VECTOR_REAL_DIVIDE);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_vector_query>(query);
  const double n = static_cast<double>(q.n), element = static_cast<double>(value_bytes(q.q.value_type));
  CpuCost cost;
  cost.stream_bytes = cost.working_set = n * element * elements_moved(q.operation);
  if (indexed(q.operation)) {
    cost.stream_bytes = n * (2 * element + static_cast<double>(index_bytes(q.index_type)));
    // Indices may jump anywhere; what a core's cache holds of the vector does not miss.
    const double vector_bytes = n * element, cache = static_cast<double>(machine->unit_cache_bytes);
    cost.gathers = vector_bytes > cache ? n * (1 - cache / vector_bytes) : 0;
  }
  cost.flops = n * multiply_add_flops(q.q.value_type);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) { fill(list.add(), threads, cost).state_bytes = sizeof(State); });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    return give(new State{problem->query->value_type, candidate ? candidate->launch[0] : exec->threads}, state);
  });
}

// Operands may be the same array, but an element only ever meets itself, so the loops may be vectorised.
template <class T, class F>
void loop(Range range, F &&element) {
#pragma omp simd
  for (std::int64_t i = range.begin; i < range.end; ++i) element(i);
}

template <class T, class Index>
void move_indexed(const sxt_vector_args &args, Range range) {
  const auto *index = static_cast<const Index *>(args.index);
  const T *x = static_cast<const T *>(args.x);
  T *y = static_cast<T *>(args.y);
  if (args.operation == SXT_VECTOR_GATHER)
    loop<T>(range, [=](std::int64_t i) { y[i] = x[index[i]]; });
  else
    loop<T>(range, [=](std::int64_t i) { y[index[i]] = x[i]; });  // the kind promises distinct indices
}

template <class T>
void apply(const sxt_vector_args &args, Range range) {
  const T alpha = scalar(args.alpha, T(1)), beta = scalar(args.beta, T(1));
  const T *x = static_cast<const T *>(args.x);
  const auto *real = static_cast<const real_of<T> *>(args.x);  // x of the operations that take a real one
  T *y = static_cast<T *>(args.y), *z = static_cast<T *>(args.z);
  switch (args.operation) {
    case SXT_VECTOR_COPY: return loop<T>(range, [=](std::int64_t i) { y[i] = x[i]; });
    case SXT_VECTOR_FILL: return loop<T>(range, [=](std::int64_t i) { y[i] = alpha; });
    case SXT_VECTOR_SCALE: return loop<T>(range, [=](std::int64_t i) { y[i] = product(alpha, y[i]); });
    case SXT_VECTOR_AXPY: return loop<T>(range, [=](std::int64_t i) { y[i] = product(alpha, x[i]) + y[i]; });
    case SXT_VECTOR_AXPBY:
      return loop<T>(range, [=](std::int64_t i) { y[i] = product(alpha, x[i]) + product(beta, y[i]); });
    case SXT_VECTOR_WAXPBY:
      return loop<T>(range, [=](std::int64_t i) { z[i] = product(alpha, x[i]) + product(beta, y[i]); });
    case SXT_VECTOR_MULTIPLY: return loop<T>(range, [=](std::int64_t i) { z[i] = product(x[i], y[i]); });
    case SXT_VECTOR_REAL_MULTIPLY: return loop<T>(range, [=](std::int64_t i) { z[i] = y[i] * real[i]; });
    case SXT_VECTOR_REAL_DIVIDE: return loop<T>(range, [=](std::int64_t i) { z[i] = y[i] / real[i]; });
    default:
      return args.index_type == SXT_I32 ? move_indexed<T, std::int32_t>(args, range)
                                        : move_indexed<T, std::int64_t>(args, range);
  }
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_vector_args>(head);
  if (args.operation < SXT_VECTOR_COPY || args.operation > SXT_VECTOR_REAL_DIVIDE)
    return error(exec, SXT_E_NOT_SUPPORTED, "vector operation %d is unknown", args.operation);
  const int team = team_size(state.threads, *exec);
  return with_value_type(state.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_part(team, team, [&](int part) { apply<T>(args, part_of(args.n, team, part, 64)); });
    return SXT_OK;
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_VECTOR, "vector.loops.cpu", "cpu", "vectorised loops, threads share the elements", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_terms;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.release = destroy<State>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = describe("vector-cpu", kernels);
  return *out = &plugin, SXT_OK;
}
