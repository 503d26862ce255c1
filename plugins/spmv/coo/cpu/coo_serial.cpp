// SPDX-License-Identifier: BSD-3-Clause
// spmv.coo.serial.cpu: one thread walks the entries; all operations, indices of 32 and 64 bits. An entry costs
// sizeof(value) + 2 indices; sums of a row stay in a register, since entries are sorted by row.
#include <cstdint>

#include "coo_model.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::spmv_coo {
namespace {

using namespace plugin;

struct State {
  const sxt_coo *a;
  sxt_value_type type;
};

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  return check_matrix_types(q.m.q.value_type, q.m.matrix_type, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  CandidateList list(out, capacity, count);
  const auto &q = as<sxt_spmv_query>(query);
  fill_spmv(list.add(), q, found, *machine, 1, cost_of(q, found, *machine, 1)).state_bytes = sizeof(State);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] { return give(new State{&as<sxt_coo>(problem->a), problem->query->value_type}, state); });
}

template <class V, class M, class Index>
void multiply(const Coo<M, Index> &a, V alpha, const V *x, V *y) {
  for (std::int64_t k = 0; k < a.nnz;) {
    const Index row = a.row[k];
    V sum = 0;
    for (; k < a.nnz && a.row[k] == row; ++k) sum += product(V(a.values[k]), x[a.col[k]]);
    y[row] += product(alpha, sum);
  }
}

template <bool conjugated, class V, class M, class Index>
void multiply_transposed(const Coo<M, Index> &a, V alpha, const V *x, V *y) {
  for (std::int64_t k = 0; k < a.nnz; ++k) {
    const V value = conjugated ? conjugate(V(a.values[k])) : V(a.values[k]);
    y[a.col[k]] += product(value, product(alpha, x[a.row[k]]));
  }
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  return with_coo(*state.a, state.type, [&](const auto &a, auto tag) {
    using V = typename decltype(tag)::type;
    const V alpha = scalar(args.alpha, V(1)), beta = scalar(args.beta, V(0));
    for (std::int32_t r = 0; r < args.n_rhs; ++r) {
      const V *x = static_cast<const V *>(args.x) + r * args.ldx;
      V *y = static_cast<V *>(args.y) + r * args.ldy;
      scale_range(y, Range{0, args.op == SXT_NO_TRANSPOSE ? a.rows : a.cols}, beta);
      if (args.op == SXT_NO_TRANSPOSE)
        multiply(a, alpha, x, y);
      else if (args.op == SXT_TRANSPOSE || !is_complex<V>)
        multiply_transposed<false>(a, alpha, x, y);
      else
        multiply_transposed<true>(a, alpha, x, y);
    }
    return SXT_OK;
  });
}

}  // namespace

const sxt_kernel serial_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.coo.serial.cpu", "cpu", "COO entry by entry, one thread", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  set_calls<State>(k, {applicable, candidates, prepare, refresh_pointer<State>});
  return k;
}();

}  // namespace sextant::spmv_coo
