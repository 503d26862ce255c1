// SPDX-License-Identifier: BSD-3-Clause
// device.cuda: the table of kind sxt.device/1 over one opened CUDA device. Work happens in device.cpp; streams, events
// and graphs are one call of the runtime each and are here.
#include <bit>
#include <cstdint>

#include "device.hpp"
#include "machine.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;
namespace cuda = sextant::device_cuda;

namespace {

cuda::Device &of(void *device) { return *static_cast<cuda::Device *>(device); }
cudaStream_t stream_of(void *stream) { return static_cast<cudaStream_t>(stream); }

// One call of the runtime on a living device, with the device current.
template <class F>
sxt_status one_call(void *device, const char *step, F &&f) {
  return of(device).call([&] { return cuda::outcome(of(device).ordinal(), f(), step); });
}

sxt_status count(std::int32_t *count, sxt_message *why_none) {
  return guard(nullptr, [&]() -> sxt_status {
    bool failed = false;
    *count = cuda::count_devices(why_none, &failed);
    return failed ? SXT_E_DEVICE : SXT_OK;
  });
}

sxt_status describe_machine(std::int32_t ordinal, std::int32_t, sxt_machine *out) {
  return guard(nullptr, [&] { return cuda::describe_device(cuda::the_host(), ordinal, out); });
}

sxt_status open(const sxt_host *host, std::int32_t ordinal, void **device) {
  return guard(nullptr, [&] {
    if (host) cuda::set_host(host);
    if (ordinal < 0 || ordinal >= cuda::count_devices(nullptr))
      return cuda::refusal(SXT_E_DEVICE, "there is no CUDA device %d", ordinal);
    cuda::Device *opened = nullptr;
    const sxt_status status = cuda::Device::open(ordinal, &opened);
    if (status == SXT_OK) *device = opened;
    return status;
  });
}

void close(void *device) { delete static_cast<cuda::Device *>(device); }

// ---- memory

sxt_status alloc(void *device, void *stream, sxt_space space, std::uint64_t bytes, std::uint64_t alignment,
                 void **memory) {
  *memory = nullptr;
  if (alignment && !std::has_single_bit(alignment))
    return cuda::refusal(SXT_E_ARGUMENT, "alignment %llu is no power of two", (unsigned long long)alignment);
  if (alignment > 256)
    return cuda::refusal(SXT_E_ARGUMENT, "alignment %llu is more than the 256 that CUDA gives",
                         (unsigned long long)alignment);
  return guard(nullptr, [&] { return of(device).alloc(stream, space, bytes, memory); });
}

void free_memory(void *device, void *stream, sxt_space space, void *memory) { of(device).free(stream, space, memory); }

sxt_status keep_at_most(void *device, std::uint64_t bytes) {
  return of(device).call([&] { return of(device).keep_at_most(bytes); });
}

sxt_status copy(void *device, void *stream, void *to, const void *from, std::uint64_t bytes) {
  if (bytes == 0) return SXT_OK;
  return one_call(device, "copy", [&] {
    const cudaStream_t order = of(device).stream_or_own(stream);
    const cudaError_t problem = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, order);
    return problem == cudaSuccess && !stream ? cudaStreamSynchronize(order) : problem;
  });
}

sxt_status locate(void *device, const void *memory, sxt_space *space, std::int32_t *ordinal) {
  return of(device).call([&]() -> sxt_status {
    cudaPointerAttributes found{};
    if (const cudaError_t problem = cudaPointerGetAttributes(&found, memory))
      return cuda::outcome(of(device).ordinal(), problem, "ask where memory lies");
    *ordinal = found.device;
    switch (found.type) {
      case cudaMemoryTypeDevice: *space = SXT_SPACE_DEVICE; break;
      case cudaMemoryTypeManaged: *space = SXT_SPACE_MANAGED; break;
      case cudaMemoryTypeHost: *space = SXT_SPACE_PINNED; break;
      default: *space = SXT_SPACE_HOST, *ordinal = -1; break;
    }
    return SXT_OK;
  });
}

sxt_status classify(void *device, const void *memory, sxt_space *space) {
  std::int32_t ordinal = -1;
  return locate(device, memory, space, &ordinal);
}

sxt_status copy_peer(void *device, void *stream, void *to, void *from_device, const void *from, std::uint64_t bytes) {
  if (bytes == 0) return SXT_OK;
  return of(device).copy_peer(stream, to, of(from_device), from, bytes);
}

// ---- streams

sxt_status new_stream(void *device, unsigned flags, void **stream) {
  return one_call(device, "create a stream", [&] {
    cudaStream_t made = nullptr;
    const cudaError_t problem = cudaStreamCreateWithFlags(&made, flags);
    if (problem == cudaSuccess) *stream = made;
    return problem;
  });
}

sxt_status stream_create(void *device, void **stream) { return new_stream(device, cudaStreamNonBlocking, stream); }
// Never captured: the legacy stream waits for it and could not be used during a capture.
sxt_status stream_create_in_order(void *device, void **stream) { return new_stream(device, cudaStreamDefault, stream); }

// Work of the stream may use memory that is freed next without a stream: it ends first.
void stream_destroy(void *device, void *stream) {
  of(device).clean([&] {
    cudaStreamSynchronize(stream_of(stream));
    cudaStreamDestroy(stream_of(stream));
  });
}

