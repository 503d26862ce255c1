// SPDX-License-Identifier: BSD-3-Clause
// vector_group.loops.cpu: each group as one fused loop, which reads and writes every vector once; threads share the
// elements equally. After memory bandwidth. Bits do not depend on threads: an element meets only its own index.
#include <cstdint>

#include "sextant/kinds/vector_group.h"
#include "sextant/plugin_cpu.hpp"

using namespace sextant::plugin;

namespace {

struct State {
  sxt_value_type type;
  std::int64_t threads;
};

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
  for_thread_counts(*machine, [&](int threads) { fill(list.add(), threads, cost).state_bytes = sizeof(State); });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    return give(new State{problem->query->value_type, candidate ? candidate->launch[0] : exec->threads}, state);
  });
}

template <class T>
void classical_xr(Range range, T alpha, T *x, T *r, const T *p, const T *q) {
#pragma omp simd
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    x[i] += product(alpha, p[i]);
    r[i] += product(-alpha, q[i]);
  }
}

template <class T>
void chronopoulos_gear(Range range, T alpha, T beta, T *x, T *r, T *p, T *s, const T *u, const T *w) {
#pragma omp simd
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const T pi = u[i] + product(beta, p[i]), si = w[i] + product(beta, s[i]);
    p[i] = pi;
    s[i] = si;
    x[i] += product(alpha, pi);
    r[i] += product(-alpha, si);
  }
}

template <class T>
void predict_recompute(Range range, T alpha, T beta, T *x, T *r, T *p, const T *q) {
#pragma omp simd
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const T ri = r[i] + product(-alpha, q[i]), pi = p[i];
    r[i] = ri;
    x[i] += product(alpha, pi);
    p[i] = ri + product(beta, pi);
  }
}

template <class T>
void update(const sxt_vector_group_args &args, Range range) {
  const T alpha = scalar(args.scalars[0], T(1)), beta = scalar(args.scalars[1], T(1));
  const auto v = [&](int k) { return static_cast<T *>(args.vectors[k]); };
  switch (args.group) {
    case SXT_GROUP_CLASSICAL_XR: return classical_xr(range, alpha, v(0), v(1), v(2), v(3));
    case SXT_GROUP_CHRONOPOULOS_GEAR: return chronopoulos_gear(range, alpha, beta, v(0), v(1), v(2), v(3), v(4), v(5));
    default: return predict_recompute(range, alpha, beta, v(0), v(1), v(2), v(3));
  }
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_vector_group_args>(head);
  if (args.group < SXT_GROUP_CLASSICAL_XR || args.group > SXT_GROUP_PREDICT_RECOMPUTE)
    return error(exec, SXT_E_NOT_SUPPORTED, "vector group %d is unknown", args.group);
  const int team = team_size(state.threads, *exec);
  return with_value_type(state.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_part(team, team, [&](int part) { update<T>(args, part_of(args.n, team, part, 64)); });
    return SXT_OK;
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_VECTOR_GROUP, "vector_group.loops.cpu", "cpu",
                            "one fused vectorised loop a group, threads share the elements", run);
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
  static const sxt_plugin plugin = describe("vector_group-cpu", kernels);
  return *out = &plugin, SXT_OK;
}
