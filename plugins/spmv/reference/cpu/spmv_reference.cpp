// SPDX-License-Identifier: BSD-3-Clause
// spmv.reference.cpu: y = alpha op(A) x + beta y on CSR, one entry after the other, to be read and compared with.
#include <cstdint>

#include "spmv_reference.hpp"

#include "plugins/formats/csr_reference.hpp"

using namespace sextant::plugin;

namespace {

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
  fill(list.add(), 1, cost).state_bytes = sizeof(CsrState);
  return SXT_OK;
}

template <class V, class M>
sxt_status multiply(const sxt_csr &a, const sxt_spmv_args &args) {
  sxt_status status = SXT_OK;
  for (std::int32_t r = 0; r < args.n_rhs && status == SXT_OK; ++r)
    status = multiply_entries<V, M>(a, args, static_cast<const V *>(args.x) + r * args.ldx,
                                    static_cast<V *>(args.y) + r * args.ldy);
  return status;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *) {
  const auto &state = *static_cast<const CsrState *>(opaque);
  return with_matrix_types(state.type, state.a->s.value_type, [&](auto v, auto m) {
    return multiply<typename decltype(v)::type, typename decltype(m)::type>(*state.a, as<sxt_spmv_args>(head));
  });
}

}  // namespace

namespace sextant::spmv_reference {

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.reference.cpu", "cpu", "CSR entry by entry, one thread", run);
  k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
  k.storages = csr_storages;
  k.term_names = cpu_terms;
  set_calls<CsrState>(k, {applicable, candidates, prepare_csr, refresh_pointer<CsrState>});
  return k;
}();

}  // namespace sextant::spmv_reference

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::spmv_reference;
  return offer<&kernel, &kind.one>("spmv-reference", out);
}
