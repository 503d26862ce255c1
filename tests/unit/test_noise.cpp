// SPDX-License-Identifier: BSD-3-Clause
// What is told of a machine that was not quiet, and calibrations that may not replace better ones.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/calibrate/noise.hpp"
#include "core/calibrate/sampler.hpp"
#include "core/context/context.hpp"
#include "core/model/timing.hpp"
#include "sextant/plugin/kinds/vector.h"

namespace sextant {
namespace {

TEST(Noise, IsToldInNumbersThatAProfileHolds) {
  Noise noise{0.5, 0, 0};
  EXPECT_FALSE(noise.quiet());
  EXPECT_NE(noise.text().find("50.0 %"), std::string::npos) << noise.text();
  for (const auto &[name, value] : noise.numbers()) {
    EXPECT_GT(value, 0) << name;
    const auto &known = further_numbers();
    EXPECT_TRUE(std::find(known.begin(), known.end(), name) != known.end()) << name;
  }
  EXPECT_TRUE((Noise{0.001, 0.01, 0.001}.quiet()));
}

TEST(Noise, NoticesTimeThatOthersTake) {
  NoiseWatch watch;
  for (int i = 0; i < 40; ++i) watch.look();
  const Noise noise = watch.found();
  EXPECT_GE(noise.repeats, 0);
  EXPECT_GE(noise.drift, 0);
  EXPECT_GE(noise.stolen, 0);
  EXPECT_LE(noise.stolen, 1);
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Four threads that never rest on this thread's processor: by the clock a long run takes about five times as long.
TEST(Timing, DoesNotCountWhatOthersTake) {
  if (!std::ifstream("/proc/thread-self/schedstat")) GTEST_SKIP() << "this system does not count the time of waiting";
  cpu_set_t before, one;
  ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
  std::atomic<bool> over{false};
  std::vector<std::thread> others;  // on the same processor: affinity is handed down
  for (int i = 0; i < 4; ++i)
    others.emplace_back([&] {
      while (!over) continue;
    });
  const auto work = [] {
    const double until = cpu_seconds() + 20e-3;
    while (cpu_seconds() < until) continue;
  };
  const double start = seconds_now();
  const Timing timing = time_runs(work, 0, 3);
  const double by_the_clock = (seconds_now() - start) / 5;
  over = true;
  for (std::thread &each : others) each.join();
  pthread_setaffinity_np(pthread_self(), sizeof before, &before);
  EXPECT_LT(timing.seconds, 1.3 * 20e-3);
  EXPECT_GT(timing.seconds, 0.9 * 20e-3);
  EXPECT_GT(by_the_clock, 2 * timing.seconds) << "the others did not disturb: the test says nothing";
}

// Samples of a kernel whose run takes 1 ns an element, measured with so much noise.
class BetterTest : public ::testing::Test {
 protected:
  BetterTest() {
    kernel.kind = SXT_KIND_VECTOR;
    kernel.name = "vector.x.cpu";
    kernel.version = 1;
    kernel.term_names = names;
    query.q.h = {sizeof query, SXT_KIND_VECTOR};
    query.q.value_type = SXT_F64;
    ContextSettings settings;
    settings.device = "cpu";
    settings.threads = 1;
    context = std::make_shared<Context>(settings);
  }
  std::map<ModelKey, FittedModel> fitted(double noise, Sampler &sampler) {
    for (int i = 0; i < 40; ++i) {
      sxt_candidate candidate{};
      candidate.n_terms = 2;
      candidate.units = 1;
      candidate.terms[0] = 1;
      candidate.terms[1] = 1000.0 * (i + 1);
      candidate.working_set_bytes = 8 * candidate.terms[1];
      const double off = 1 + noise * std::sin(1.7 * i);
      sampler.add_run(kernel, query.q, candidate, (1e-7 + 1e-9 * candidate.terms[1]) * off, i);
    }
    CalibrationSettings settings;
    const CalibrationClock clock(settings);
    return sampler.fit_all(clock);
  }
  const char *names[3] = {"launches", "stream_bytes", nullptr};
  sxt_kernel kernel{};
  sxt_vector_query query{};
  std::shared_ptr<Context> context;
};

TEST_F(BetterTest, ANoisyCalibrationDoesNotReplaceAQuietOne) {
  Sampler quiet(*context), noisy(*context);
  Profile known;
  known.models = fitted(0, quiet);
  auto models = fitted(0.1, noisy);
  ASSERT_EQ(models.size(), 1u);
  EXPECT_EQ(noisy.keep_better(known, models), 1);
  EXPECT_TRUE(models.empty());  // it has no set-up of its own to tell
}

TEST_F(BetterTest, AQuietOneReplacesANoisyOneAndAMachineThatChanged) {
  Sampler quiet(*context), noisy(*context);
  Profile known;
  known.models = fitted(0.1, noisy);
  for (auto &[key, model] : known.models)
    for (auto &regime : model.coefficients)
      for (double &each : regime) each *= 1.5;  // of another time
  auto models = fitted(0, quiet);
  EXPECT_EQ(quiet.keep_better(known, models), 0);
  EXPECT_EQ(models.size(), 1u);
}

}  // namespace
}  // namespace sextant
