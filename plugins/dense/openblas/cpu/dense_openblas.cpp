// SPDX-License-Identifier: BSD-3-Clause
// dense.openblas.cpu: large dense operations by a copy of OpenBLAS of the plugin's own, each call on its own thread.
#include <cmath>
#include <cstdint>
#include <limits>

#include "blas.hpp"
#include "plugins/dense/shared/blocked.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant_dense;

namespace {

// A call packs its operands, which costs their bytes, and has panels that run below the peak: a factor and a fixed cost
// as measured with OpenBLAS; calibration replaces them.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_dense_query>(query);
  CpuCost cost;
  cost.working_set = working_set(q);
  cost.flops = 1.15 * q.flops;
  cost.stream_bytes = 2 * cost.working_set * static_cast<double>(q.count);
  CandidateList list(out, capacity, count);
  sxt_candidate &c = fill(list.add(), 1, cost);
  c.terms[5] = 600 * static_cast<double>(q.count);
  c.n_terms = 6;
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec, void **state) {
  return guard(exec, [&]() -> sxt_status {
    *state = nullptr;
    if (Blas::instance().is_open()) return SXT_OK;
    return error(exec, SXT_E_NOT_SUPPORTED, "BLAS cannot be used (apt-get install libopenblas0): %s",
                 Blas::instance().why());
  });
}

// LAPACK's info as the kind wants it: libraries differ in whether a pivot that is not finite stops them.
template <class T>
std::int32_t first_bad(View<T> a, std::int64_t n, int info) {
  const std::int64_t reached = info > 0 ? info : n;
  for (std::int64_t j = 0; j < reached; ++j)
    if (!std::isfinite(std::real(a(j, j)))) return static_cast<std::int32_t>(j + 1);
  return info;
}

template <class T>
std::int32_t factor(const Calls<T> &calls, const sxt_dense_args &d, View<T> a, std::int64_t n, std::uint8_t *marks) {
  if (n == 0) return 0;
  const PivotRule rule = pivot_rule(d);
  const bool plain = rule.definite && rule.policy == SXT_PIVOT_POLICY_FAIL && rule.tolerance <= 0;
  return plain ? first_bad(a, n, calls.potrf(a, n)) : factor_by_halves(calls, a, n, rule, marks);
}

template <class T>
std::int32_t work(const Calls<T> &calls, const sxt_dense_args &d, std::int64_t g) {
  const Item<T> x = item_of<T>(d, g);
  const bool unit = d.unit != 0;
  switch (d.operation) {
    case SXT_DENSE_POTRF:
    case SXT_DENSE_LDLH: return factor(calls, d, x.a, x.n, marks_of(d, g));
    case SXT_DENSE_TRSM:
      calls.trsm(x.a, x.b, x.m, x.n, unit);
      if (x.d) divide_columns(x.b, x.m, x.n, x.d, x.incd);
      return 0;
    case SXT_DENSE_SYRK:
      if (x.d) return update(calls, x.a, x.a, x.c, {x.n, x.n, x.k}, x.d, x.incd, true), 0;
      return x.n && x.k ? calls.syrk(x.a, x.c, x.n, x.k) : void(), 0;
    case SXT_DENSE_GEMM: return update(calls, x.a, x.b, x.c, {x.m, x.n, x.k}, x.d, x.incd, false), 0;
    case SXT_DENSE_GEMMT: return update(calls, x.a, x.b, x.c, {x.n, x.n, x.k}, x.d, x.incd, true), 0;
    case SXT_DENSE_FORWARD: return calls.forward(x.a, x.b, x.m, x.n, unit), 0;
    case SXT_DENSE_BACKWARD: return calls.backward(x.a, x.b, x.m, x.n, unit), 0;
    case SXT_DENSE_RIGHT: return calls.right(x.a, x.b, x.m, x.n, unit), 0;
    default: return calls.product(x.a, x.b, x.c, x.m, x.n, x.k, d.operation == SXT_DENSE_PRODUCT_H), 0;
  }
}

bool fits(const std::int64_t *ld, std::int64_t g) { return !ld || ld[g] <= std::numeric_limits<int>::max(); }

sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_dense_args>(head);
  if (const sxt_status wrong = check(args, exec)) return wrong;
  return with_value_type(args.value_type, [&](auto tag) -> sxt_status {
    const Calls<typename decltype(tag)::type> calls(Blas::instance().of[args.value_type - 1]);
    const BlasCallers::Inside inside(Blas::instance().callers);
    for (std::int64_t g = 0; g < args.count; ++g) {
      if (!fits(args.lda, g) || !fits(args.ldb, g) || !fits(args.ldc, g))
        return error(exec, SXT_E_NOT_SUPPORTED, "a leading dimension is beyond BLAS's integers");
      const std::int32_t info = work(calls, args, g);
      if (args.info) args.info[g] = info;
    }
    return SXT_OK;
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_DENSE, "dense.openblas.cpu", "cpu",
                            "BLAS and LAPACK (OpenBLAS where it is there), each call on its own thread", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_step_terms;
  k.candidates = candidates;
  k.prepare = prepare;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("dense-openblas", out);
}