sxt_status stream_synchronize(void *device, void *stream) {
  return of(device).call([&] {
    const cudaStream_t order = of(device).stream_or_own(stream);
    // CUDA would invalidate the capture; here the caller only gets an error.
    if (cuda::capturing(order))
      return cuda::refusal(SXT_E_STATE, "a stream that is being captured cannot be waited for");
    return cuda::outcome(of(device).ordinal(), cudaStreamSynchronize(order), "wait for a stream");
  });
}

sxt_status stream_check(void *device, void *stream) { return of(device).check_stream(stream); }

// ---- capture: only unsafe calls of this thread invalidate it

// CUDA refuses these two as well, but as an error of the application, which tools that watch its calls report.
sxt_status capture_begin(void *device, void *stream) {
  return of(device).call([&] {
    if (!stream || stream == cudaStreamLegacy)
      return cuda::refusal(SXT_E_NOT_SUPPORTED, "the legacy default stream cannot be captured");
    if (cuda::capturing(stream_of(stream))) return cuda::refusal(SXT_E_STATE, "the stream is being captured already");
    return cuda::outcome(of(device).ordinal(),
                         cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureModeThreadLocal),
                         "begin a capture");
  });
}

sxt_status capture_end(void *device, void *stream, void **graph) {
  return one_call(device, "end a capture", [&] {
    cudaGraph_t captured = nullptr;
    cudaError_t problem = cudaStreamEndCapture(stream_of(stream), &captured);
    if (problem != cudaSuccess || !captured)
      return problem != cudaSuccess ? problem : cudaErrorStreamCaptureInvalidated;
    cudaGraphExec_t ready = nullptr;
    problem = cudaGraphInstantiate(&ready, captured, 0);
    cudaGraphDestroy(captured);
    if (problem == cudaSuccess) *graph = ready;
    return problem;
  });
}

sxt_status graph_launch(void *device, void *stream, void *graph) {
  return one_call(device, "launch a graph", [&] {
    return cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), of(device).stream_or_own(stream));
  });
}

void graph_destroy(void *device, void *graph) {
  of(device).clean([&] { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph)); });
}

// ---- events

sxt_status event_create(void *device, void **event) {
  return one_call(device, "create an event", [&] {
    cudaEvent_t made = nullptr;
    const cudaError_t problem = cudaEventCreate(&made);
    if (problem == cudaSuccess) *event = made;
    return problem;
  });
}

void event_destroy(void *device, void *event) {
  of(device).clean([&] { cudaEventDestroy(static_cast<cudaEvent_t>(event)); });
}

sxt_status event_record(void *device, void *event, void *stream) {
  return one_call(device, "record an event",
                  [&] { return cudaEventRecord(static_cast<cudaEvent_t>(event), of(device).stream_or_own(stream)); });
}

sxt_status event_wait(void *device, void *event, void *stream) {
  return one_call(device, "wait for an event", [&] {
    return cudaStreamWaitEvent(of(device).stream_or_own(stream), static_cast<cudaEvent_t>(event), 0);
  });
}

sxt_status event_elapsed(void *device, void *from, void *to, double *seconds) {
  return one_call(device, "time two events", [&] {
    float milliseconds = 0;
    cudaError_t problem = cudaEventSynchronize(static_cast<cudaEvent_t>(to));
    if (problem == cudaSuccess)
      problem = cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(from), static_cast<cudaEvent_t>(to));
    *seconds = milliseconds * 1e-3;
    return problem;
  });
}

sxt_status enter(void *device) { return of(device).enter(); }
void leave(void *device) { of(device).leave(); }

sxt_status run(const void *, void *, const sxt_head *, const sxt_exec *) { return SXT_E_NOT_SUPPORTED; }

const sxt_device_ops ops = [] {
  sxt_device_ops o{};
  o.struct_size = sizeof o;
  o.count = count;
  o.describe = describe_machine;
  o.open = open;
  o.close = close;
  o.alloc = alloc;
  o.free = free_memory;
  o.copy = copy;
  o.stream_create = stream_create;
  o.stream_destroy = stream_destroy;
  o.stream_synchronize = stream_synchronize;
  o.classify = classify;
  o.capture_begin = capture_begin;
  o.capture_end = capture_end;
  o.graph_launch = graph_launch;
  o.graph_destroy = graph_destroy;
  o.event_create = event_create;
  o.event_destroy = event_destroy;
  o.event_record = event_record;
  o.event_wait = event_wait;
  o.event_elapsed = event_elapsed;
  o.enter = enter;
  o.leave = leave;
  o.stream_check = stream_check;
  o.locate = locate;
  o.copy_peer = copy_peer;
  o.stream_create_in_order = stream_create_in_order;
  o.keep_at_most = keep_at_most;
  return o;
}();

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_DEVICE, "device.cuda", "cuda", "NVIDIA GPUs through the shared CUDA runtime", run);
  k.ops = &ops;
  return k;
}();

}  // namespace

// No call of CUDA here: loading the plugin costs nothing; count() asks the driver.
extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  cuda::set_host(host);
  return offer<&kernel>("device-cuda", out);
}
