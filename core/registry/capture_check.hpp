// SPDX-License-Identifier: BSD-3-Clause
// The proof that a kernel keeps the promise SXT_KERNEL_CAPTURABLE: captured once and replayed on other inputs it gives
// the bits that a plain run gives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/device/device.hpp"

namespace sextant::registry {

// An array in device space that a run reads. `changed` are other contents of as many bytes in host memory; NULL: the
// array's own, rotated by one element.
struct CaptureInput {
  void *data;
  std::uint64_t bytes, element_bytes;
  const void *changed = nullptr;
};
// An array in device space that a run writes. What it also reads of it (x in y = a x + b y) is listed as input, too.
struct CaptureOutput {
  void *data;
  std::uint64_t bytes;
};

// Runs `bound` eagerly on the inputs as they are and on changed ones, captures one run on the device, replays it on
// both (twice on the changed ones) and compares all outputs bit for bit. Inputs and outputs are put back before it
// returns. Throws SXT_E_PLUGIN with what went wrong, SXT_E_NOT_SUPPORTED when the device cannot capture, SXT_E_ARGUMENT
// when the inputs given cannot tell a fresh answer from a stale one.
void prove_capturable(const sxt_bound &bound, Device &device, const sxt_head *args,
                      const std::vector<CaptureInput> &inputs, const std::vector<CaptureOutput> &outputs);

}  // namespace sextant::registry
