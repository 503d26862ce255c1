// SPDX-License-Identifier: BSD-3-Clause
// Measured seconds of something that can be repeated, with the noise of the measurement.
#pragma once

#include <functional>
#include <vector>

namespace sextant {

struct Timing {
  double seconds = 0;  // median of one run
  double noise = 0;    // (third quartile - first quartile) / median
  int repeats = 0;     // samples taken; each may be a batch of runs
};

double seconds_now();  // of a steady clock

// Seconds of one run from samples of it. At least one sample.
Timing summarize(std::vector<double> samples);

// Warms up, then takes samples until budget_s is spent and at least min_repeats are there. Runs that last less than a
// few microseconds are timed in batches, so that reading the clock does not count. Nor does time in which this thread could
// have run and others did (Linux alone says so). What `run` throws passes through.
Timing time_runs(const std::function<void()> &run, double budget_s, int min_repeats = 5);

// Seconds of doing it once, likewise without what others took.
double time_once(const std::function<void()> &work);

}  // namespace sextant
