// SPDX-License-Identifier: BSD-3-Clause
// A stand-in for a plugin: one kernel, launched on a stream that another runtime made. Compiled once with the shared and
// once with the static CUDA runtime.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

__global__ void double_each(std::int64_t n, double *x) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

__global__ void write_nowhere(double *x) { x[threadIdx.x] = 1; }

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

// Loads the code, so that nothing is loaded during a capture.
EXPORT int doubler_load() {
  cudaFuncAttributes unused;
  return cudaFuncGetAttributes(&unused, double_each);
}

EXPORT int doubler_run(void *stream, std::int64_t n, double *x) {
  double_each<<<static_cast<unsigned>((n + 255) / 256), 256, 0, static_cast<cudaStream_t>(stream)>>>(n, x);
  return cudaGetLastError();
}

// An illegal address: the device is lost to the process.
EXPORT int doubler_crash(void *stream) {
  write_nowhere<<<1, 32, 0, static_cast<cudaStream_t>(stream)>>>(reinterpret_cast<double *>(std::uintptr_t{64}));
  return cudaGetLastError();
}
