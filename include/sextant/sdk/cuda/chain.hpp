// SPDX-License-Identifier: BSD-3-Clause
// Launches that begin while their predecessor in the stream is ending (programmatic dependent launch, compute
// capability 9): blocks take their places and read what never changes, then wait. In a chain of short kernels, captured
// or not, this hides most of a launch: a product of 1.2 us instead of 2.0. Include from .cu files.
//
// A kernel launched this way keeps three rules. It calls await_predecessor() before it touches a vector, a scalar or
// anything else that a run may write, and before that reads only arrays of its state, which only setup operations
// write; those are launched the ordinary way. It calls release_successor() after the wait, never before: a kernel that
// starts early then knows that only this kernel is still running. And it reads data of its predecessors by plain loads:
// the compiler may move loads through the read-only path (__ldg, const __restrict__) to before the wait.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>

#include "sextant/sdk/cuda/exec.hpp"

namespace sextant::plugin::cuda {

// Everything that earlier kernels of the stream wrote is visible after.
__device__ __forceinline__ void await_predecessor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// Once every block has called or ended, the next kernel of the stream may begin, if it was launched early.
__device__ __forceinline__ void release_successor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// What a candidate says of its machine, for launch_chained's `early`.
inline bool may_start_early(const sxt_machine &machine) { return machine.level >= 90; }

// Whether the code that this device runs has the two instructions above: code translated from PTX for older devices
// lacks them on every device. All kernels of a plugin are compiled alike, so one answer a device is kept.
inline bool code_starts_early(const void *kernel) {
  constexpr int devices = 64;
  static std::atomic<signed char> known[devices] = {};  // 0: not asked yet, 1: no, 2: yes
  int device = 0;
  cudaFuncAttributes found{};
  if (cudaGetDevice(&device) != cudaSuccess) return cudaGetLastError(), false;
  const bool kept = device < devices;
  if (const signed char answer = kept ? known[device].load(std::memory_order_relaxed) : 0) return answer == 2;
  if (cudaFuncGetAttributes(&found, kernel) != cudaSuccess) return cudaGetLastError(), false;
  const bool yes = found.ptxVersion >= 90;
  if (kept) known[device].store(yes ? 2 : 1, std::memory_order_relaxed);
  return yes;
}

// A launch of `kernel` on exec's stream, begun early where `early` allows. cluster: blocks of a cluster, 0 for none.
// together: blocks wait for each other, so all of them are to be on the device at once, or the launch is refused.
struct Launch {
  bool early;
  dim3 blocks;
  unsigned threads, cluster = 0;
  std::size_t shared = 0;
  bool together = false;
};
template <class... Parameters, class... Arguments>
sxt_status launch_chained(const sxt_exec *exec, const char *what, void (*kernel)(Parameters...), const Launch &launch,
                          const Arguments &...args) {
  cudaLaunchAttribute attributes[3]{};
  cudaLaunchConfig_t config{};
  config.gridDim = launch.blocks;
  config.blockDim = dim3(launch.threads);
  config.dynamicSmemBytes = launch.shared;
  config.stream = stream_of(*exec);
  config.attrs = attributes;
  if (launch.early && code_starts_early(reinterpret_cast<const void *>(kernel))) {
    cudaLaunchAttribute &early = attributes[config.numAttrs++];
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
  }
  if (launch.cluster > 0) {
    cudaLaunchAttribute &cluster = attributes[config.numAttrs++];
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {launch.cluster, 1, 1};
  }
  if (launch.together) {
    cudaLaunchAttribute &together = attributes[config.numAttrs++];
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
  }
  const cudaError_t problem = cudaLaunchKernelEx(&config, kernel, Parameters(args)...);
  if (problem == cudaSuccess) return SXT_OK;
  cudaGetLastError();
  return error(exec, status_of(problem), "could not launch %s: %s (%s)", what, cudaGetErrorString(problem),
               cudaGetErrorName(problem));
}

// kernel<<<blocks, threads, shared, exec's stream>>>(args...), begun early where `early` allows; the sentence names
// `what`.
template <class... Parameters, class... Arguments>
sxt_status launch_chained(const sxt_exec *exec, bool early, const char *what, void (*kernel)(Parameters...),
                          dim3 blocks, unsigned threads, std::size_t shared, const Arguments &...args) {
  return launch_chained(exec, what, kernel, Launch{early, blocks, threads, 0, shared}, args...);
}

}  // namespace sextant::plugin::cuda
