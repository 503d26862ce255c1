// SPDX-License-Identifier: BSD-3-Clause
// The performance model of the COO kernels; README gives the formulas.
#include <cstdint>

#include "coo_model.hpp"

namespace sextant::spmv_coo {

using namespace plugin;

const char *const storages[] = {SXT_KIND_STORAGE_COO, nullptr};

sxt_status check_types(const sxt_spmv_query &q, sxt_message *reason) {
  if (with_matrix_types(q.m.q.value_type, q.m.matrix_type, [](auto, auto) { return SXT_OK; }) == SXT_OK) return SXT_OK;
  return refuse(reason, "a %s matrix with %s vectors is not offered", value_name(q.m.matrix_type),
                value_name(q.m.q.value_type));
}

CpuCost cost_of(const sxt_spmv_query &q, const sxt_machine &machine) {
  const double nnz = static_cast<double>(q.m.nnz), rows = static_cast<double>(q.m.rows),
               cols = static_cast<double>(q.m.cols);
  const double element = static_cast<double>(value_bytes(q.m.q.value_type));
  const bool wide = std::max(q.m.rows, q.m.cols) >= std::int64_t{1} << 31;
  const double entry = static_cast<double>(value_bytes(q.m.matrix_type)) + (wide ? 16 : 8);
  const double written = q.op == SXT_NO_TRANSPOSE ? rows : cols, gathered = q.op == SXT_NO_TRANSPOSE ? cols : rows;

  CpuCost cost;
  // y is written when it is scaled, then read and written again; A is read once a right-hand side.
  cost.stream_bytes = q.n_rhs * (nnz * entry + element * (gathered + 4 * written));
  cost.working_set = nnz * entry + q.n_rhs * element * (rows + cols);
  // The vector met out of order: free in a core's own cache; beyond, one access in sixteen is taken to miss.
  const double random_bytes = element * cols, cache = static_cast<double>(machine.unit_cache_bytes);
  if (random_bytes > cache) cost.gathers = q.n_rhs * nnz / 16 * (1 - cache / random_bytes);
  cost.flops =
      q.n_rhs * (nnz + rows) * multiply_add_flops(q.m.q.value_type) * scalar_slowdown(machine, q.m.q.value_type);
  return cost;
}

}  // namespace sextant::spmv_coo
