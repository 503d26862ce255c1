// SPDX-License-Identifier: BSD-3-Clause
// LAPACK as this plugin calls it: opened at the first use, by the names that distributions give it, as the plugin's own
// copy. OpenBLAS has one number of threads for the whole process; in its own copy the plugin sets it to one, and the
// application's setting in its copy is not changed.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sextant::hermitian_lapack {

// Fortran's calls; the lengths of character arguments come last.
using Factor = void(const char *uplo, const int *n, void *a, const int *lda, int *info, std::size_t);
using Solve = void(const char *uplo, const int *n, const int *n_rhs, const void *a, const int *lda, void *b,
                   const int *ldb, int *info, std::size_t);
using PivotedFactor = void(const char *uplo, const int *n, void *a, const int *lda, int *pivots, void *work,
                           const int *work_size, int *info, std::size_t);
using PivotedSolve = void(const char *uplo, const int *n, const int *n_rhs, const void *a, const int *lda,
                          const int *pivots, void *b, const int *ldb, int *info, std::size_t);

class Lapack {
 public:
  struct Functions {
    Factor *factor;
    Solve *solve;
    PivotedFactor *pivoted_factor;
    PivotedSolve *pivoted_solve;
  };
  Functions of[4];  // f32, f64, c64, c128

  static constexpr const char *names[] = {"libopenblas.so.0", "libopenblas.so", "liblapack.so.3"};
  static const Lapack &instance();
  bool is_open() const { return why_.empty(); }
  const char *why() const { return why_.c_str(); }

 private:
  Lapack();
  template <class F>
  void find(F *&function, const std::string &name);

  void *handle_ = nullptr;  // never closed: threads of the library may run in it
  std::string why_;         // it cannot be used
};

}  // namespace sextant::hermitian_lapack
