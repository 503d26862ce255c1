// SPDX-License-Identifier: BSD-3-Clause
// The vector part of CBLAS, as any library that has it offers it. Prototypes are ours; 32-bit integers (LP64).
#pragma once

#include <cstddef>
#include <cstdint>

#include "library.hpp"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/vector.h"

namespace peer {

struct Blas {
  void (*copy)(int, const double *, int, double *, int);
  void (*scal)(int, double, double *, int);
  void (*axpy)(int, double, const double *, int, double *, int);
  void (*axpby)(int, double, const double *, int, double, double *, int);  // an extension; may be missing
  double (*dot)(int, const double *, int, const double *, int);
  double (*nrm2)(int, const double *, int);
  double (*asum)(int, const double *, int);
  std::size_t (*iamax)(int, const double *, int);

  bool find(const Library &library) {
    library.find(axpby, "cblas_daxpby");
    return library.find(copy, "cblas_dcopy") && library.find(scal, "cblas_dscal") &&
           library.find(axpy, "cblas_daxpy") && library.find(dot, "cblas_ddot") && library.find(nrm2, "cblas_dnrm2") &&
           library.find(asum, "cblas_dasum") && library.find(iamax, "cblas_idamax");
  }

  int has_vector(std::int32_t operation) const {
    return operation == SXT_VECTOR_COPY || operation == SXT_VECTOR_SCALE || operation == SXT_VECTOR_AXPY ||
           (operation == SXT_VECTOR_AXPBY && axpby);
  }
  static int has_reduction(std::int32_t operation) {
    return operation == SXT_REDUCTION_DOT || operation == SXT_REDUCTION_NRM2 || operation == SXT_REDUCTION_ASUM ||
           operation == SXT_REDUCTION_IAMAX;
  }
  void vector(std::int32_t operation, std::int64_t length, double alpha, double beta, const double *x,
              double *y) const {
    const int n = static_cast<int>(length);
    switch (operation) {
      case SXT_VECTOR_COPY: copy(n, x, 1, y, 1); break;
      case SXT_VECTOR_SCALE: scal(n, alpha, y, 1); break;
      case SXT_VECTOR_AXPY: axpy(n, alpha, x, 1, y, 1); break;
      default: axpby(n, alpha, x, 1, beta, y, 1); break;
    }
  }
  double reduce(std::int32_t operation, std::int64_t length, const double *x, const double *y) const {
    const int n = static_cast<int>(length);
    switch (operation) {
      case SXT_REDUCTION_DOT: return dot(n, x, 1, y, 1);
      case SXT_REDUCTION_NRM2: return nrm2(n, x, 1);
      case SXT_REDUCTION_ASUM: return asum(n, x, 1);
      default: return static_cast<double>(iamax(n, x, 1));
    }
  }
};

// Fills in the vector operations and reductions of a peer whose functions lie in `blas`.
template <const Blas &blas>
void offer(sxt_peer &table) {
  table.has_vector = [](std::int32_t operation) { return blas.has_vector(operation); };
  table.has_reduction = [](std::int32_t operation) { return Blas::has_reduction(operation); };
  table.vector = [](std::int32_t operation, std::int64_t n, double alpha, double beta, const double *x, double *y) {
    blas.vector(operation, n, alpha, beta, x, y);
  };
  table.reduce = [](std::int32_t operation, std::int64_t n, const double *x, const double *y) {
    return blas.reduce(operation, n, x, y);
  };
}

}  // namespace peer
