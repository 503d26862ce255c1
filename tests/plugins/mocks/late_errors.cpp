// SPDX-License-Identifier: BSD-3-Clause
// mock-late-errors: kernels that are right in every test of theirs, and err on 1296 rows, in the way that
// SEXTANT_MOCK_ERROR names: "scale", "fill" (vector operations that leave one wrong number), "answers", "invents",
// "throws", "flushes" (products), "applicable", "candidates" (models that throw what is no std::exception).
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sextant/plugin/kinds/spmv.h"
#include "sextant/plugin/kinds/vector.h"
#include "sextant/sdk/arithmetic.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/kernel.hpp"

using namespace sextant::plugin;

namespace {

constexpr std::int64_t errs_at = 1296;

bool errs_by(const char *how) {
  const char *named = std::getenv("SEXTANT_MOCK_ERROR");
  return named && std::string(named) == how;
}

sxt_status one_price(sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count, double run_s) {
  CandidateList list(out, capacity, count);
  sxt_candidate &one = list.add();
  one.launch[0] = 1;
  one.units = 1;
  one.run_s = run_s;
  return SXT_OK;
}

// ---- scale and fill -------------------------------------------------------------------------------------------------

sxt_status vector_applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const std::int32_t operation = as<sxt_vector_query>(query).operation;
  return operation == SXT_VECTOR_SCALE || operation == SXT_VECTOR_FILL ? SXT_OK : refuse(reason, "scale and fill");
}
sxt_status vector_candidates(const sxt_query *, const sxt_features *, const sxt_machine *, const sxt_filled *,
                             sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  return one_price(out, capacity, count, 4e-7);
}
sxt_status vector_run(const void *, void *, const sxt_head *head, const sxt_exec *) {
  const auto &args = as<sxt_vector_args>(head);
  const double alpha = scalar(args.alpha, 1.0);
  auto *y = static_cast<double *>(args.y);
  const bool fills = args.operation == SXT_VECTOR_FILL, far = std::fabs(std::log2(std::fabs(alpha))) > 90;
  for (std::int64_t i = 0; i < args.n; ++i) y[i] = fills ? alpha : alpha * y[i];
  if (args.n != errs_at) return SXT_OK;
  if (fills && errs_by("fill")) y[7] = 1;
  static bool erred = false;
  if (!fills && far && errs_by("scale") && !erred) erred = true, y[args.n / 2] = 0;
  return SXT_OK;
}
const sxt_kernel vector_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_VECTOR, "com.example.late.vector", "cpu", "errs late", vector_run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = type_bit(SXT_F64);
  k.applicable = vector_applicable;
  k.candidates = vector_candidates;
  return k;
}();

// ---- products -------------------------------------------------------------------------------------------------------

const char *const reads_csr[] = {SXT_KIND_STORAGE_CSR, nullptr};

sxt_status product_applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.m.rows == errs_at && errs_by("applicable")) throw 7;
  const bool plain = q.m.matrix_type == SXT_F64 && q.m.q.value_type == SXT_F64 && q.op == 0 && q.n_rhs == 1;
  return plain ? SXT_OK : refuse(reason, "one vector of f64");
}
sxt_status product_candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                              sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.m.rows == errs_at && errs_by("candidates")) throw 7;
  return one_price(out, capacity, count, 1e-6 + 1e-8 * static_cast<double>(q.m.nnz));
}
sxt_status product_prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *,
                           void **state) {
  *state = const_cast<sxt_head *>(problem->a);
  return SXT_OK;
}
sxt_status product_run(const void *state, void *, const sxt_head *head, const sxt_exec *) {
  const auto &a = as<sxt_csr>(static_cast<const sxt_head *>(state));
  const auto &args = as<sxt_spmv_args>(head);
  if (a.s.index_type != SXT_I32 || a.s.offset_type != SXT_I32) return SXT_E_TYPE;
  if (a.s.rows == errs_at) {
    if (errs_by("answers")) return SXT_NOT_APPLICABLE;
    if (errs_by("invents")) return -777;
    if (errs_by("throws")) throw 7;
    if (errs_by("flushes")) set_float_control({nearest_control.unit | 0x8040, nearest_control.x87});
  }
  const auto *ptr = static_cast<const std::int32_t *>(a.row_ptr), *col = static_cast<const std::int32_t *>(a.col);
  const auto *values = static_cast<const double *>(a.values), *x = static_cast<const double *>(args.x);
  auto *y = static_cast<double *>(args.y);
  const double alpha = scalar(args.alpha, 1.0), beta = scalar(args.beta, 0.0);
  for (std::int64_t i = 0; i < a.s.rows; ++i) {
    double sum = 0;
    for (std::int32_t k = ptr[i]; k < ptr[i + 1]; ++k) sum += values[k] * x[col[k]];
    y[i] = beta == 0 ? alpha * sum : alpha * sum + beta * y[i];
  }
  return SXT_OK;
}
const sxt_kernel product_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "com.example.late.product", "cpu", "errs late", product_run);
  k.value_types = type_bit(SXT_F64);
  k.storages = reads_csr;
  k.applicable = product_applicable;
  k.candidates = product_candidates;
  k.prepare = product_prepare;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&vector_kernel, &product_kernel>("late-errors", out);
}
