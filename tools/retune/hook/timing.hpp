// SPDX-License-Identifier: BSD-3-Clause
// Trials on the device: two events around a launch, read later, without waiting. All under the registry's lock.
#pragma once

#include <optional>

#include "hook/driver.hpp"
#include "hook/kernel.hpp"

namespace sextant::retune {

struct Trial {
  Kernel *kernel = nullptr;
  Trials *trials = nullptr;
  Shape original, shape;
  driver::Handle before = nullptr, after = nullptr;
  double reserved_s = 0;
};

std::int64_t steady_ns();
// Called when the library is loaded: the budget of trials counts from then.
void start_clock();

// What a launch of a kernel that is not decided tries; none: it runs as it is.
std::optional<Trial> begin_trial(Kernel &kernel, Trials &trials, const Shape &original, driver::Handle stream);
// After the launch: the trial waits for its times, or is given up.
void end_trial(const Trial &trial, bool launched, driver::Handle stream);
// Reads the trials whose launches have ended, and keeps decisions.
void read_trials();
// Their events went with their context.
void forget_pending();
double trial_seconds();

}  // namespace sextant::retune
