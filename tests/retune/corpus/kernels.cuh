// SPDX-License-Identifier: BSD-3-Clause
// The kernels of the corpus as templates: each family with one thread an index, and in strides of the grid.
#pragma once
#include "operations.cuh"


template <typename I>
__device__ I linear_index() {
  return static_cast<I>(blockIdx.x) * static_cast<I>(blockDim.x) + static_cast<I>(threadIdx.x);
}
template <typename I>
__device__ I grid_stride() {
  return static_cast<I>(blockDim.x) * static_cast<I>(gridDim.x);
}

template <typename Op, typename T, typename I>
__global__ void elementwise(I n, const T *x, const T *y, T *z) {
  const I i = linear_index<I>();
  if (i < n) z[i] = Op::at(x[i], y[i]);
}
template <typename Op, typename T, typename I>
__global__ void gridstride(I n, const T *x, const T *y, T *z) {
  for (I i = linear_index<I>(); i < n; i += grid_stride<I>()) z[i] = Op::at(x[i], y[i]);
}
// Stencils and gathers.
template <typename Op, typename T, typename I>
__global__ void neighbours(I n, const T *x, const int *p, T *z) {
  const I i = linear_index<I>();
  if (i >= n) return;
  z[i] = Op::at(x, p, i, n);
}
template <typename Op, typename T, typename I>
__global__ void neighbours_gridstride(I n, const T *x, const int *p, T *z) {
  for (I i = linear_index<I>(); i < n; i += grid_stride<I>()) z[i] = Op::at(x, p, i, n);
}
// A scatter by a permutation: every place is written once.
template <typename Op, typename T, typename I>
__global__ void scatter(I n, const T *x, const int *p, T *z) {
  const I i = linear_index<I>();
  if (i < n) z[p[i]] = Op::at(x[i], x[p[i]]);
}

// Operations whose result does not depend on their order; floating-point sums are of small whole numbers.
struct AtomicAdd {
  template <typename T>
  static __device__ void at(T *z, T v) {
    atomicAdd(z, v);
  }
};
struct AtomicMin {
  template <typename T>
  static __device__ void at(T *z, T v) {
    atomicMin(z, v);
  }
};
struct AtomicMax {
  template <typename T>
  static __device__ void at(T *z, T v) {
    atomicMax(z, v);
  }
};
struct AtomicAnd {
  template <typename T>
  static __device__ void at(T *z, T v) {
    atomicAnd(z, v);
  }
};
struct AtomicOr {
  template <typename T>
  static __device__ void at(T *z, T v) {
    atomicOr(z, v);
  }
};
struct AtomicXor {
  template <typename T>
  static __device__ void at(T *z, T v) {
    atomicXor(z, v);
  }
};
template <typename Op, typename T, typename I>
__global__ void atomic(I n, const T *x, const int *p, T *z) {
  const I i = linear_index<I>();
  if (i < n) Op::at(z + (p[i] & 255), x[i]);
}
template <typename Op, typename T, typename I>
__global__ void atomic_gridstride(I n, const T *x, const int *p, T *z) {
  for (I i = linear_index<I>(); i < n; i += grid_stride<I>()) Op::at(z + (p[i] & 255), x[i]);
}
