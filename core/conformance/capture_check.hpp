// SPDX-License-Identifier: BSD-3-Clause
// The proof that a kernel keeps the promise SXT_KERNEL_CAPTURABLE: captured once and replayed on other inputs it gives
// the bits that a plain run gives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/device/device.hpp"
#include "core/registry/registry.hpp"

namespace sextant::conformance {

using registry::Kernel;
using registry::Kind;
using registry::Registry;
using registry::Scope;

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

// The same on case i of a kind, with everything that move_case puts into device space as input and output. False when
// the case cannot tell (nothing in it can be changed). Throws as prove_capturable, SXT_NOT_APPLICABLE for a kind whose
// cases cannot be moved.
bool prove_case_capturable(const sxt_bound &bound, Device &device, const Kind &kind, std::uint64_t seed,
                           std::uint64_t i);

// Before a third party's kernel is bound where work is captured: proves it on a case of its kind, once a process, and
// quarantines it when it does not keep its promise. Aims at 50 ms. The library's own are proven by its tests. Throws
// SXT_E_MEMORY when memory is short, and then tests again next time.
void capture_test(const Kernel &kernel, Device &device, const Scope &scope = Registry::instance());

}  // namespace sextant::conformance
