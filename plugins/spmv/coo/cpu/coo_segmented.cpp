// SPDX-License-Identifier: BSD-3-Clause
// spmv.coo.segmented.cpu: entries are cut into equal segments, one a thread, independent of the rows (segmented sums:
// Blelloch, Heroux and Zagha 1993). Rows inside a segment are its own; the sums of its first and last row, which
// adjacent segments may share, are carried and added in order afterwards: no atomics. Bits depend only on the number of
// segments, which the plan fixes. Transposed, every segment adds to its own copy of y.
#include <algorithm>
#include <cstdint>

#include "coo_isa.hpp"
#include "coo_model.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/describe.hpp"

SXT_ISA_TABLE(sextant::spmv_coo, Table)

namespace sextant::spmv_coo {
namespace {

using namespace plugin;

struct State {
  const sxt_coo *a;
  sxt_value_type type;
  int segments;
  const Table *table;  // SIMD code for real numbers
};

// Sums of a segment's first and last row, two a cache line at the widest type.
constexpr std::uint64_t carry_bytes = 64;

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (std::max(q.m.rows, q.m.cols) >= std::int64_t{1} << 31)
    return refuse(reason, "%lld rows or columns do not fit the 32-bit indices it reads",
                  (long long)std::max(q.m.rows, q.m.cols));
  return check_matrix_types(q.m.q.value_type, q.m.matrix_type, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    SpmvCost cost = cost_of(q, found, *machine, threads);
    std::uint64_t scratch = threads * carry_bytes;
    cost.extra_forks = 2 * q.n_rhs - 1;  // y is scaled in a separate fork
    if (q.op != SXT_NO_TRANSPOSE) {
      scratch = scatter_bytes(q.m.cols, threads, 1, value_bytes(q.m.q.value_type));
      // Copies of y larger than A are never faster.
      if (static_cast<double>(scratch) > cost.matrix_bytes + 1e6) return;
      cost.extra_bytes += 2.0 * q.n_rhs * static_cast<double>(scratch);
    } else if (lane_pair(q.m.q.value_type, q.m.matrix_type) >= 0) {
      go_in_lanes(q, found, threads, cost);
    }
    sxt_candidate &candidate = fill_spmv(list.add(), q, found, *machine, threads, cost);
    candidate.state_bytes = sizeof(State);
    candidate.scratch_bytes = scratch;
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    const auto &a = as<sxt_coo>(problem->a);
    if (a.s.index_type != SXT_I32)
      return error(exec, SXT_E_NOT_SUPPORTED, "%s reads 32-bit indices, this matrix has 64-bit ones",
                   segmented_kernel.name);
    const std::int64_t segments = std::max<std::int64_t>(1, candidate ? candidate->launch[0] : exec->threads);
    return give(new State{&a, problem->query->value_type, static_cast<int>(segments), &isa_table(isa_level(candidate))},
                state);
  });
}

// Sum of the run of entries that starts at k, and moves k behind it.
template <class V, class M>
V sum_run(const Coo<M, std::int32_t> &a, std::int64_t &k, std::int64_t end, const V *x) {
  const std::int32_t row = a.row[k];
  V sum = 0;
  for (; k < end && a.row[k] == row; ++k) sum += product(V(a.values[k]), x[a.col[k]]);
  return sum;
}

template <class V, class M>
void multiply_segment(const Coo<M, std::int32_t> &a, Range entries, V alpha, const V *x, V *y, V *carry) {
  carry[0] = carry[1] = 0;
  std::int64_t k = entries.begin;
  if (k == entries.end) return;
  carry[0] = sum_run(a, k, entries.end, x);
  while (k < entries.end) {
    const std::int32_t row = a.row[k];
    const V sum = sum_run(a, k, entries.end, x);
    if (k == entries.end)
      carry[1] = sum;
    else
      y[row] += product(alpha, sum);
  }
}

