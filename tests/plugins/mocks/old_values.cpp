// SPDX-License-Identifier: BSD-3-Clause
// mock-old-values: kernels whose refresh a test observes, makes fail or makes slow by environment variables: a product
// that multiplies by a copy of the values, a builder of coordinates, and a slow diagonal preconditioner.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/plugin/kinds/storage.h"
#include "sextant/sdk/kernel.hpp"
#include "sextant/sdk/third_party.hpp"

using namespace sextant::plugin;

namespace {

bool is_set(const char *name) { return std::getenv(name) != nullptr; }

const char *const reads_csr[] = {SXT_KIND_STORAGE_CSR, nullptr};

sxt_status one_price(sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count, double run_s, double setup_s) {
  CandidateList list(out, capacity, count);
  sxt_candidate &one = list.add();
  one.launch[0] = 1;
  one.units = 1;
  one.run_s = run_s;
  one.setup_s = setup_s;
  return SXT_OK;
}

bool plain_csr(const sxt_csr &a) { return a.s.index_type == SXT_I32 && a.s.offset_type == SXT_I32; }

// ---- y = alpha A x + beta y, by a copy of the values --------------------------------------------------------------

struct Own {
  const sxt_csr *a;
  std::vector<double> values;
};

void take(Own &own, const sxt_problem &problem) {
  own.a = &as<sxt_csr>(problem.a);
  const auto *values = static_cast<const double *>(own.a->values);
  own.values.assign(values, values + own.a->s.nnz);
}

sxt_status own_applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.m.matrix_type != SXT_F64 || q.m.q.value_type != SXT_F64) return refuse(reason, "it computes in f64");
  if (q.op != SXT_NO_TRANSPOSE || q.n_rhs != 1) return refuse(reason, "it multiplies one vector by A");
  return SXT_OK;
}
sxt_status own_candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                          sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  return one_price(out, capacity, count, 1e-6 + 1e-8 * static_cast<double>(as<sxt_matrix_query>(query).nnz), 0);
}
sxt_status own_prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                       void **state) {
  if (!plain_csr(as<sxt_csr>(problem->a))) return error(exec, SXT_E_NOT_SUPPORTED, "it reads 32-bit indices");
  auto *own = new Own{};
  take(*own, *problem);
  *state = own;
  return SXT_OK;
}
sxt_status own_refresh(void *state, const sxt_problem *problem, const sxt_exec *) {
  const char *before = std::getenv("SEXTANT_MOCK_REFRESHES");
  setenv("SEXTANT_MOCK_REFRESHES", std::to_string(before ? std::atoi(before) + 1 : 1).c_str(), 1);
  take(*static_cast<Own *>(state), *problem);
  return SXT_OK;
}
sxt_status own_run(const void *state, void *, const sxt_head *head, const sxt_exec *) {
  const auto &own = *static_cast<const Own *>(state);
  const auto &args = as<sxt_spmv_args>(head);
  const auto *ptr = static_cast<const std::int32_t *>(own.a->row_ptr),
             *col = static_cast<const std::int32_t *>(own.a->col);
  const auto *x = static_cast<const double *>(args.x);
  auto *y = static_cast<double *>(args.y);
  const double alpha = args.alpha.value ? *static_cast<const double *>(args.alpha.value) : 1;
  const double beta = args.beta.value ? *static_cast<const double *>(args.beta.value) : 0;
  for (std::int64_t i = 0; i < own.a->s.rows; ++i) {
    double sum = 0;
    for (std::int32_t k = ptr[i]; k < ptr[i + 1]; ++k) sum += own.values[static_cast<std::size_t>(k)] * x[col[k]];
    y[i] = beta == 0 ? alpha * sum : alpha * sum + beta * y[i];
  }
  return SXT_OK;
}

// ---- coordinates whose refresh may fail ----------------------------------------------------------------------------

struct Coordinates {
  sxt_coo view{};
  std::vector<std::int32_t> row;
  std::vector<double> values;
};

sxt_status coo_applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  if (!is_set("SEXTANT_MOCK_COO")) return refuse(reason, "it serves one test only");
  return as<sxt_matrix_query>(query).matrix_type == SXT_F64 ? SXT_OK : refuse(reason, "it holds f64");
}
sxt_status coo_candidates(const sxt_query *, const sxt_features *, const sxt_machine *, const sxt_filled *,
                          sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  return one_price(out, capacity, count, 1e-12, 1e-12);
}
sxt_status coo_fill(Coordinates &coo, const sxt_csr &a) {
  const auto *values = static_cast<const double *>(a.values);
  coo.values.assign(values, values + a.s.nnz);
  coo.view.values = coo.values.data();
  return SXT_OK;
}
sxt_status coo_prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                       void **state) {
  const auto &a = as<sxt_csr>(problem->a);
  if (!plain_csr(a)) return error(exec, SXT_E_NOT_SUPPORTED, "it reads 32-bit indices");
  auto *coo = new Coordinates{};
  const auto *ptr = static_cast<const std::int32_t *>(a.row_ptr), *col = static_cast<const std::int32_t *>(a.col);
  for (std::int64_t i = 0; i < a.s.rows; ++i)
    coo->row.insert(coo->row.end(), static_cast<std::size_t>(ptr[i + 1] - ptr[i]), static_cast<std::int32_t>(i));
  coo->view.s = a.s;
  coo->view.s.h = head<sxt_coo>(SXT_KIND_STORAGE_COO);
  coo->view.row = coo->row.data();
  coo->view.col = col;
  *state = coo;
  return coo_fill(*coo, a);
}
sxt_status coo_refresh(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  if (is_set("SEXTANT_MOCK_REFRESH_FAILS")) return error(exec, SXT_E_MEMORY, "the mock has no memory");
  return coo_fill(*static_cast<Coordinates *>(state), as<sxt_csr>(problem->a));
}
sxt_status no_run(const void *, void *, const sxt_head *, const sxt_exec *) { return SXT_OK; }
const sxt_storage *coo_view(const void *state) { return &static_cast<const Coordinates *>(state)->view.s; }
std::uint64_t coo_bytes(const void *state) { return static_cast<const Coordinates *>(state)->values.size() * 12; }
const sxt_storage_ops coo_ops{sizeof(sxt_storage_ops), coo_view, coo_bytes, nullptr, nullptr, nullptr};

