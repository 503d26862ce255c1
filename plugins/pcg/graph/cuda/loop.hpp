// SPDX-License-Identifier: BSD-3-Clause
// Loops in a graph that is being captured: conditional nodes (CUDA 12.4), whose bodies are captured on separate
// streams.
#pragma once

#include <cuda_runtime_api.h>

#include "sextant/sdk/cuda/memory.hpp"

namespace graph {

namespace cuda = sextant::plugin::cuda;

#if CUDART_VERSION >= 12040
#define GRAPH_HAS_LOOPS 1

// The stream's capture so far, and the dependencies of its next node.
struct CapturedSoFar {
  explicit CapturedSoFar(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long id = 0;
#if CUDART_VERSION >= 13000
    const cudaError_t problem = cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &nodes, &edges, &count);
#else
    const cudaError_t problem = cudaStreamGetCaptureInfo_v3(stream, &status, &id, &graph, &nodes, &edges, &count);
#endif
    cuda::need(problem, "ask what a stream has captured");
    if (status != cudaStreamCaptureStatusActive)
      throw cuda::Failure(SXT_E_STATE, "the stream is not being captured, or its capture has been invalidated");
  }
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t *nodes = nullptr;
  const cudaGraphEdgeData *edges = nullptr;
  std::size_t count = 0;
};

// The condition of a loop in the stream's capture; kernels before it and in it set its value.
inline cudaGraphConditionalHandle new_condition(cudaStream_t stream) {
  cudaGraphConditionalHandle handle{};
  cuda::need(cudaGraphConditionalHandleCreate(&handle, CapturedSoFar(stream).graph, 0, 0), "make a condition");
  return handle;
}

// While the condition is not 0: body(stream), captured on `side`.
template <class Body>
void capture_while(cudaStream_t stream, cudaGraphConditionalHandle condition, cudaStream_t side, Body &&body) {
  const CapturedSoFar before(stream);
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = condition;
  parameters.conditional.type = cudaGraphCondTypeWhile;
  parameters.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  cuda::need(cudaGraphAddNode(&node, before.graph, before.nodes, before.edges, before.count, &parameters),
             "add a loop");
  cuda::need(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies),
             "go on after a loop");
#else
  cuda::need(cudaGraphAddNode_v2(&node, before.graph, before.nodes, before.edges, before.count, &parameters),
             "add a loop");
  cuda::need(cudaStreamUpdateCaptureDependencies_v2(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies),
             "go on after a loop");
#endif
  cudaGraph_t inside = parameters.conditional.phGraph_out[0];
  cuda::need(cudaStreamBeginCaptureToGraph(side, inside, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal),
             "capture a loop's body");
  try {
    body(side);
  } catch (...) {
    cudaStreamEndCapture(side, &inside);
    cudaGetLastError();
    throw;
  }
  cuda::need(cudaStreamEndCapture(side, &inside), "end a loop's body");
}

#endif

}  // namespace graph