// Real numbers in lanes, complex ones one by one.
template <class V, class M>
void segment(const State &state, const Coo<M, std::int32_t> &a, Range entries, V alpha, const V *x, V *y, V *carry) {
  if constexpr (is_complex<V>)
    multiply_segment(a, entries, alpha, x, y, carry);
  else
    state.table->segment[lane_pair(state.type, state.a->s.value_type)]({{a.row, a.col, a.values}, x, y, alpha},
                                                                       entries.begin, entries.end, carry, carry + 1);
}

template <class V, class M>
void multiply_transposed(const Coo<M, std::int32_t> &a, const State &state, const sxt_exec &exec, bool conjugated,
                         const Vectors<V> &v) {
  const int team = team_size(state.segments, exec);
  scattered<1>(v, a.cols, state.segments, team, exec.scratch, [&](int s, V *sums, std::int64_t) {
    const Range entries = part_of(a.nnz, state.segments, s);
    for (std::int64_t k = entries.begin; k < entries.end; ++k) {
      const V value = conjugated ? conjugate(V(a.values[k])) : V(a.values[k]);
      sums[a.col[k]] += product(value, product(v.alpha, v.x[a.row[k]]));
    }
  });
}

template <class V, class M>
void multiply(const Coo<M, std::int32_t> &a, const State &state, const sxt_exec &exec, V alpha, V beta, const V *x,
              V *y) {
  const int team = team_size(state.segments, exec);
  const auto carry = [&](int s) { return reinterpret_cast<V *>(static_cast<char *>(exec.scratch) + s * carry_bytes); };
  for_each_part(state.segments, team, [&](int s) { scale_range(y, part_of(a.rows, state.segments, s, 16), beta); });
  for_each_part(state.segments, team,
                [&](int s) { segment(state, a, part_of(a.nnz, state.segments, s), alpha, x, y, carry(s)); });
  for (int s = 0; s < state.segments; ++s) {
    const Range entries = part_of(a.nnz, state.segments, s);
    if (entries.begin == entries.end) continue;
    y[a.row[entries.begin]] += product(alpha, carry(s)[0]);
    if (a.row[entries.end - 1] != a.row[entries.begin]) y[a.row[entries.end - 1]] += product(alpha, carry(s)[1]);
  }
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  const bool transposed = args.op != SXT_NO_TRANSPOSE;
  const sxt_status status =
      need_scratch(exec, transposed ? scatter_bytes(state.a->s.cols, state.segments, 1, value_bytes(state.type))
                                    : state.segments * carry_bytes);
  if (status != SXT_OK) return status;
  return with_matrix_types(state.type, state.a->s.value_type, [&](auto v, auto m) {
    using V = typename decltype(v)::type;
    using M = typename decltype(m)::type;
    const sxt_coo &a = *state.a;
    const Coo<M, std::int32_t> entries = {static_cast<const std::int32_t *>(a.row),
                                          static_cast<const std::int32_t *>(a.col),
                                          static_cast<const M *>(a.values),
                                          a.s.rows,
                                          a.s.cols,
                                          a.s.nnz};
    for (std::int32_t r = 0; r < args.n_rhs; ++r) {
      const Vectors<V> v = {scalar(args.alpha, V(1)),
                            scalar(args.beta, V(0)),
                            static_cast<const V *>(args.x) + r * args.ldx,
                            static_cast<V *>(args.y) + r * args.ldy,
                            args.ldx,
                            args.ldy};
      if (transposed)
        multiply_transposed(entries, state, *exec, args.op == SXT_CONJUGATE_TRANSPOSE, v);
      else
        multiply(entries, state, *exec, v.alpha, v.beta, v.x, v.y);
    }
    return SXT_OK;
  });
}

}  // namespace

const sxt_kernel segmented_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.coo.segmented.cpu", "cpu",
                            "COO cut into equal segments of entries, one a thread", run);
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  set_calls<State>(k, {applicable, candidates, prepare, refresh_pointer<State>});
  return k;
}();

}  // namespace sextant::spmv_coo
