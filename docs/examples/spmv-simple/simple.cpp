// SPDX-License-Identifier: BSD-3-Clause
// com.example.spmv.simple: y = alpha A x + beta y on CSR in f64, one thread, written to be copied and changed.
#include <cstdint>

#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sdk/kernel.hpp"

using namespace sextant::plugin;

namespace {

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};              // what it can read
const char *const terms[] = {"launches", "stream_bytes", "flops", nullptr};  // what its time is made of

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.m.matrix_type != SXT_F64) return refuse(reason, "the matrix is stored in another type than f64");
  if (q.op != SXT_NO_TRANSPOSE) return refuse(reason, "op %d: it does not transpose", q.op);
  if (q.n_rhs != 1) return refuse(reason, "%d right-hand sides: it takes one", q.n_rhs);
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query).m;
  CandidateList list(out, capacity, count);
  sxt_candidate &one = list.add();
  one.launch[0] = 1;  // threads
  one.units = 1;
  one.n_terms = 3;
  one.terms[0] = 1;
  one.terms[1] =
      12.0 * static_cast<double>(q.nnz) + 20.0 * static_cast<double>(q.rows);  // column and value; pointer, x, y
  one.terms[2] = 2.0 * static_cast<double>(q.nnz);
  one.working_set_bytes = one.terms[1];
  return SXT_OK;
}

// The state is the storage itself: nothing to build, nothing to free.
sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *,
                   void **state) {
  *state = const_cast<sxt_head *>(problem->a);
  return SXT_OK;
}

template <class Offset, class Column>
sxt_status multiply(const sxt_csr &a, const sxt_spmv_args &args) {
  const auto *ptr = static_cast<const Offset *>(a.row_ptr);
  const auto *col = static_cast<const Column *>(a.col);
  const auto *values = static_cast<const double *>(a.values), *x = static_cast<const double *>(args.x);
  auto *y = static_cast<double *>(args.y);
  const double alpha = scalar(args.alpha, 1.0), beta = scalar(args.beta, 0.0);
  for (std::int64_t i = 0; i < a.s.rows; ++i) {
    double sum = 0;
    for (Offset k = ptr[i]; k < ptr[i + 1]; ++k) sum += values[k] * x[col[k]];
    y[i] = beta == 0 ? alpha * sum : alpha * sum + beta * y[i];  // beta = 0 must not read y
  }
  return SXT_OK;
}

sxt_status run(const void *state, void *, const sxt_head *args, const sxt_exec *) {
  const auto &a = as<sxt_csr>(static_cast<const sxt_head *>(state));
  return with_index_type(a.s.offset_type, [&](auto offset) {
    return with_index_type(a.s.index_type, [&](auto column) {
      return multiply<typename decltype(offset)::type, typename decltype(column)::type>(a, as<sxt_spmv_args>(args));
    });
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "com.example.spmv.simple", "cpu", "CSR row by row, one thread", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = type_bit(SXT_F64);
  k.storages = storages;
  k.term_names = terms;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = [] {
    sxt_plugin p{};
    p.magic = SXT_PLUGIN_MAGIC;
    p.abi_major = SXT_PLUGIN_ABI_MAJOR;
    p.abi_minor = SXT_PLUGIN_ABI_MINOR;
    p.struct_size = sizeof p;
    p.name = "spmv-simple";
    p.version = "1.0.0";
    p.n_kernels = 1;
    p.kernels = kernels;
    return p;
  }();
  *out = &plugin;
  return SXT_OK;
}
