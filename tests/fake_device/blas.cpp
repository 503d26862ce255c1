// SPDX-License-Identifier: BSD-3-Clause
// The fake libcublas: handles are kept and counted, factorisations, products and solves only counted.
#include <cstddef>

#include "math.cpp"

extern "C" {

int cublasSetWorkspace_v2(void *, void *, std::size_t) { return fake_call("cublasSetWorkspace"); }

#define FAKE_LEVEL_3(letter)                                                                                          \
  int cublas##letter##gemm_v2(void *, int, int, int, int, int, const void *, const void *, int, const void *, int,    \
                              const void *, void *, int) {                                                            \
    return fake_call("cublas" #letter "gemm");                                                                        \
  }                                                                                                                   \
  int cublas##letter##trsm_v2(void *, int, int, int, int, int, int, const void *, const void *, int, void *, int) {   \
    return fake_call("cublas" #letter "trsm");                                                                        \
  }
FAKE_LEVEL_3(S) FAKE_LEVEL_3(D) FAKE_LEVEL_3(C) FAKE_LEVEL_3(Z)

#define FAKE_LU_BATCHES(letter)                                                                                   \
  int cublas##letter##getrfBatched(void *, int, void *const *, int, int *, int *, int) {                          \
    return fake_call("cublas" #letter "getrfBatched");                                                            \
  }                                                                                                               \
  int cublas##letter##getrsBatched(void *, int, int, int, const void *const *, int, const int *, void *const *, int, \
                                   int *info, int) {                                                              \
    *info = 0;                                                                                                    \
    return fake_call("cublas" #letter "getrsBatched");                                                            \
  }
FAKE_LU_BATCHES(S) FAKE_LU_BATCHES(D) FAKE_LU_BATCHES(C) FAKE_LU_BATCHES(Z)

}
