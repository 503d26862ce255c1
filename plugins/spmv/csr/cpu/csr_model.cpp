// SPDX-License-Identifier: BSD-3-Clause
// The performance model of the CSR kernels; README gives the formulas.
#include "csr_model.hpp"

#include <cstdint>

namespace sextant::spmv_csr {

using namespace plugin;

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};
const char *const features[] = {SXT_X_FEATURES,       SXT_ROW_FEATURES,       "row_nnz_sum_ceil_8",
                                "row_nnz_unforeseen", "row_nnz_unforeseen_8", nullptr};

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.m.cols >= std::int64_t{1} << 31)
    return refuse(reason, "%lld columns do not fit the 32-bit columns it reads", (long long)q.m.cols);
  return check_matrix_types(q.m.q.value_type, q.m.matrix_type, reason);
}

SpmvCost cost_of(const sxt_spmv_query &q, const sxt_machine &machine, bool scalar) {
  const double nnz = static_cast<double>(q.m.nnz), rows = static_cast<double>(q.m.rows);
  const double value = static_cast<double>(value_bytes(q.m.matrix_type));
  const double offset = q.m.nnz < std::int64_t{1} << 31 ? 4 : 8;
  SpmvCost cost;
  cost.matrix_bytes = nnz * (value + 4) + rows * offset;
  cost.lanes = nnz;
  cost.steps = rows;
  if (!scalar) return cost;
  cost.passes = q.n_rhs / rhs_block + q.n_rhs % rhs_block;
  cost.slowdown = scalar_slowdown(machine, q.m.q.value_type);
  return cost;
}

double row_mispredictions(const sxt_spmv_query &q, const sxt_features *found, int threads, bool in_lanes) {
  // Unknown: rows alike.
  const double surprises = feature_or(found, in_lanes ? feature_unforeseen_8 : feature_unforeseen, 0);
  return q.op == SXT_NO_TRANSPOSE ? mispredictions(surprises, threads, predicted_rows) : surprises;
}

double lanes_of(const sxt_spmv_query &q, const sxt_features *found) {
  // Unknown: the last of a row's steps is half full.
  const double guess = static_cast<double>(q.m.nnz) + 3.5 * static_cast<double>(q.m.rows);
  return feature_or(found, feature_ceil_8, guess);
}

sxt_status check_columns(const sxt_csr &a, const char *kernel, const sxt_exec *exec) {
  if (a.s.index_type == SXT_I32) return SXT_OK;
  return error(exec, SXT_E_NOT_SUPPORTED, "%s reads 32-bit columns, this matrix has 64-bit ones", kernel);
}

}  // namespace sextant::spmv_csr
