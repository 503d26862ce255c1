// SPDX-License-Identifier: BSD-3-Clause
// Ctrl-C during a solve: the first asks the solver to stop and report, the second ends the process unless there is
// something to tidy up.
#pragma once

#include <csignal>
#include <cstdint>

namespace tool {

// While it lives, SIGINT and SIGTERM raise the flag; afterwards they act as before. One at a time.
class InterruptFlag {
 public:
  // second_ends: the second one acts as it did before; otherwise it, too, raises the flag alone.
  explicit InterruptFlag(bool second_ends = true);
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag &) = delete;
  InterruptFlag &operator=(const InterruptFlag &) = delete;
  const volatile std::int32_t *flag() const;

 private:
  struct sigaction old_interrupt_, old_terminate_;
};

}  // namespace tool
