// SPDX-License-Identifier: BSD-3-Clause
// Helpers for kernels in CUDA: exec's stream, CUDA's errors as statuses with a sentence, launches that are checked,
// scalars that may lie on the device, grids, and the terms that CUDA models share. Include from .cu files (or from C++
// files that see CUDA's headers). No type of CUDA crosses the plugin ABI: exec->stream is a driver-level handle.
// Core makes exec's device current before it calls a kernel: nothing here sets a device.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin::cuda {

inline cudaStream_t stream_of(const sxt_exec &exec) { return static_cast<cudaStream_t>(exec.stream); }

// The status for a kernel's caller from an error of the runtime.
inline sxt_status status_of(cudaError_t problem) {
  switch (problem) {
    case cudaSuccess: return SXT_OK;
    case cudaErrorMemoryAllocation: return SXT_E_MEMORY;
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureMerge:
    case cudaErrorStreamCaptureUnmatched:
    case cudaErrorStreamCaptureUnjoined:
    case cudaErrorStreamCaptureIsolation:
    case cudaErrorStreamCaptureImplicit:
    case cudaErrorCapturedEvent:
    case cudaErrorStreamCaptureWrongThread: return SXT_E_STATE;
    default: return SXT_E_DEVICE;
  }
}

// SXT_OK, or the status of a failed call with the sentence "could not <step>: <CUDA's words>". CUDA's stored error is
// cleared, so that the caller's own cudaGetLastError does not return it.
inline sxt_status check(const sxt_exec *exec, cudaError_t problem, const char *step) {
  if (problem == cudaSuccess) return SXT_OK;
  cudaGetLastError();
  return error(exec, status_of(problem), "could not %s: %s (%s)", step, cudaGetErrorString(problem),
               cudaGetErrorName(problem));
}

// After a launch: return launched(exec, "axpy");
inline sxt_status launched(const sxt_exec *exec, const char *kernel) {
  const cudaError_t problem = cudaGetLastError();
  if (problem == cudaSuccess) return SXT_OK;
  return error(exec, status_of(problem), "could not launch %s: %s (%s)", kernel, cudaGetErrorString(problem),
               cudaGetErrorName(problem));
}

// Loads a kernel's code now: CUDA would do it at the first launch, which may stand inside a capture. For prepare or
// open.
template <class K>
sxt_status load(const sxt_exec *exec, K *kernel) {
  cudaFuncAttributes unused;
  return check(exec, cudaFuncGetAttributes(&unused, reinterpret_cast<const void *>(kernel)), "load a kernel's code");
}

// Loads a kernel's code and lets its launches have `bytes` of dynamic shared memory. CUDA keeps one limit for a kernel
// in the whole process: it is raised to the most that a block can have, since a later, smaller limit would break plans
// made before.
template <class K>
sxt_status load_with_shared(const sxt_exec *exec, K *kernel, std::size_t bytes) {
  const auto *code = reinterpret_cast<const void *>(kernel);
  cudaFuncAttributes attributes{};
  if (const sxt_status failed = check(exec, cudaFuncGetAttributes(&attributes, code), "load a kernel's code"))
    return failed;
  int device = 0, most = 0;
  cudaError_t problem = cudaGetDevice(&device);
  if (problem == cudaSuccess) problem = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (problem != cudaSuccess) return check(exec, problem, "ask for the shared memory of a block");
  most -= static_cast<int>(attributes.sharedSizeBytes);
  if (bytes > static_cast<std::size_t>(std::max(0, most)))
    return error(exec, SXT_E_MEMORY, "%llu bytes of shared memory are needed, a block has %d",
                 static_cast<unsigned long long>(bytes), most);
  return check(exec, cudaFuncSetAttribute(code, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
               "reserve shared memory");
}

// A scalar as a kernel takes it: a host value is copied now, one on the device is read when the work runs, so that a
// captured launch sees new values. T is the type in device code.
template <class T>
struct Scalar {
  const T *place;  // NULL: `value` holds
  T value;
#ifdef __CUDACC__
  __device__ T operator()() const { return place ? *place : value; }
#endif
};
template <class T>
Scalar<T> scalar_of(const sxt_scalar &given, T otherwise) {
  if (!given.value) return {nullptr, otherwise};
  const T *place = static_cast<const T *>(given.value);
  return given.on_device ? Scalar<T>{place, otherwise} : Scalar<T>{nullptr, *place};
}

template <class I>
constexpr I divide_up(I a, I b) {
  return (a + b - 1) / b;
}

// Blocks for `work` threads' worth of work, at least 1 and at most `most`.
inline unsigned blocks_for(std::int64_t work, std::int64_t threads, std::int64_t most) {
  return static_cast<unsigned>(std::clamp<std::int64_t>(divide_up(work, threads), 1, std::max<std::int64_t>(1, most)));
}

// Blocks of so many threads that the whole device holds at once, from the machine's limits (registers left aside).
inline std::int64_t resident_blocks(const sxt_machine &machine, std::int64_t threads) {
  const std::int64_t by_threads = machine.threads_per_unit > 0 ? machine.threads_per_unit / threads : 1;
  const std::int64_t by_blocks = machine.blocks_per_unit > 0 ? machine.blocks_per_unit : by_threads;
  return std::max<std::int64_t>(1, std::min(by_threads, by_blocks)) * std::max(1, machine.units);
}

// The terms of simple CUDA kernels; core knows their coefficients. A kernel may have its own list.
inline constexpr const char *cuda_terms[] = {"launches", "stream_bytes", "gathers", "sectors", "flops", nullptr};

struct CudaCost {
  double launches = 1;
  double stream_bytes = 0;  // read or written in order, each counted once
  double gathers = 0;       // isolated accesses that miss the last cache
  double sectors = 0;       // 32-byte sectors asked of the last cache, beside the streamed ones
  double flops = 0;
  double working_set = 0;  // bytes the next run touches again
};

// A candidate for cuda_terms: launch[0] = blocks, launch[1] = threads a block, launch[2] = elements a thread takes at
// once. The multiprocessors kept busy follow from the blocks.
inline sxt_candidate &fill(sxt_candidate &candidate, const sxt_machine &machine, std::int64_t blocks,
                           std::int64_t threads, std::int64_t elements, const CudaCost &cost) {
  candidate.launch[0] = blocks;
  candidate.launch[1] = threads;
  candidate.launch[2] = elements;
  candidate.n_terms = 5;
  candidate.terms[0] = cost.launches;
  candidate.terms[1] = cost.stream_bytes;
  candidate.terms[2] = cost.gathers;
  candidate.terms[3] = cost.sectors;
  candidate.terms[4] = cost.flops;
  candidate.working_set_bytes = cost.working_set;
  candidate.units = static_cast<double>(std::min<std::int64_t>(blocks, std::max(1, machine.units)));
  return candidate;
}

// launch_config of kernels whose candidates come from fill(): no dynamic shared memory; registers as the compiler says.
inline void plain_launch_config(const sxt_candidate &candidate, std::int64_t registers, sxt_launch_config *out) {
  *out = sxt_launch_config{candidate.launch[0], candidate.launch[1], 0, registers, candidate.run_s};
}

}  // namespace sextant::plugin::cuda
