// SPDX-License-Identifier: BSD-3-Clause
// The cancel flag that signals raise.
#include "report/interrupt.hpp"

#include <cstdint>
#include <type_traits>

namespace tool {
namespace {

// The library wants an int32_t, a handler may write a sig_atomic_t: here they are one type.
static_assert(std::is_same_v<std::sig_atomic_t, std::int32_t>);
volatile std::sig_atomic_t interrupted = 0;

void raise_flag(int) { interrupted = 1; }

}  // namespace

InterruptFlag::InterruptFlag(bool second_ends) {
  interrupted = 0;
  struct sigaction action {};
  action.sa_handler = raise_flag;
  sigemptyset(&action.sa_mask);
  action.sa_flags = static_cast<int>(second_ends ? SA_RESETHAND | SA_RESTART : SA_RESTART);
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

InterruptFlag::~InterruptFlag() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

const volatile std::int32_t *InterruptFlag::flag() const { return &interrupted; }

}  // namespace tool
