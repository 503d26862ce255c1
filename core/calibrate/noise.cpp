// SPDX-License-Identifier: BSD-3-Clause
#include "core/calibrate/noise.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <fstream>

#include "core/model/quantile.hpp"
#include "core/model/timing.hpp"

namespace sextant {

namespace {

constexpr std::size_t words = 4096, repeats_a_look = 9, most_looks = 20000;
constexpr std::size_t parts = 10;  // of a calibration, between which it may drift
// Beyond these, models of a run are less certain than on a machine of one's own.
constexpr double quiet_repeats = 0.03, quiet_drift = 0.10, quiet_stolen = 0.03;
constexpr double least = 1e-6;  // a profile's numbers are positive

// Nothing but arithmetic on what a private cache holds: what differs between two of these is no property of a kernel.
double work(std::vector<double> &numbers) {
  double sum = 0;
  for (double &each : numbers) each = 0.5 * each + 0.25, sum += each;
  return sum;
}

}  // namespace

bool Noise::quiet() const { return repeats <= quiet_repeats && drift <= quiet_drift && stolen <= quiet_stolen; }

std::string Noise::text() const {
  char words_of_it[160];
  std::snprintf(
      words_of_it, sizeof words_of_it,
      "the same work scattered by %.1f %% at once and by %.0f %% over the calibration, and %.0f %% of the time "
      "went to others",
      100 * repeats, 100 * drift, 100 * stolen);
  return words_of_it;
}

std::map<std::string, double> Noise::numbers() const {
  return {{"noise_repeats", std::max(repeats, least)},
          {"noise_drift", std::max(drift, least)},
          {"noise_stolen", std::max(stolen, least)}};
}

NoiseWatch::NoiseWatch() : begin_(times_now()) {}

// What Linux counts; elsewhere nothing was stolen as far as is known.
NoiseWatch::Times NoiseWatch::times_now() {
  Times times;
  double ran = 0, waited = 0;  // nanoseconds: running, and ready to run
  if (std::ifstream file("/proc/thread-self/schedstat"); file >> ran >> waited)
    times.ran = 1e-9 * ran, times.waited = 1e-9 * waited;
  std::ifstream file("/proc/stat");
  std::string name;
  // user, nice, system, idle, iowait, irq, softirq, steal
  std::array<double, 8> ticks{};
  if (!(file >> name) || name != "cpu") return times;
  for (double &each : ticks)
    if (!(file >> each)) return times;
  times.stolen = ticks.back();
  for (std::size_t i = 0; i < ticks.size(); ++i)
    if (i != 3 && i != 4) times.all += ticks[i];
  return times;
}

void NoiseWatch::look() {
  if (medians_.size() >= most_looks) return;
  numbers_.resize(words);
  volatile double sink = 0;
  std::vector<double> seconds;
  for (std::size_t i = 0; i < repeats_a_look; ++i) {
    const double start = seconds_now();
    for (int twice = 0; twice < 2; ++twice) sink = sink + work(numbers_);
    seconds.push_back(seconds_now() - start);
  }
  const Timing timing = summarize(std::move(seconds));
  medians_.push_back(timing.seconds);
  spreads_.push_back(timing.noise);
}

Noise NoiseWatch::found() const {
  Noise noise;
  if (!spreads_.empty()) noise.repeats = quantile(spreads_, 0.5);
  std::vector<double> levels;
  for (std::size_t part = 0; part < parts && medians_.size() >= 2 * parts; ++part) {
    const auto at = [&](std::size_t p) {
      return medians_.begin() + static_cast<std::ptrdiff_t>(p * medians_.size() / parts);
    };
    levels.push_back(quantile(std::vector<double>(at(part), at(part + 1)), 0.5));
  }
  if (!levels.empty()) {
    const auto [fast, slow] = std::minmax_element(levels.begin(), levels.end());
    if (*fast > 0) noise.drift = *slow / *fast - 1;
  }
  const Times now = times_now();
  const double ran = now.ran - begin_.ran, waited = now.waited - begin_.waited;
  const double all = now.all - begin_.all, stolen = now.stolen - begin_.stolen;
  if (ran + waited > 0) noise.stolen = waited / (ran + waited);
  if (all > 0) noise.stolen += (1 - noise.stolen) * stolen / all;
  return noise;
}

}  // namespace sextant
