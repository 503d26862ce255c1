// SPDX-License-Identifier: BSD-3-Clause
// Helpers for CUDA plugins that hold memory: arrays that free themselves, in the order of the stream where it matters;
// failures as exceptions with a status and a sentence; states that are destroyed safely when building one fails
// halfway. Include from .cu files or from C++ files that see CUDA's headers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <utility>

#include "sextant/sdk/cuda/exec.hpp"

namespace sextant::plugin::cuda {

// A step that failed: the status and the sentence that the caller gets.
class Failure : public std::exception {
 public:
  __attribute__((format(printf, 3, 4))) Failure(sxt_status status, const char *format, ...) : status_(status) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text_, sizeof text_, format, arguments);
    va_end(arguments);
  }
  sxt_status status() const noexcept { return status_; }
  const char *what() const noexcept override { return text_; }

 private:
  sxt_status status_;
  char text_[320];
};

// Throws the failure of a call of the runtime: "could not <step>: <CUDA's words>".
inline void need(cudaError_t problem, const char *step) {
  if (problem == cudaSuccess) return;
  cudaGetLastError();
  throw Failure(status_of(problem), "could not %s: %s (%s)", step, cudaGetErrorString(problem),
                cudaGetErrorName(problem));
}
// After a launch.
inline void need_launch(const char *kernel) {
  const cudaError_t problem = cudaGetLastError();
  if (problem != cudaSuccess)
    throw Failure(status_of(problem), "could not launch %s: %s (%s)", kernel, cudaGetErrorString(problem),
                  cudaGetErrorName(problem));
}

// guard() that knows Failure.
template <class F>
sxt_status guarded(const sxt_exec *exec, F &&f) noexcept {
  return guard(exec, [&]() -> sxt_status {
    try {
      return f();
    } catch (const Failure &failure) {
      return error(exec, failure.status(), "%s", failure.what());
    }
  });
}

// Owner of an array: a state, which is released when nothing uses it any more, or one call, on whose stream the array
// is freed after the kernels that use it.
enum class Life { state, call };

// Owned memory in device space (or another one). Throws Failure naming the bytes that could not be allocated.
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(const sxt_exec *exec, std::uint64_t bytes, const char *what, Life life = Life::state,
              sxt_space space = SXT_SPACE_DEVICE)
      : bytes_(bytes), space_(space) {
    exec_.host = exec->host;
    exec_.device = exec->device;
    if (life == Life::call) exec_.stream = exec->stream;
    if (bytes && !(data_ = exec->host->alloc(exec->host, exec, space, bytes, 256)))
      throw Failure(SXT_E_MEMORY, "%llu bytes of device memory are missing for %s", (unsigned long long)bytes, what);
  }
  DeviceArray(DeviceArray &&other) noexcept { swap(other); }
  DeviceArray &operator=(DeviceArray &&other) noexcept {
    DeviceArray(std::move(other)).swap(*this);
    return *this;
  }
  ~DeviceArray() {
    if (data_) exec_.host->free(exec_.host, &exec_, space_, data_);
  }
  void *data() const { return data_; }
  template <class T>
  T *as() const {
    return static_cast<T *>(data_);
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void swap(DeviceArray &other) noexcept {
    std::swap(exec_, other.exec_), std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_), std::swap(space_, other.space_);
  }
  sxt_exec exec_{};  // needed by free: release gets no exec
  void *data_ = nullptr;
  std::uint64_t bytes_ = 0;
  sxt_space space_ = SXT_SPACE_DEVICE;
};

// Copies between any two spaces in the order of exec's stream.
inline void copy(const sxt_exec *exec, void *to, const void *from, std::uint64_t bytes, const char *what) {
  if (bytes == 0) return;
  const sxt_status status = exec->host->copy(exec->host, exec, to, from, bytes);
  if (status != SXT_OK) throw Failure(status, "could not copy %s (%llu bytes)", what, (unsigned long long)bytes);
}
inline void fill_bytes(const sxt_exec *exec, void *to, int byte, std::uint64_t bytes, const char *what) {
  if (bytes) need(cudaMemsetAsync(to, byte, bytes, stream_of(*exec)), what);
}
// Waits for exec's stream: while a state is built, never while one runs.
inline void wait(const sxt_exec *exec) {
  if (const sxt_status status = exec->host->synchronize(exec->host, exec))
    throw Failure(status, "work on the device failed while a matrix was converted");
}
// Values computed on the device, on the host now.
template <class T>
void fetch(const sxt_exec *exec, T *to, const T *from, std::uint64_t count, const char *what) {
  copy(exec, to, from, count * sizeof(T), what);
  wait(exec);
}
template <class T>
T fetch(const sxt_exec *exec, const T *from, const char *what) {
  T value{};
  return fetch(exec, &value, from, 1, what), value;
}

// A new state, filled by f(State &) -> status. When that fails, kernels may still use the state's arrays: they are
// freed once the stream's work has ended.
template <class State, class F>
sxt_status build(const sxt_exec *exec, void **out, F &&f) {
  return guarded(exec, [&]() -> sxt_status {
    auto state = std::make_unique<State>();
    const auto settle = [exec] { exec->host->synchronize(exec->host, exec); };
    sxt_status status = SXT_E_INTERNAL;
    try {
      status = f(*state);
    } catch (...) {
      settle();
      throw;
    }
    if (status != SXT_OK) return settle(), status;
    return give(state.release(), out);
  });
}

}  // namespace sextant::plugin::cuda
