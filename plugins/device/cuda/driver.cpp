// SPDX-License-Identifier: BSD-3-Clause
#include "driver.hpp"

#include <cuda_runtime_api.h>

#include <mutex>

namespace sextant::device_cuda {
namespace {

constexpr unsigned driver_version = 12000;  // the functions below as CUDA 12.0 defines them

template <class F>
bool find(const char *name, F &function, std::string &problem) {
  void *found = nullptr;
  cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
  const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &found, driver_version, cudaEnableDefault, &result);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (status == cudaSuccess && result == cudaDriverEntryPointSuccess && found) {
    function = reinterpret_cast<F>(found);
    return true;
  }
  cudaGetLastError();
  problem = std::string("the driver has no ") + name;
  if (status != cudaSuccess) problem += std::string(": ") + cudaGetErrorString(status);
  return false;
}

}  // namespace

const Driver *driver(std::string &problem) {
  static std::mutex lock;
  static Driver table;
  static bool ready = false;
  const std::lock_guard one(lock);
  ready =
      ready ||
      (find("cuDeviceGet", table.device_get, problem) && find("cuDeviceGetName", table.device_name, problem) &&
       find("cuDeviceTotalMem", table.device_memory, problem) &&
       find("cuDevicePrimaryCtxRetain", table.context_retain, problem) &&
       find("cuDevicePrimaryCtxRelease", table.context_release, problem) &&
       find("cuCtxPushCurrent", table.context_push, problem) && find("cuCtxPopCurrent", table.context_pop, problem) &&
       find("cuStreamGetCtx", table.stream_context, problem) &&
       find("cuThreadExchangeStreamCaptureMode", table.exchange_capture_mode, problem));
  return ready ? &table : nullptr;
}

namespace {
// Of the calling thread: the nesting depth, and the mode before. Plain data, so that a thread's end runs nothing.
thread_local struct {
  int depth, before;
  const Driver *calls;  // NULL: the mode could not be changed
} outside{};
}  // namespace

void OutsideCaptures::enter(const Driver &calls) {
  if (outside.depth++ > 0) return;
  outside.before = cudaStreamCaptureModeRelaxed;
  outside.calls = calls.exchange_capture_mode(&outside.before) == 0 ? &calls : nullptr;
}

void OutsideCaptures::leave() {
  if (--outside.depth > 0 || !outside.calls) return;
  int mode = outside.before;
  outside.calls->exchange_capture_mode(&mode);
}

}  // namespace sextant::device_cuda
