// SPDX-License-Identifier: BSD-3-Clause
// LAPACK as this plugin calls it: opened at the first use, as a copy of the plugin's own.
#pragma once

#include <cstddef>

#include "sextant/sdk/own_library.hpp"

namespace sextant::hermitian_lapack {

// Fortran's calls; the lengths of character arguments come last.
using Factor = void(const char *uplo, const int *n, void *a, const int *lda, int *info, std::size_t);
using Solve = void(const char *uplo, const int *n, const int *n_rhs, const void *a, const int *lda, void *b,
                   const int *ldb, int *info, std::size_t);
using PivotedFactor = void(const char *uplo, const int *n, void *a, const int *lda, int *pivots, void *work,
                           const int *work_size, int *info, std::size_t);
using PivotedSolve = void(const char *uplo, const int *n, const int *n_rhs, const void *a, const int *lda,
                          const int *pivots, void *b, const int *ldb, int *info, std::size_t);

class Lapack : public plugin::OwnBlas {
 public:
  struct Functions {
    Factor *factor;
    Solve *solve;
    PivotedFactor *pivoted_factor;
    PivotedSolve *pivoted_solve;
  };
  Functions of[4];  // f32, f64, c64, c128

  static const Lapack &instance();

 private:
  Lapack();
};

}  // namespace sextant::hermitian_lapack
