// SPDX-License-Identifier: BSD-3-Clause
// Streams on which captures are made.
#pragma once

#include "sextant/plugin/kinds/device.h"

namespace graph {

// The operations of exec's device. Throws cuda::Failure.
const sxt_device_ops &device_ops(const sxt_exec &exec);

// A session's own stream, on which work is captured and nothing runs: the application may enqueue on the caller's
// stream at the same time, and other threads may capture on theirs.
class Side {
 public:
  explicit Side(const sxt_exec &exec);  // throws cuda::Failure
  ~Side();
  Side(const Side &) = delete;
  Side &operator=(const Side &) = delete;
  void *stream() const { return stream_; }

 private:
  const sxt_device_ops &ops_;
  void *device_;
  void *stream_ = nullptr;
};

}  // namespace graph
