// SPDX-License-Identifier: BSD-3-Clause
// LAPACK as this plugin calls it: opened at the first use, by the names that distributions give it, and kept to one
// thread a call while a set is worked on.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "sextant/plugin_vendor.hpp"

namespace sextant::hermitian_lapack {

// Fortran's calls; the lengths of character arguments come last.
using Factor = void(const char *uplo, const int *n, void *a, const int *lda, int *info, std::size_t);
using Solve = void(const char *uplo, const int *n, const int *n_rhs, const void *a, const int *lda, void *b,
                   const int *ldb, int *info, std::size_t);
using PivotedFactor = void(const char *uplo, const int *n, void *a, const int *lda, int *pivots, void *work,
                           const int *work_size, int *info, std::size_t);
using PivotedSolve = void(const char *uplo, const int *n, const int *n_rhs, const void *a, const int *lda,
                          const int *pivots, void *b, const int *ldb, int *info, std::size_t);

struct Lapack : plugin::VendorLibrary {
  struct Functions {
    Factor *factor;
    Solve *solve;
    PivotedFactor *pivoted_factor;
    PivotedSolve *pivoted_solve;
  };
  Functions of[4];  // f32, f64, c64, c128
  void (*set_threads)(int) = nullptr;
  int (*get_threads)() = nullptr;

  static constexpr const char *names[] = {"libopenblas.so.0", "libopenblas.so", "liblapack.so.3"};
  Lapack();
  static const Lapack &instance();
};

// While one of these lives, OpenBLAS runs each call on the thread that makes it. The last one alive restores what the
// application had set. The reference LAPACK has no threads and nothing to set.
class OneThreadACall {
 public:
  OneThreadACall();
  ~OneThreadACall();
  OneThreadACall(const OneThreadACall &) = delete;

 private:
  static inline std::mutex mutex_;
  static inline int alive_ = 0, before_ = 0;
};

}  // namespace sextant::hermitian_lapack
