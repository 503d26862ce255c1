// SPDX-License-Identifier: BSD-3-Clause
// The few functions of the CUDA driver that the runtime does not offer: they make a device current on a thread and
// restore the thread's state exactly, which may be no context or one that the caller made. They are looked up through
// the runtime, so that nothing links libcuda.
#pragma once

#include <cstddef>
#include <string>

namespace sextant::device_cuda {

// Driver-level handles; declared here, because the runtime's headers do not bring the driver's.
using Context = struct CUctx_st *;
using DriverStream = struct CUstream_st *;
using DriverStatus = int;  // 0 is success

struct Driver {
  DriverStatus (*device_get)(int *device, int ordinal);
  DriverStatus (*device_name)(char *name, int length, int device);
  DriverStatus (*device_memory)(std::size_t *bytes, int device);
  DriverStatus (*context_retain)(Context *context, int device);
  DriverStatus (*context_release)(int device);
  DriverStatus (*context_push)(Context context);
  DriverStatus (*context_pop)(Context *context);
  DriverStatus (*stream_context)(DriverStream stream, Context *context);
  DriverStatus (*exchange_capture_mode)(int *mode);
};

// While it lives, calls of this thread do not invalidate a capture: an application that captures in the global mode
// (CUDA's default) would lose its capture when another thread allocates memory or loads code. They nest; afterwards the
// thread has its former mode. Nothing is captured by mistake: every stream is first tested for a capture.
class OutsideCaptures {
 public:
  explicit OutsideCaptures(const Driver &calls) { enter(calls); }
  ~OutsideCaptures() { leave(); }
  OutsideCaptures(const OutsideCaptures &) = delete;
  OutsideCaptures &operator=(const OutsideCaptures &) = delete;
  // The same in two calls.
  static void enter(const Driver &calls);
  static void leave();
};

// The driver's functions; NULL with the reason when one of them is missing. Looked up until it succeeds once.
const Driver *driver(std::string &problem);

}  // namespace sextant::device_cuda
