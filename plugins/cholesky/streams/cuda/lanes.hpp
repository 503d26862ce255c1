// SPDX-License-Identifier: BSD-3-Clause
// The streams that tasks go to. After each task stands an event; who depends on the task waits for it. Each stream has
// a ring of events: one that was recorded again stands later in the same stream, so that waiting for it is never too
// little.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <vector>

#include "sextant/sdk/cuda/memory.hpp"

namespace sextant_cholesky_streams {

namespace cuda = sextant::plugin::cuda;

inline constexpr int most_streams = 8;

// A task: the count-th that its stream was given; lane < 0: none.
struct Mark {
  std::int32_t lane = -1;
  std::int32_t reserved0 = 0;
  std::int64_t count = 0;
};

class Lanes {
 public:
  // Throws cuda::Failure.
  explicit Lanes(int count) : lanes_(static_cast<std::size_t>(count)) {
    try {
      begun_ = event();
      for (Lane &lane : lanes_) {
        cuda::need(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking), "make a stream");
        for (cudaEvent_t &each : lane.ring) each = event();
      }
    } catch (...) {
      clear();
      throw;
    }
  }
  Lanes(const Lanes &) = delete;
  ~Lanes() { clear(); }

  int count() const { return static_cast<int>(lanes_.size()); }
  cudaStream_t stream(int lane) const { return lanes_[lane].stream; }
  // The stream whose turn it is.
  int next() { return turn_ = turn_ + 1 < count() ? turn_ + 1 : 0; }

  // All streams begin after what the caller's holds.
  void fork(cudaStream_t caller) {
    cuda::need(cudaEventRecord(begun_, caller), "record an event");
    for (Lane &lane : lanes_) {
      cuda::need(cudaStreamWaitEvent(lane.stream, begun_, 0), "begin a stream's work");
      lane.tasks = 0;
      lane.known.fill(0);
    }
    turn_ = -1;
  }
  void wait(int lane, const Mark &task) {
    Lane &here = lanes_[lane];
    if (task.lane < 0 || task.lane == lane || here.known[task.lane] >= task.count) return;
    cuda::need(cudaStreamWaitEvent(here.stream, lanes_[task.lane].ring[task.count % ring_size], 0), "wait for a task");
    here.known[task.lane] = task.count;
  }
  // After what was enqueued on a stream.
  Mark done(int lane) {
    Lane &here = lanes_[lane];
    const Mark mark{lane, 0, ++here.tasks};
    cuda::need(cudaEventRecord(here.ring[mark.count % ring_size], here.stream), "record an event");
    return mark;
  }
  // The caller's stream goes on after all of them, whatever failed. The first error.
  cudaError_t join(cudaStream_t caller) {
    cudaError_t first = cudaSuccess;
    for (Lane &lane : lanes_) {
      cudaError_t joined = cudaEventRecord(lane.ring[0], lane.stream);
      if (joined == cudaSuccess) joined = cudaStreamWaitEvent(caller, lane.ring[0], 0);
      if (first == cudaSuccess) first = joined;
    }
    if (first != cudaSuccess) cudaGetLastError();
    return first;
  }

 private:
  static constexpr std::int64_t ring_size = 256;
  struct Lane {
    cudaStream_t stream = nullptr;
    std::array<cudaEvent_t, ring_size> ring{};
    std::int64_t tasks = 0;
    std::array<std::int64_t, most_streams> known{};  // tasks of each other stream that were waited for
  };

  static cudaEvent_t event() {
    cudaEvent_t made = nullptr;
    cuda::need(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "make an event");
    return made;
  }
  void clear() {
    for (Lane &lane : lanes_) {
      for (cudaEvent_t each : lane.ring)
        if (each) cudaEventDestroy(each);
      if (lane.stream) cudaStreamDestroy(lane.stream);
    }
    if (begun_) cudaEventDestroy(begun_);
  }

  std::vector<Lane> lanes_;
  cudaEvent_t begun_ = nullptr;
  int turn_ = -1;
};

}  // namespace sextant_cholesky_streams
