// SPDX-License-Identifier: BSD-3-Clause
// The host's request for the block that begins, read on the device.
#pragma once

#include "control.hpp"

namespace graph {

__device__ inline void take_in(const Request &request, Control &c) {
  c.last = request.last;
  c.tolerance_squared = request.tolerance_squared;
  if (!request.evaluate) return;
  c.k = c.first = request.first;
  c.replaced_from = request.replaced_from;
  c.test_first = request.test_first;
  if (request.restart) c.restart = 1;
  c.ended = Ended::running;
  c.turns = 0;
}

}  // namespace graph
