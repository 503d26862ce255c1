// SPDX-License-Identifier: BSD-3-Clause
// What a run may do to its process beside its answer: print, and leave settings of the calling thread changed.
#pragma once

#include <csignal>
#include <cstdint>
#include <string>

namespace sextant::conformance {

// Bytes that plugins have printed so far, where the process counts them, as `sextant plugin check` does; else 0.
std::uint64_t printed_bytes();

// From its construction to found(), in one thread.
class RunWatch {
 public:
  RunWatch();
  // What was done meanwhile, "" for nothing. Settings are put back, so that what follows computes as before.
  std::string found();

 private:
  std::uint64_t printed_;
  int rounding_;
  std::uint32_t control_;  // of the vector unit: flushing to zero and the like
  sigset_t blocked_;
  std::string locale_;
};

}  // namespace sextant::conformance
