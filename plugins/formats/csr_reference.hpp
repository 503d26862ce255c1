// SPDX-License-Identifier: BSD-3-Clause
// The product of the reference kernels on CSR: one entry after the other, to be read and compared with.
#pragma once

#include <cstdint>

#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sdk/cpu/csr.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::plugin {

struct CsrState {
  const sxt_csr *a;
  sxt_value_type type;  // of the vectors
};

inline sxt_status prepare_csr(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *,
                              const sxt_exec *exec, void **state) {
  return guard(exec, [&] { return give(new CsrState{&as<sxt_csr>(problem->a), problem->query->value_type}, state); });
}

inline constexpr const char *csr_storages[] = {SXT_KIND_STORAGE_CSR, nullptr};

// y = alpha op(A) x + beta y for vectors of V and values stored as M.
template <class V, class M>
sxt_status multiply_entries(const sxt_csr &a, const sxt_spmv_args &args, const V *x, V *y) {
  const V alpha = scalar(args.alpha, V(1)), beta = scalar(args.beta, V(0));
  const M *values = static_cast<const M *>(a.values);
  const std::int64_t results = args.op == SXT_NO_TRANSPOSE ? a.s.rows : a.s.cols;
  // beta == 0 never reads y, which may hold any bits.
  for (std::int64_t i = 0; i < results; ++i) y[i] = beta == V(0) ? V(0) : product(beta, y[i]);
  return for_each_entry(a, Range{0, a.s.rows}, [&](std::int64_t i, std::int64_t k, std::int64_t j) {
    const V value = V(values[k]);
    if (args.op == SXT_NO_TRANSPOSE) y[i] += product(alpha, product(value, x[j]));
    if (args.op == SXT_TRANSPOSE) y[j] += product(alpha, product(value, x[i]));
    if (args.op == SXT_CONJUGATE_TRANSPOSE) y[j] += product(alpha, product(conjugate(value), x[i]));
  });
}

}  // namespace sextant::plugin
