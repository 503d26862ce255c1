// SPDX-License-Identifier: BSD-3-Clause
// The performance model of the COO kernels; README gives the formulas.
#include <cstdint>

#include "coo_model.hpp"

namespace sextant::spmv_coo {

using namespace plugin;

const char *const storages[] = {SXT_KIND_STORAGE_COO, nullptr};

const char *const features[] = {SXT_X_FEATURES, "row_nnz_unforeseen", "row_nnz_sum_mod_8", nullptr};
enum { feature_unforeseen = n_x_features, feature_rest };

namespace {

// Rows of irregular lengths that fit a core's branch predictor: one by one, fewer than in lanes or with CSR, since
// every entry tests twice whether there is another.
constexpr double predicted_rows = 1000, predicted_rows_in_lanes = 3000;

}  // namespace

SpmvCost cost_of(const sxt_spmv_query &q, const sxt_features *found, const sxt_machine &machine, int threads) {
  const double nnz = static_cast<double>(q.m.nnz);
  const double element = static_cast<double>(value_bytes(q.m.q.value_type));
  const bool wide = std::max(q.m.rows, q.m.cols) >= std::int64_t{1} << 31;
  const double written = static_cast<double>(q.op == SXT_NO_TRANSPOSE ? q.m.rows : q.m.cols);
  SpmvCost cost;
  cost.matrix_bytes = nnz * (static_cast<double>(value_bytes(q.m.matrix_type)) + (wide ? 16 : 8));
  cost.passes = q.n_rhs;
  cost.lanes = nnz;
  cost.steps = static_cast<double>(q.m.rows);
  cost.mispredictions = mispredictions(feature_or(found, feature_unforeseen, 0), threads, predicted_rows);
  cost.slowdown = scalar_slowdown(machine, q.m.q.value_type);
  // y is passed once more: scaled first, then added to.
  cost.extra_bytes = 2 * q.n_rhs * element * written;
  return cost;
}

void go_in_lanes(const sxt_spmv_query &q, const sxt_features *found, int threads, SpmvCost &cost) {
  const double nnz = static_cast<double>(q.m.nnz);
  // Unknown: rows shorter than eight are common where rows are short.
  const double rest = std::min(nnz, feature_or(found, feature_rest, 3.5 * static_cast<double>(q.m.rows)));
  cost.lanes = nnz - rest;
  cost.slowdown = SpmvCost().slowdown;
  cost.steps += rest;
  cost.mispredictions = mispredictions(feature_or(found, feature_unforeseen, 0), threads, predicted_rows_in_lanes);
}

}  // namespace sextant::spmv_coo
