// SPDX-License-Identifier: BSD-3-Clause
// Doubles a few numbers on the GPU, if there is one, and reports the outcome. Exit code 1: a wrong answer.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void double_each(int *x) { x[threadIdx.x] *= 2; }

int main() {
  constexpr int n = 32;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("A small CUDA program compiles and links; there is no GPU here to run it on.\n");
    return 0;
  }
  int host[n];
  for (int i = 0; i < n; ++i) host[i] = i;
  int *device = nullptr;
  // Any step that fails leaves host[] unchanged, which the comparison below detects.
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  double_each<<<1, n>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(device);
  for (int i = 0; i < n; ++i) {
    if (host[i] != 2 * i) {
      std::printf("A small CUDA program built but its answer is wrong: %s.\n", cudaGetErrorString(cudaGetLastError()));
      return 1;
    }
  }
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  std::printf("A small CUDA program runs on %s.\n", properties.name);
  return 0;
}
