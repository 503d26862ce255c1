// SPDX-License-Identifier: BSD-3-Clause
// Launches recorded once into a CUDA graph: lanes that wait for one another by events, replayed on the caller's
// stream.
#pragma once

#include <cuda_runtime_api.h>

#include "sextant/sdk/cuda/memory.hpp"

namespace sextant_cholesky_levels {

class Recorded {
 public:
  enum Lane { main = 0, far = 1, small = 2, medium = 3, lanes = 4 };

  Recorded() = default;
  Recorded(const Recorded &) = delete;
  ~Recorded() { clear(); }

  // Calls launches(*this), which enqueue into lanes. Throws cuda::Failure, also what launches() throws.
  template <class F>
  void record(F &&launches) {
    namespace cuda = sextant::plugin::cuda;
    cudaGraph_t graph = nullptr;
    try {
      int least = 0, greatest = 0;
      cuda::need(cudaDeviceGetStreamPriorityRange(&least, &greatest), "ask for the priorities of streams");
      for (int k = 0; k < lanes; ++k)  // what others wait for goes first
        cuda::need(cudaStreamCreateWithPriority(&streams_[k], cudaStreamNonBlocking, k == main ? greatest : least),
                   "make a stream");
      for (cudaEvent_t &each : events_)
        cuda::need(cudaEventCreateWithFlags(&each, cudaEventDisableTiming), "make an event");
      cuda::need(cudaStreamBeginCapture(streams_[main], cudaStreamCaptureModeThreadLocal), "begin to record launches");
      try {
        launches(*this);
      } catch (...) {
        if (cudaStreamEndCapture(streams_[main], &graph) != cudaSuccess) cudaGetLastError();
        if (graph) cudaGraphDestroy(graph);
        graph = nullptr;
        throw;
      }
      cuda::need(cudaStreamEndCapture(streams_[main], &graph), "record launches");
      cuda::need(cudaGraphInstantiate(&graph_, graph, 0), "make a graph of the launches");
      cudaGraphDestroy(graph);
      graph = nullptr;
      // Else the first launch would bring the graph to the device.
      cuda::need(cudaGraphUpload(graph_, streams_[main]), "bring a graph to the device");
      cuda::need(cudaStreamSynchronize(streams_[main]), "bring a graph to the device");
      clear_lanes();
    } catch (...) {
      if (graph) cudaGraphDestroy(graph);
      clear();
      throw;
    }
  }
  cudaStream_t lane(Lane which) const { return streams_[which]; }
  // What is enqueued in `to` from now on begins after all that was enqueued in `from` so far.
  void order(Lane from, Lane to) {
    namespace cuda = sextant::plugin::cuda;
    cuda::need(cudaEventRecord(events_[from], streams_[from]), "record an event");
    cuda::need(cudaStreamWaitEvent(streams_[to], events_[from], 0), "wait for an event");
  }
  void replay(cudaStream_t stream) const {
    sextant::plugin::cuda::need(cudaGraphLaunch(graph_, stream), "launch a recorded factorisation");
  }
  bool empty() const { return !graph_; }

 private:
  void clear_lanes() {
    for (cudaEvent_t &each : events_)
      if (each) cudaEventDestroy(each), each = nullptr;
    for (cudaStream_t &each : streams_)
      if (each) cudaStreamDestroy(each), each = nullptr;
  }
  void clear() {
    clear_lanes();
    if (graph_) cudaGraphExecDestroy(graph_);
    graph_ = nullptr;
  }
  cudaStream_t streams_[lanes] = {};
  cudaEvent_t events_[lanes] = {};
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace sextant_cholesky_levels
