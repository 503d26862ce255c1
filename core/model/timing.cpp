// SPDX-License-Identifier: BSD-3-Clause
#include "core/model/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/model/quantile.hpp"

namespace sextant {

namespace {

using Clock = std::chrono::steady_clock;

// Reading the clock takes about 30 ns: a sample of this length is wrong by less than a percent.
constexpr double shortest_sample_s = 5e-6;
constexpr std::int64_t largest_batch = 1 << 16;
constexpr std::size_t most_samples = 1000;

double elapsed(Clock::time_point since) { return std::chrono::duration<double>(Clock::now() - since).count(); }

double time_batch(const std::function<void()> &run, std::int64_t count) {
  const Clock::time_point start = Clock::now();
  for (std::int64_t i = 0; i < count; ++i) run();
  return elapsed(start);
}

}  // namespace

double seconds_now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

Timing summarize(std::vector<double> samples) {
  Timing timing;
  timing.seconds = quantile(samples, 0.5);
  timing.noise = timing.seconds > 0 ? (quantile(samples, 0.75) - quantile(samples, 0.25)) / timing.seconds : 0;
  timing.repeats = static_cast<int>(samples.size());
  return timing;
}

Timing time_runs(const std::function<void()> &run, double budget_s, int min_repeats) {
  const Clock::time_point start = Clock::now();
  run();  // first touch, lazy loading: never counted
  // The batch is doubled until it lasts long enough; these runs warm the caches too.
  std::int64_t batch = 1;
  while (time_batch(run, batch) < shortest_sample_s && batch < largest_batch) batch *= 2;
  std::vector<double> samples;
  const auto least = static_cast<std::size_t>(std::max(1, min_repeats));
  while (samples.size() < least || (elapsed(start) < budget_s && samples.size() < most_samples))
    samples.push_back(time_batch(run, batch) / static_cast<double>(batch));
  return summarize(std::move(samples));
}

}  // namespace sextant
