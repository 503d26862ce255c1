// SPDX-License-Identifier: BSD-3-Clause
// device.deferred: the mock driver as a device plugin.
#include <cstdint>

#include "../mock_driver.hpp"
#include "sextant/plugin/kinds/device.h"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/kernel.hpp"

using namespace sextant::plugin;

namespace {

struct Opened {};  // the handle kernels see; it holds nothing, but each context has its own

sxt_status count(std::int32_t *count, sxt_message *) { return *count = 1, SXT_OK; }

sxt_status describe_machine(std::int32_t, std::int32_t, sxt_machine *out) {
  out->name = "Deferred";
  out->level = 1;
  out->units = 2;
  out->memory_bytes = 1u << 30;
  out->stream_rate = out->cache_rate = 1e11;
  out->gather_rate = 1e9;
  out->flop_rate_f64 = out->flop_rate_f32 = 1e12;
  out->launch_s = 1e-6;
  return SXT_OK;
}

sxt_status open(const sxt_host *, std::int32_t, void **device) {
  return mock::add("device opens"), *device = new Opened, SXT_OK;
}
void close(void *device) { mock::add("device closes"), delete static_cast<Opened *>(device); }

sxt_status alloc(void *, void *stream, sxt_space, std::uint64_t bytes, std::uint64_t alignment, void **memory) {
  *memory = mock::allocate(stream, bytes, alignment);
  return *memory ? SXT_OK : SXT_E_MEMORY;
}
void free(void *, void *stream, sxt_space, void *memory) { mock::release(stream, memory); }

// In the stream's order for every pair of spaces: host memory is read or written only when the stream gets there.
sxt_status copy(void *, void *stream, void *to, const void *from, std::uint64_t bytes) {
  return mock::launch(stream, [=] { std::memmove(to, from, bytes); });
}

sxt_status stream_create(void *, void **stream) { return *stream = mock::stream_create(), SXT_OK; }
void stream_destroy(void *, void *stream) { mock::stream_destroy(stream); }
sxt_status stream_synchronize(void *, void *stream) { return mock::synchronize(stream); }
sxt_status capture_begin(void *, void *stream) { return mock::capture_begin(stream); }
sxt_status capture_end(void *, void *stream, void **graph) { return mock::capture_end(stream, graph); }
sxt_status graph_launch(void *, void *stream, void *graph) { return mock::graph_launch(stream, graph); }
void graph_destroy(void *, void *graph) { mock::graph_destroy(graph); }

sxt_status run(const void *, void *, const sxt_head *, const sxt_exec *) { return SXT_E_NOT_SUPPORTED; }

const sxt_device_ops ops = [] {
  sxt_device_ops o{};
  o.struct_size = sizeof o;
  o.count = count;
  o.describe = describe_machine;
  o.open = open;
  o.close = close;
  o.alloc = alloc;
  o.free = free;
  o.copy = copy;
  o.stream_create = stream_create;
  o.stream_destroy = stream_destroy;
  o.stream_synchronize = stream_synchronize;
  o.capture_begin = capture_begin;
  o.capture_end = capture_end;
  o.graph_launch = graph_launch;
  o.graph_destroy = graph_destroy;
  return o;
}();

const sxt_kernel kernel = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_DEVICE, "device.deferred", "deferred", "a device that works as late as it may", run);
  k.ops = &ops;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("hard-device", out);
}
