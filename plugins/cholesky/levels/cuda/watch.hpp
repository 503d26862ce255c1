// SPDX-License-Identifier: BSD-3-Clause
// How a factorisation that was launched as a whole is cancelled: the host looks at the caller's word while the device
// works, and takes the sets of values out of the record that every kernel reads first. What has not begun then does
// nothing.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <thread>

#include "sextant/sdk/cancel.hpp"
#include "sextant/sdk/cuda/memory.hpp"

namespace sextant_cholesky_levels {

class Watch {
 public:
  Watch() = default;
  Watch(const Watch &) = delete;
  ~Watch() {
    if (stream_) cudaStreamDestroy(stream_);
  }
  // Throws cuda::Failure.
  void make() {
    namespace cuda = sextant::plugin::cuda;
    int least = 0, greatest = 0;
    cuda::need(cudaDeviceGetStreamPriorityRange(&least, &greatest), "ask for the priorities of streams");
    cuda::need(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest), "make a stream");
  }
  // Until all that was enqueued in exec's stream has ended. False where the caller cancelled meanwhile: *sets, in
  // device memory, is 0 then, and the stream was waited for. Throws cuda::Failure.
  bool ends(const sxt_exec *exec, std::int64_t *sets) {
    namespace cuda = sextant::plugin::cuda;
    for (cudaError_t state; (state = cudaStreamQuery(cuda::stream_of(*exec))) != cudaSuccess;) {
      if (state != cudaErrorNotReady) cuda::need(state, "look at a factorisation");
      cudaGetLastError();  // it is kept as if it were an error
      if (sextant::plugin::is_cancelled(exec->cancel)) {
        cuda::need(cudaMemsetAsync(sets, 0, sizeof *sets, stream_), "cancel a factorisation");
        cuda::wait(exec);
        cuda::need(cudaStreamSynchronize(stream_), "cancel a factorisation");
        return false;
      }
      std::this_thread::yield();
    }
    return true;
  }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace sextant_cholesky_levels
