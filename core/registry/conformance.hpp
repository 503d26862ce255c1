// SPDX-License-Identifier: BSD-3-Clause
// The one conformance suite: every kernel of a kind against the kind's reference on the kind's own cases. Serves our
// tests, `sextant plugin check`, and the short test a stranger's kernel takes before it may first win.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/device/device.hpp"
#include "core/registry/registry.hpp"

namespace sextant::registry {

struct CheckLine {
  std::string kernel, check;  // check: the case's description
  bool passed = false;
  bool applicable = true;  // false: the kernel declined the case, with the reason in `sentence`
  double error_in_bounds = 0;
  std::string sentence;
};

struct ConformanceOptions {
  std::uint64_t seed = 1;
  double seconds = 0;  // stop after so much time with at least one case run; 0: all cases
  int threads = 1;
  bool answers_only = false;  // leave out what needs further runs: refresh, two callers, equal bits
};

// Runs the cases of the kernel's kind: builds the storage it reads from the case's CSR, fills its slots with the
// reference kernels of the kinds they name, prepares, opens, runs, compares with the reference's answer. Beside answers
// it checks what the contract promises: models that are finite and stable, reasons for declining, scratch kept within
// its bounds, no allocation while running, everything given back, equal answers after refresh and for two callers at
// once, and equal bits where they are promised (as far as the kind's compare can tell: it must give 0 for an answer and
// itself). Returns true when every applicable case passed and at least one was applicable. A kind without cases has
// nothing to fail: one line says so, and the result is true. Exceptions of the harness itself only.
bool check_kernel(const Kernel &kernel, Device &device, const ConformanceOptions &options,
                  const std::function<void(const CheckLine &)> &line, Registry &registry = Registry::instance());

// Stamps: a file that passed is remembered by path, size, modification time and content hash under
// $XDG_STATE_HOME/sextant/stamps (default ~/.local/state). Written atomically; a damaged stamp is no stamp.
bool is_stamped(const std::string &plugin_path);
// What a stamp of the file as it is now says: taken before the file is loaded and checked. Throws SXT_E_FILE_READ.
std::string stamp_of(const std::string &plugin_path);
// Throws SXT_E_FILE_WRITE, and SXT_E_PLUGIN when the file is no longer what that was taken of.
void write_stamp(const std::string &plugin_path, const std::string &contents);

// The in-process test of an untested kernel: at most 50 ms, once a process, sets its verdict (quarantines on a wrong
// answer). Stays untested when no case applies or the kind has none. Throws SXT_E_MEMORY, and may be called again, when
// memory was short: that says nothing about the kernel.
Verdict self_test(const Kernel &kernel, Device &device, Registry &registry = Registry::instance());

}  // namespace sextant::registry
