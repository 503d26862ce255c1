// SPDX-License-Identifier: BSD-3-Clause
// The driver of the mock device "deferred", the counterpart of libcuda for its plugins: streams, memory, capture.
// Device memory is host memory, but work runs only when its stream is waited for, as late as a real device could. Tests
// read counters here, and set knobs that the mock plugins read.
#pragma once

#include <cstdint>
#include <functional>

#include "sextant/types.h"

namespace mock {

using Work = std::function<void()>;

// ---- for plugins; without a stream there is no work, only memory ----
void *stream_create();
void stream_destroy(void *stream);
sxt_status launch(void *stream, Work work);  // a kernel launch: enqueued, or captured while the stream is
sxt_status synchronize(void *stream);        // SXT_E_STATE while the stream is captured
sxt_status capture_begin(void *stream);
sxt_status capture_end(void *stream, void **graph);
sxt_status graph_launch(void *stream, void *graph);
void graph_destroy(void *graph);

// Filled with NaNs; NULL when there is none left. Freed in the stream's order; without one, after everything else.
void *allocate(void *stream, std::uint64_t bytes, std::uint64_t alignment);
void release(void *stream, void *memory);
bool is_device(const void *memory);  // within a piece of memory that is allocated now

// ---- for tests ----
// Named counters. The driver's own: "allocations", "live allocations", "launches", "captures", "graph launches",
// "live streams", "live graphs", "waiting work", "violations" (waits and allocations inside a capture, work without a
// stream).
void add(const char *counter, std::int64_t amount = 1);
std::int64_t counted(const char *counter);

// Named numbers that plugins look up; absent: their default.
void set_knob(const char *knob, double value);
double knob(const char *knob, double otherwise);
void forget_knobs();

// The n-th allocation from now fails, once; 0: none.
void fail_allocation(std::int64_t n);

}  // namespace mock
