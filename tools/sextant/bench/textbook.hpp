// SPDX-License-Identifier: BSD-3-Clause
// The peer that is always there: each operation as a textbook writes it, one thread, no tricks.
#pragma once

#include <cstdint>

#include "sextant/types.h"

namespace tool::textbook {

// Borrowed canonical CSR with f64 values; index types at run time.
struct Csr {
  std::int64_t rows, cols, nnz;
  sxt_index_type offset_type, index_type;
  const void *row_ptr, *col;
  const double *values;
};

void spmv(const Csr &a, const double *x, double *y);

// Operations by the numbers of plugin/kinds/vector.h and plugin/kinds/reduction.h.
struct VectorOperands {
  std::int64_t n;
  double alpha, beta;
  const double *x;
  double *y, *z;
  const std::int32_t *index;
};
void vector(std::int32_t operation, const VectorOperands &v);
double reduce(std::int32_t operation, std::int64_t n, const double *x, const double *y);

// Jacobi-preconditioned conjugate gradients from zero until |r| <= rtol |b| by the recurrence, or the limit. work: 5 n.
std::int64_t pcg(const Csr &a, const double *b, double *x, double rtol, std::int64_t max_iterations, double *work);

}  // namespace tool::textbook
