// SPDX-License-Identifier: BSD-3-Clause
// Kernels that must be refused and need -rdc=true: launches from the device, a barrier of the grid, code of other modules.
#include <cooperative_groups.h>

extern __device__ float elsewhere(float);

__global__ void child(int n, const float *x, float *z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + 1;
}
__global__ void launches(int n, const float *x, float *z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) child<<<1, 32>>>(n, x, z);
}
__global__ void grid_barrier(int n, const float *x, float *z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i];
  cooperative_groups::this_grid().sync();
  if (i < n) z[i] += z[n - 1 - i];
}
__global__ void block_rank(int n, const float *x, float *z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + cooperative_groups::this_thread_block().thread_rank();
}
__global__ void calls_elsewhere(int n, const float *x, float *z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = elsewhere(x[i]);
}
