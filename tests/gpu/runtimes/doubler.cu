// SPDX-License-Identifier: BSD-3-Clause
// Stands for a plugin (one kernel launched on a stream that another runtime made) and for an application beside the
// library, with its own streams, captures and kernels. Compiled once with the shared and
// once with the static CUDA runtime.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

__global__ void double_each(std::int64_t n, double *x) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

__global__ void add_one(unsigned long long *counter) { atomicAdd(counter, 1ull); }

__global__ void write_late(std::int64_t n, double value, double *x) {
  const long long until = clock64() + 20'000'000;  // about 10 ms
  while (clock64() < until) {
  }
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) x[i] = value;
}

__global__ void write_nowhere(double *x) { x[threadIdx.x] = 1; }

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

// Loads the code, so that nothing is loaded during a capture.
EXPORT int doubler_load() {
  cudaFuncAttributes unused;
  for (const void *kernel : {reinterpret_cast<const void *>(double_each), reinterpret_cast<const void *>(add_one),
                             reinterpret_cast<const void *>(write_late)})
    if (const cudaError_t problem = cudaFuncGetAttributes(&unused, kernel)) return problem;
  return cudaSuccess;
}

EXPORT int doubler_run(void *stream, std::int64_t n, double *x) {
  double_each<<<static_cast<unsigned>((n + 255) / 256), 256, 0, static_cast<cudaStream_t>(stream)>>>(n, x);
  return cudaGetLastError();
}

// What applications do on their own streams: a stream that waits for the legacy one (waits = 1) or not; adding one to a
// number; values written after a delay on the device.
EXPORT int doubler_stream(int waits, void **stream) {
  return cudaStreamCreateWithFlags(reinterpret_cast<cudaStream_t *>(stream),
                                   waits ? cudaStreamDefault : cudaStreamNonBlocking);
}
EXPORT int doubler_destroy(void *stream) { return cudaStreamDestroy(static_cast<cudaStream_t>(stream)); }
EXPORT int doubler_count(void *stream, unsigned long long *counter) {
  add_one<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(counter);
  return cudaGetLastError();
}
EXPORT int doubler_write_late(void *stream, std::int64_t n, double value, double *x) {
  write_late<<<1, 256, 0, static_cast<cudaStream_t>(stream)>>>(n, value, x);
  return cudaGetLastError();
}
// Memory of the current device, as any program could allocate it.
EXPORT int doubler_memory(std::size_t *left) {
  std::size_t all = 0;
  return cudaMemGetInfo(left, &all);
}
// A capture in the global mode (CUDA's default, and that of frameworks); the number of its nodes.
EXPORT int doubler_capture(void *stream) {
  return cudaStreamBeginCapture(static_cast<cudaStream_t>(stream), cudaStreamCaptureModeGlobal);
}
EXPORT int doubler_end_capture(void *stream, std::size_t *nodes) {
  cudaGraph_t graph = nullptr;
  const cudaError_t problem = cudaStreamEndCapture(static_cast<cudaStream_t>(stream), &graph);
  *nodes = 0;
  if (graph) cudaGraphGetNodes(graph, nullptr, nodes);
  if (graph) cudaGraphDestroy(graph);
  cudaGetLastError();
  return problem;
}

// An illegal address: the device is lost to the process.
EXPORT int doubler_crash(void *stream) {
  write_nowhere<<<1, 32, 0, static_cast<cudaStream_t>(stream)>>>(reinterpret_cast<double *>(std::uintptr_t{64}));
  return cudaGetLastError();
}
