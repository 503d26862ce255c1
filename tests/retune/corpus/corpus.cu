// SPDX-License-Identifier: BSD-3-Clause
// Every kernel of the corpus, for its PTX.
#include "corpus.cuh"

#define INSTANTIATE_1(k, Op, T, I) template __global__ void k<Op, T, I>(I, const T *, const T *, T *);
#define INSTANTIATE_0(k, Op, T, I) template __global__ void k<Op, T, I>(I, const T *, const int *, T *);
#define INSTANTIATE(k, Op, T, I, pair) INSTANTIATE_##pair(k, Op, T, I)
CORPUS(INSTANTIATE)
