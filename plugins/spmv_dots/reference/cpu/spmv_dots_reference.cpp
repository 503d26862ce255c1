// SPDX-License-Identifier: BSD-3-Clause
// spmv_dots.reference.cpu: the product on CSR entry by entry, then one inner product after the other in long double.
#include <cstdint>

#include "spmv_dots_reference.hpp"

#include "sextant/sdk/cpu/csr.hpp"

using namespace sextant::plugin;

namespace {

using Long = std::complex<long double>;

struct State {
  const sxt_csr *a;
  sxt_value_type type;  // of the vectors
};

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_dots_query>(query).m;
  if (q.n_rhs > 1) return refuse(reason, "%d right-hand sides, the kind takes one", q.n_rhs);
  return check_matrix_types(q.m.q.value_type, q.m.matrix_type, reason);
}

// One thread; every product waits for the sum before it, the inner products are in extended precision.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_dots_query>(query);
  const sxt_matrix_query &m = q.m.m;
  const double vectors = static_cast<double>(value_bytes(m.q.value_type));
  const double nnz = static_cast<double>(m.nnz), rows = static_cast<double>(m.rows), cols = static_cast<double>(m.cols);
  const double matrix_bytes = nnz * (static_cast<double>(value_bytes(m.matrix_type)) + 4) + 4 * rows;
  CpuCost cost;
  cost.stream_bytes = matrix_bytes + vectors * (2 * rows + cols) + 2 * vectors * rows * q.n_dots;
  cost.flops =
      (4 * nnz + 8 * rows * q.n_dots) * multiply_add_flops(m.q.value_type) * scalar_slowdown(*machine, m.q.value_type);
  cost.working_set = matrix_bytes + vectors * (rows + cols);
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
sxt_status multiply(const sxt_csr &a, const sxt_spmv_args &args, std::int64_t n) {
  const V alpha = scalar(args.alpha, V(1)), beta = scalar(args.beta, V(0));
  const M *values = static_cast<const M *>(a.values);
  const V *x = static_cast<const V *>(args.x);
  V *y = static_cast<V *>(args.y);
  for (std::int64_t i = 0; i < n; ++i) y[i] = beta == V(0) ? V(0) : product(beta, y[i]);
  return for_each_entry(a, Range{0, a.s.rows}, [&](std::int64_t i, std::int64_t k, std::int64_t j) {
    const V value = V(values[k]);
    if (args.op == SXT_NO_TRANSPOSE) y[i] += product(alpha, product(value, x[j]));
    if (args.op == SXT_TRANSPOSE) y[j] += product(alpha, product(value, x[i]));
    if (args.op == SXT_CONJUGATE_TRANSPOSE) y[j] += product(alpha, product(conjugate(value), x[i]));
  });
}

template <class V>
V dot(const V *u, const V *v, std::int64_t n) {
  Long total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += product(std::conj(Long(u[i])), Long(v[i]));
  if constexpr (is_complex<V>)
    return V(static_cast<real_of<V>>(total.real()), static_cast<real_of<V>>(total.imag()));
  else
    return static_cast<V>(total.real());
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_dots_args>(head);
  const std::int64_t n = args.m.op == SXT_NO_TRANSPOSE ? state.a->s.rows : state.a->s.cols;
  return with_matrix_types(state.type, state.a->s.value_type, [&](auto v_tag, auto m_tag) {
    using V = typename decltype(v_tag)::type;
    const sxt_status status = multiply<V, typename decltype(m_tag)::type>(*state.a, args.m, n);
    if (status != SXT_OK) return status;
    for (std::int32_t d = 0; d < args.n_dots; ++d) {
      // An absent vector means the new y.
      const void *u = args.u[d] ? args.u[d] : args.m.y, *v = args.v[d] ? args.v[d] : args.m.y;
      static_cast<V *>(args.dots)[d] = dot(static_cast<const V *>(u), static_cast<const V *>(v), n);
    }
    return status;
  });
}

}  // namespace

namespace sextant::spmv_dots_reference {

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV_DOTS, "spmv_dots.reference.cpu", "cpu",
                            "CSR entry by entry, then the inner products, one thread", run);
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

}  // namespace sextant::spmv_dots_reference

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::spmv_dots_reference;
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_kind *const kinds[] = {&kind.one};
  static const sxt_plugin plugin = describe("spmv_dots-reference", kernels, kinds, 1);
  return *out = &plugin, SXT_OK;
}
