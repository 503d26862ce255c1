// SPDX-License-Identifier: BSD-3-Clause
// spmv_dots.reference.cpu: the product on CSR entry by entry, then one inner product after the other in long double.
#include <cstdint>

#include "spmv_dots_reference.hpp"

#include "plugins/formats/csr_reference.hpp"
#include "sextant/sdk/wide.hpp"

using namespace sextant::plugin;

namespace {

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
  fill(list.add(), 1, cost).state_bytes = sizeof(CsrState);
  return SXT_OK;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *) {
  const auto &state = *static_cast<const CsrState *>(opaque);
  const auto &args = as<sxt_spmv_dots_args>(head);
  const std::int64_t n = args.m.op == SXT_NO_TRANSPOSE ? state.a->s.rows : state.a->s.cols;
  return with_matrix_types(state.type, state.a->s.value_type, [&](auto v_tag, auto m_tag) {
    using V = typename decltype(v_tag)::type;
    const sxt_status status = multiply_entries<V, typename decltype(m_tag)::type>(
        *state.a, args.m, static_cast<const V *>(args.m.x), static_cast<V *>(args.m.y));
    if (status != SXT_OK) return status;
    for (std::int32_t d = 0; d < args.n_dots; ++d) {
      // An absent vector means the new y.
      const void *u = args.u[d] ? args.u[d] : args.m.y, *v = args.v[d] ? args.v[d] : args.m.y;
      static_cast<V *>(args.dots)[d] = wide_dot(static_cast<const V *>(u), static_cast<const V *>(v), n);
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
  k.storages = csr_storages;
  k.term_names = cpu_terms;
  set_calls<CsrState>(k, {applicable, candidates, prepare_csr, refresh_pointer<CsrState>});
  return k;
}();

}  // namespace sextant::spmv_dots_reference

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::spmv_dots_reference;
  return offer<&kernel, &kind.one>("spmv_dots-reference", out);
}
