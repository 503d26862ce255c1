// SPDX-License-Identifier: BSD-3-Clause
// The fake libcusolver: handles are kept and counted, factorisations and solves only counted.
#include "math.cpp"

extern "C" {

#define FAKE_BATCHES(letter)                                                                          \
  int cusolverDn##letter##potrfBatched(void *, int, int, void **, int, int *, int) {                   \
    return fake_call("cusolverDn" #letter "potrfBatched");                                            \
  }                                                                                                   \
  int cusolverDn##letter##potrsBatched(void *, int, int, int, void **, int, void **, int, int *, int) { \
    return fake_call("cusolverDn" #letter "potrsBatched");                                            \
  }                                                                                                   \
  int cusolverDn##letter##potrf(void *, int, int, void *, int, void *, int, int *) {                   \
    return fake_call("cusolverDn" #letter "potrf");                                                   \
  }                                                                                                   \
  int cusolverDn##letter##potrf_bufferSize(void *, int, int n, void *, int, int *size) {               \
    *size = n;                                                                                        \
    return fake_call("cusolverDn" #letter "potrf_bufferSize");                                        \
  }
FAKE_BATCHES(S) FAKE_BATCHES(D) FAKE_BATCHES(C) FAKE_BATCHES(Z)

}
