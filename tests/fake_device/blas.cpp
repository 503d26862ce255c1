// SPDX-License-Identifier: BSD-3-Clause
// The fake libcublas: handles are stored and counted, factorisations and solves of batches only counted.
#include "math.cpp"

extern "C" {

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
