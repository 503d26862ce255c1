// SPDX-License-Identifier: BSD-3-Clause
// The performance model of the COO kernels; README gives the formulas.
#include <cstdint>

#include "coo_model.hpp"

namespace sextant::spmv_coo {

using namespace plugin;

const char *const storages[] = {SXT_KIND_STORAGE_COO, nullptr};

const char *const features[] = {SXT_X_FEATURES, nullptr};

SpmvCost cost_of(const sxt_spmv_query &q, const sxt_machine &machine) {
  const double nnz = static_cast<double>(q.m.nnz);
  const double element = static_cast<double>(value_bytes(q.m.q.value_type));
  const bool wide = std::max(q.m.rows, q.m.cols) >= std::int64_t{1} << 31;
  const double written = static_cast<double>(q.op == SXT_NO_TRANSPOSE ? q.m.rows : q.m.cols);
  SpmvCost cost;
  cost.matrix_bytes = nnz * (static_cast<double>(value_bytes(q.m.matrix_type)) + (wide ? 16 : 8));
  cost.passes = q.n_rhs;
  cost.lanes = nnz;
  cost.steps = static_cast<double>(q.m.rows);
  cost.slowdown = scalar_slowdown(machine, q.m.q.value_type);
  // y is passed once more: scaled first, then added to.
  cost.extra_bytes = 2 * q.n_rhs * element * written;
  return cost;
}

}  // namespace sextant::spmv_coo
