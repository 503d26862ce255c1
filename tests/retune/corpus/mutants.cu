// SPDX-License-Identifier: BSD-3-Clause
// Kernels that must be refused: every mutant in two hosts, a bound check that is missing or of the block, and heads of
// kernels that bind the shape.
#include "mutants.cuh"

template <typename Mutant>
__global__ void mutant_elementwise(int n, const float *x, float *z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = Mutant::template at<float, int>(x[i], i, n, x, z);
}
template <typename Mutant>
__global__ void mutant_gridstride(long long n, const double *x, double *z) {
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += static_cast<long long>(blockDim.x) * gridDim.x)
    z[i] = Mutant::template at<double, long long>(x[i], i, n, x, z);
}
#define INSTANTIATE(name)                                                                  \
  template __global__ void mutant_elementwise<name>(int, const float *, float *);          \
  template __global__ void mutant_gridstride<name>(long long, const double *, double *);
MUTANTS(INSTANTIATE)

// Bound checks: none, of the thread, of the block, and an index that starts in the middle.
__global__ void without_bound_check(const float *x, float *z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  z[i] = x[i] + 1;
}
__global__ void without_bound_check_64(const double *x, double *z) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  z[i] = 2 * x[i];
}
__global__ void bound_of_thread(int n, const float *x, float *z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < n) z[i] = x[i];
}
__global__ void bound_of_block(int blocks, const float *x, float *z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x < blocks) z[i] = x[i];
}
__global__ void one_block(int n, const float *x, float *z) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) z[i] = x[i];
}
__global__ void two_elements(int n, const float *x, float *z) {
  const int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
  if (i < n) z[i] = x[i];
  if (i + blockDim.x < n) z[i + blockDim.x] = x[i + blockDim.x];
}
__global__ void tile(int rows, int columns, const float *x, float *z) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) z[row * columns + column] = x[row * columns + column];
}
__global__ void __block_size__((128, 1, 1)) fixed_block(int n, const float *x, float *z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i];
}
__global__ void __cluster_dims__(2, 1, 1) fixed_cluster(int n, const float *x, float *z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i];
}
