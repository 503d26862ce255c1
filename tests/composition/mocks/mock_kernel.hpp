// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the mock kernels for device "deferred": scalars read when the work runs, the product with a DIA
// matrix, and a candidate with one estimate.
#pragma once

#include <cstdint>

#include "../mock_driver.hpp"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sdk/kernel.hpp"

namespace mock {

// A scalar on the device is read when the work runs, so that a replay sees a new value; one on the host when it is
// enqueued.
class Scalar {
 public:
  Scalar(const sxt_scalar &s, double otherwise)
      : device_(s.on_device ? static_cast<const double *>(s.value) : nullptr),
        host_(device_ ? 0 : sextant::plugin::scalar(s, otherwise)) {}
  double get() const { return device_ ? *device_ : host_; }

 private:
  const double *device_;
  double host_;
};

// y = alpha A x + beta y, on the device: `a` is a copy of the published struct, its arrays are the storage plugin's.
inline void multiply(const sxt_dia &a, double alpha, const double *x, double beta, double *y) {
  const auto *offsets = static_cast<const std::int64_t *>(a.offsets);
  const auto *values = static_cast<const double *>(a.values);
  for (std::int64_t i = 0; i < a.s.rows; ++i) {
    double sum = 0;
    for (std::int64_t d = 0; d < a.n_diagonals; ++d) {
      const std::int64_t j = i + offsets[d];
      if (j >= 0 && j < a.s.cols) sum += values[d * a.ld + i] * x[j];
    }
    y[i] = beta == 0 ? alpha * sum : alpha * sum + beta * y[i];
  }
}

inline double dot(std::int64_t n, const double *u, const double *v) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += u[i] * v[i];
  return sum;
}

// The mocks compute only with f64 vectors and matrix, A itself, one column.
inline sxt_status plain_product(const sxt_spmv_query &query, sxt_message *reason) {
  using sextant::plugin::refuse;
  if (query.m.matrix_type != SXT_F64) return refuse(reason, "the matrix is not f64");
  if (query.op != SXT_NO_TRANSPOSE) return refuse(reason, "it multiplies by A only");
  if (query.n_rhs != 1) return refuse(reason, "%d right-hand sides, it takes one", query.n_rhs);
  return SXT_OK;
}

// One candidate with an estimate in seconds.
inline sxt_status one_price(sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count, double run_s,
                            double setup_s = 0, std::uint64_t scratch_bytes = 0) {
  sextant::plugin::CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.run_s = run_s;
  candidate.setup_s = setup_s;
  candidate.scratch_bytes = scratch_bytes;
  return SXT_OK;
}

// Fails the call unless core lent device memory where the kind requires it.
inline sxt_status expect_device(const sxt_exec *exec, const char *what, const void *memory) {
  if (is_device(memory)) return SXT_OK;
  return sextant::plugin::error(exec, SXT_E_ARGUMENT, "%s does not lie in device memory", what);
}

}  // namespace mock
