// SPDX-License-Identifier: BSD-3-Clause
// The performance model of the CSR kernels; README gives the formulas.
#include "csr_model.hpp"

#include <cmath>
#include <cstdint>

#include "csr_product.hpp"

namespace sextant::spmv_csr {

using namespace plugin;

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};
const char *const features[] = {"row_nnz_max", "row_nnz_std", nullptr};

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.m.cols >= std::int64_t{1} << 31)
    return refuse(reason, "%lld columns do not fit the 32-bit columns it reads", (long long)q.m.cols);
  if (with_matrix_types(q.m.q.value_type, q.m.matrix_type, [](auto, auto) { return SXT_OK; }) == SXT_OK) return SXT_OK;
  return refuse(reason, "a %s matrix with %s vectors is not offered", value_name(q.m.matrix_type),
                value_name(q.m.q.value_type));
}

CpuCost cost_of(const sxt_spmv_query &q, const sxt_machine &machine, int threads) {
  const double nnz = static_cast<double>(q.m.nnz), rows = static_cast<double>(q.m.rows),
               cols = static_cast<double>(q.m.cols);
  const double value = static_cast<double>(value_bytes(q.m.matrix_type));
  const double element = static_cast<double>(value_bytes(q.m.q.value_type));
  const double offset = q.m.nnz < std::int64_t{1} << 31 ? 4 : 8;
  const bool transposed = q.op != SXT_NO_TRANSPOSE;
  const double passes = q.n_rhs / rhs_block + q.n_rhs % rhs_block;  // times A is read
  // Transposed, every thread walks all row pointers and the columns of short rows.
  const double walks = transposed ? threads : 1;
  const double arrays = nnz * value + walks * (nnz * 4 + rows * offset);

  CpuCost cost;
  const double gathered = transposed ? rows : cols, written = transposed ? cols : rows;
  cost.stream_bytes = passes * arrays + q.n_rhs * element * (gathered * walks + 2 * written);
  cost.working_set = nnz * (value + 4) + rows * offset + q.n_rhs * element * (rows + cols);
  // The randomly accessed vector: x, or y when transposed. In a core's own cache it costs nothing; beyond, one access
  // in sixteen is taken to miss in a mesh numbered with some locality.
  const double random_bytes = element * (transposed ? written / threads : gathered);
  const double cache = static_cast<double>(machine.unit_cache_bytes);
  if (random_bytes > cache) cost.gathers = q.n_rhs * nnz / 16 * (1 - cache / random_bytes);
  cost.flops =
      q.n_rhs * (nnz + rows) * multiply_add_flops(q.m.q.value_type) * scalar_slowdown(machine, q.m.q.value_type);
  return cost;
}

double row_imbalance(const sxt_spmv_query &q, const sxt_features *found, int threads) {
  if (threads <= 1 || q.m.nnz == 0 || q.m.rows == 0) return 1;
  const double share = static_cast<double>(q.m.nnz) / threads, rows = static_cast<double>(q.m.rows) / threads;
  const double longest = feature(found, 0), spread = feature(found, 1);
  double busiest = share;
  // The sum of so many independent row lengths strays by about two deviations in the unluckiest thread.
  if (std::isfinite(spread)) busiest = share + 2 * spread * std::sqrt(rows);
  // The longest row is somebody's, beside the rest of his rows.
  if (std::isfinite(longest)) busiest = std::max(busiest, longest);
  return std::min<double>(threads, busiest / share);
}

sxt_status check_columns(const sxt_csr &a, const char *kernel, const sxt_exec *exec) {
  if (a.s.index_type == SXT_I32) return SXT_OK;
  return error(exec, SXT_E_NOT_SUPPORTED, "%s reads 32-bit columns, this matrix has 64-bit ones", kernel);
}

}  // namespace sextant::spmv_csr
