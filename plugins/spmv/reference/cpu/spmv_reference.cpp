// SPDX-License-Identifier: BSD-3-Clause
// spmv.reference.cpu: y = alpha op(A) x + beta y on CSR, one entry after the other, to be read and compared with.
#include <cstdint>

#include "spmv_reference.hpp"

#include "sextant/sdk/cpu/csr.hpp"

using namespace sextant::plugin;

namespace {

struct State {
  const sxt_csr *a;
  sxt_value_type type;  // of x and y
};

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  return check_matrix_types(q.m.q.value_type, q.m.matrix_type, reason);
}

// One thread; every product waits for the sum before it (four cycles), and with several columns A is read once for
// each.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double vectors = static_cast<double>(value_bytes(q.m.q.value_type));
  const double nnz = static_cast<double>(q.m.nnz), rows = static_cast<double>(q.m.rows),
               cols = static_cast<double>(q.m.cols);
  const double matrix_bytes = nnz * (static_cast<double>(value_bytes(q.m.matrix_type)) + 4) + 4 * rows;
  CpuCost cost;
  cost.stream_bytes = q.n_rhs * (matrix_bytes + vectors * (2 * rows + cols));
  cost.flops = q.n_rhs * nnz * multiply_add_flops(q.m.q.value_type) * 2 * scalar_slowdown(*machine, q.m.q.value_type);
  cost.working_set = matrix_bytes + q.n_rhs * vectors * (rows + cols);
  CandidateList list(out, capacity, count);
  fill(list.add(), 1, cost).state_bytes = sizeof(State);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] { return give(new State{&as<sxt_csr>(problem->a), problem->query->value_type}, state); });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *) {
  return static_cast<State *>(state)->a = &as<sxt_csr>(problem->a), SXT_OK;
}

template <class V, class M>
sxt_status multiply(const sxt_csr &a, const sxt_spmv_args &args) {
  const V alpha = scalar(args.alpha, V(1)), beta = scalar(args.beta, V(0));
  const M *values = static_cast<const M *>(a.values);
  const std::int64_t out_rows = args.op == SXT_NO_TRANSPOSE ? a.s.rows : a.s.cols;
  for (std::int32_t r = 0; r < args.n_rhs; ++r) {
    const V *x = static_cast<const V *>(args.x) + r * args.ldx;
    V *y = static_cast<V *>(args.y) + r * args.ldy;
    // beta == 0 never reads y, which may hold any bits.
    for (std::int64_t i = 0; i < out_rows; ++i) y[i] = beta == V(0) ? V(0) : product(beta, y[i]);
    const sxt_status status =
        for_each_entry(a, Range{0, a.s.rows}, [&](std::int64_t i, std::int64_t k, std::int64_t j) {
          const V value = V(values[k]);
          if (args.op == SXT_NO_TRANSPOSE) y[i] += product(alpha, product(value, x[j]));
          if (args.op == SXT_TRANSPOSE) y[j] += product(alpha, product(value, x[i]));
          if (args.op == SXT_CONJUGATE_TRANSPOSE) y[j] += product(alpha, product(conjugate(value), x[i]));
        });
    if (status != SXT_OK) return status;
  }
  return SXT_OK;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *) {
  const auto &state = *static_cast<const State *>(opaque);
  return with_matrix_types(state.type, state.a->s.value_type, [&](auto v, auto m) {
    return multiply<typename decltype(v)::type, typename decltype(m)::type>(*state.a, as<sxt_spmv_args>(head));
  });
}

}  // namespace

namespace sextant::spmv_reference {

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.reference.cpu", "cpu", "CSR entry by entry, one thread", run);
  k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
  k.storages = storages;
  k.term_names = cpu_terms;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.refresh = refresh;
  k.release = destroy<State>;
  return k;
}();

}  // namespace sextant::spmv_reference

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::spmv_reference;
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_kind *const kinds[] = {&kind.one};
  static const sxt_plugin plugin = describe("spmv-reference", kernels, kinds, 1);
  return *out = &plugin, SXT_OK;
}
