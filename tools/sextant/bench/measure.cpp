// SPDX-License-Identifier: BSD-3-Clause
// Interleaved timing with medians and quartiles.
#include "bench/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>

#include "report/error.hpp"

namespace tool {
namespace {

// Shorter samples would measure the clock.
constexpr double sample_seconds = 5e-4;
// Beyond this distance from the textbook's result one is called wrong: far above rounding, far below a mistake.
constexpr double wrong = 1e-8;
// After a run longer than this the caches hold nothing of the run before it.
constexpr double long_run = 5e-2;
// Longer than idle threads of the common libraries spin.
constexpr std::chrono::milliseconds settle(60);

double time_runs(const std::function<void()> &run, std::int64_t count) {
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < count; ++i) run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// How many runs make one sample: doubled until they last long enough. The runs are the warm-up too.
std::int64_t runs_per_sample(const std::function<void()> &run) {
  std::int64_t count = 1;
  while (time_runs(run, count) < sample_seconds && count < (std::int64_t{1} << 24)) count *= 2;
  return count;
}

// The first run, its result, and how many runs make a sample; 0 when it failed or is wrong.
std::int64_t try_out(Contender &contender) {
  try {
    contender.run();
  } catch (const ToolError &error) {
    contender.failure = error.what();
    return 0;
  }
  if (contender.error) contender.result_error = contender.error();
  // Written so that a NaN counts as wrong.
  if (!(contender.result_error <= wrong)) {
    contender.failure = fmt::format("its result differs from the textbook's by {:.1e}, relative to the largest entry",
                                    contender.result_error);
    return 0;
  }
  return runs_per_sample(contender.run);
}

// Linear between the two samples nearest to the fraction; samples are sorted.
double quantile(const std::vector<double> &samples, double fraction) {
  const double place = fraction * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  return samples[below] + (place - static_cast<double>(below)) * (samples[above] - samples[below]);
}

// Seconds of one run. The first run is not timed: it finds the caches as the previous contender left them.
double sample(const Contender &contender, std::int64_t count, double usual) {
  if (usual < long_run) contender.run();
  const double seconds = time_runs(contender.run, count) / static_cast<double>(count);
  if (contender.own_threads) std::this_thread::sleep_for(settle);
  return seconds;
}

}  // namespace

double seconds_of(const std::function<void()> &f) { return time_runs(f, 1); }

void measure(std::vector<Contender> &contenders, int repeat) {
  std::vector<std::int64_t> runs;
  for (Contender &contender : contenders) runs.push_back(try_out(contender));
  std::vector<std::vector<double>> samples(contenders.size());
  for (int round = 0; round < repeat; ++round) {
    for (std::size_t turn = 0; turn < contenders.size(); ++turn) {
      const std::size_t i = (turn + static_cast<std::size_t>(round)) % contenders.size();
      if (runs[i] == 0) continue;
      const double usual = samples[i].empty() ? 0 : samples[i].front();
      samples[i].push_back(sample(contenders[i], runs[i], usual));
    }
  }
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    if (runs[i] == 0) continue;
    std::sort(samples[i].begin(), samples[i].end());
    contenders[i].seconds = quantile(samples[i], 0.5);
    contenders[i].spread = (quantile(samples[i], 0.75) - quantile(samples[i], 0.25)) / contenders[i].seconds;
  }
}

}  // namespace tool