// ---- M = D^-1, whose set-up may be slow ---------------------------------------------------------------------

struct Diagonal {
  std::vector<double> inverse;
};

sxt_status m_applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  if (!is_set("SEXTANT_MOCK_SLOW")) return refuse(reason, "it serves one test only");
  const auto &q = as<sxt_preconditioner_query>(query);
  if (*q.method && std::strcmp(q.method, "mock-slow") != 0) return refuse(reason, "another method");
  return q.m.matrix_type == SXT_F64 && q.m.q.value_type == SXT_F64 ? SXT_OK : refuse(reason, "it computes in f64");
}
sxt_status m_candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                        sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  return one_price(out, capacity, count, 1e-9 * static_cast<double>(as<sxt_matrix_query>(query).rows), 1e-6);
}
sxt_status m_compute(Diagonal &m, const sxt_csr &a, const sxt_exec *exec) {
  if (!plain_csr(a)) return error(exec, SXT_E_NOT_SUPPORTED, "it reads 32-bit indices");
  if (is_set("SEXTANT_MOCK_SLEEPS")) std::this_thread::sleep_for(std::chrono::milliseconds(400));
  m.inverse.assign(static_cast<std::size_t>(a.s.rows), 0);
  const auto *ptr = static_cast<const std::int32_t *>(a.row_ptr), *col = static_cast<const std::int32_t *>(a.col);
  const auto *values = static_cast<const double *>(a.values);
  for (std::int64_t i = 0; i < a.s.rows; ++i) {
    for (std::int32_t k = ptr[i]; k < ptr[i + 1]; ++k)
      if (col[k] == i) m.inverse[static_cast<std::size_t>(i)] = 1 / values[k];
    const double found = m.inverse[static_cast<std::size_t>(i)];
    if (!(found > 0))
      return error(exec, SXT_E_NOT_POSITIVE_DEFINITE, "row %lld has no positive diagonal", (long long)i);
  }
  return SXT_OK;
}
sxt_status m_prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                     void **state) {
  auto *m = new Diagonal{};
  const sxt_status status = m_compute(*m, as<sxt_csr>(problem->a), exec);
  if (status == SXT_OK)
    *state = m;
  else
    delete m;
  return status;
}
sxt_status m_refresh(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  return m_compute(*static_cast<Diagonal *>(state), as<sxt_csr>(problem->a), exec);
}
sxt_status m_run(const void *state, void *, const sxt_head *head, const sxt_exec *) {
  const auto &m = *static_cast<const Diagonal *>(state);
  const auto &args = as<sxt_preconditioner_args>(head);
  for (std::size_t i = 0; i < m.inverse.size(); ++i)
    static_cast<double *>(args.z)[i] = m.inverse[i] * static_cast<const double *>(args.r)[i];
  return SXT_OK;
}
const sxt_preconditioner_ops m_ops = [] {
  sxt_preconditioner_ops ops{};
  ops.struct_size = sizeof ops;
  ops.method = "mock-slow";
  ops.typical_iterations = 0.05;  // predicted to be the fastest, so that it is tried first
  return ops;
}();

const sxt_kernel own = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "com.example.own-values", "cpu", "a product by its own values", own_run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = 1u << SXT_F64;
  k.storages = reads_csr;
  k.applicable = own_applicable;
  k.candidates = own_candidates;
  k.prepare = own_prepare;
  k.refresh = own_refresh;
  k.release = destroy<Own>;
  return k;
}();
const sxt_kernel coo = [] {
  sxt_kernel k = new_kernel(SXT_KIND_STORAGE_COO, "com.example.coo", "cpu", "coordinates", no_run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.ops = &coo_ops;
  k.applicable = coo_applicable;
  k.candidates = coo_candidates;
  k.prepare = coo_prepare;
  k.refresh = coo_refresh;
  k.release = destroy<Coordinates>;
  return k;
}();
const sxt_kernel slow = [] {
  sxt_kernel k = new_kernel(SXT_KIND_PRECONDITIONER, "com.example.slow", "cpu", "the diagonal, slowly", m_run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = 1u << SXT_F64;
  k.storages = reads_csr;
  k.ops = &m_ops;
  k.applicable = m_applicable;
  k.candidates = m_candidates;
  k.prepare = m_prepare;
  k.refresh = m_refresh;
  k.release = destroy<Diagonal>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer_as<&own, &coo, &slow>("mock-old-values", "1.0", nullptr, nullptr, out);
}
