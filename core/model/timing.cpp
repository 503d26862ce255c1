// SPDX-License-Identifier: BSD-3-Clause
#include "core/model/timing.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
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

// How long the calling thread has been ready to run while others ran in its place, as Linux counts it.
class Delay {
 public:
  Delay() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
  ~Delay() {
    if (file_ >= 0) ::close(file_);
  }
  Delay(const Delay &) = delete;
  Delay &operator=(const Delay &) = delete;
  double seconds() const {  // 0 where it is not counted
    char text[96];
    const ssize_t length = file_ >= 0 ? ::pread(file_, text, sizeof text - 1, 0) : 0;
    if (length <= 0) return 0;
    text[length] = '\0';
    unsigned long long ran = 0, waited = 0;  // nanoseconds
    return std::sscanf(text, "%llu %llu", &ran, &waited) == 2 ? 1e-9 * static_cast<double>(waited) : 0;
  }

 private:
  const int file_;
};

// Without the time that other programs took from the calling thread: it says nothing of what is timed.
double time_batch(const std::function<void()> &run, std::int64_t count, const Delay &delay) {
  const double before = delay.seconds();
  const Clock::time_point start = Clock::now();
  for (std::int64_t i = 0; i < count; ++i) run();
  const double seconds = elapsed(start), others = delay.seconds() - before;
  return others < seconds ? seconds - others : seconds;
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

double time_once(const std::function<void()> &work) {
  const Delay delay;
  return time_batch(work, 1, delay);
}

Timing time_runs(const std::function<void()> &run, double budget_s, int min_repeats) {
  const Clock::time_point start = Clock::now();
  run();  // first touch, lazy loading: never counted
  // The batch is doubled until it lasts long enough; these runs warm the caches too.
  std::int64_t batch = 1;
  const Delay delay;
  while (time_batch(run, batch, delay) < shortest_sample_s && batch < largest_batch) batch *= 2;
  std::vector<double> samples;
  const auto least = static_cast<std::size_t>(std::max(1, min_repeats));
  while (samples.size() < least || (elapsed(start) < budget_s && samples.size() < most_samples))
    samples.push_back(time_batch(run, batch, delay) / static_cast<double>(batch));
  return summarize(std::move(samples));
}

}  // namespace sextant
