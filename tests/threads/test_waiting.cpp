// SPDX-License-Identifier: BSD-3-Clause
// How the library's threads wait: they do not occupy cores that other programs need, and nothing waits for a thread
// that the system does not run. Settings of the process do not change.
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

#include "sextant/pcg.h"
#include "tests/api/support.hpp"

namespace {

using namespace api_test;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Matrix grid(const Context &context, int m) {
  Csr a;
  a.rows = a.cols = m * m;
  for (int i = 0; i < m * m; ++i) {
    const auto add = [&](int j, double v) { a.col.push_back(j), a.values.push_back(v); };
    if (i >= m) add(i - m, -1);
    if (i % m) add(i - 1, -1);
    add(i, 4.01);
    if ((i + 1) % m) add(i + 1, -1);
    if (i + m < m * m) add(i + m, -1);
    a.ptr.push_back(static_cast<std::int32_t>(a.col.size()));
  }
  return make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), a.values.data(), nullptr,
                               out);
  });
}

double seconds_of_setup_and_solve(int threads, int m) {
  const Context context = cpu(threads);
  const Matrix a = grid(context, m);
  const std::vector<double> b(static_cast<std::size_t>(m * m), 1.0);
  std::vector<double> x(b.size());
  const Clock::time_point start = Clock::now();
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(a.get(), nullptr, out); });
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), m * m, b.data(), x.data(), nullptr, nullptr), SXT_OK);
  return seconds_since(start);
}

// Processes that compute as long as the object lives, two a core.
class BusyCores {
 public:
  BusyCores() {
    for (unsigned i = 0; i < 2 * std::max(1u, std::thread::hardware_concurrency()); ++i) {
      const pid_t child = fork();
      if (child == 0)
        for (volatile unsigned k = 0;;) k = k + 1;
      children_.push_back(child);
    }
  }
  ~BusyCores() {
    for (const pid_t child : children_) kill(child, SIGKILL), waitpid(child, nullptr, 0);
  }

 private:
  std::vector<pid_t> children_;
};

// With threads that spin where they wait, set-up and solve took 50 to 700 times as long on two threads as on one.
TEST(WaitingTest, BusyCoresSlowACallOnlyByTheirShare) {
  seconds_of_setup_and_solve(2, 100);  // plugins are loaded, threads made
  const BusyCores busy;
  double least_ratio = 1e9;
  for (int attempt = 0; attempt < 3 && least_ratio > 3; ++attempt) {  // the system's scheduler varies
    double one = 0, two = 0;
    for (int i = 0; i < 4; ++i) one += seconds_of_setup_and_solve(1, 100), two += seconds_of_setup_and_solve(2, 100);
    least_ratio = std::min(least_ratio, two / one);
  }
  EXPECT_LE(least_ratio, 3);
}

TEST(WaitingTest, ThreadsSleepSoonAfterACall) {
  const Context context = cpu(4);
  const Matrix a = grid(context, 300);
  const std::vector<double> x(300 * 300, 1.0);
  std::vector<double> y(x.size());
  // The least of some rounds: what another program costs a thread on its way to sleep is not the library's.
  double least = 1;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 50; ++i)
      ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a.get(), x.data(), nullptr, y.data()), SXT_OK);
    const double before = processor_seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    least = std::min(least, processor_seconds() - before);
  }
  EXPECT_LE(least, 2e-3) << "processor time of threads that have nothing to do";
}

TEST(WaitingTest, NothingOfTheHostsSettingsChanges) {
  omp_set_num_threads(3);
  omp_set_dynamic(1);
  omp_set_max_active_levels(2);
  const char *policy = std::getenv("OMP_WAIT_POLICY");
  const std::string before = policy ? policy : "";
  cpu_set_t mask_before, mask_after;
  ASSERT_EQ(sched_getaffinity(0, sizeof mask_before, &mask_before), 0);
  seconds_of_setup_and_solve(4, 60);
  ASSERT_EQ(sched_getaffinity(0, sizeof mask_after, &mask_after), 0);
  EXPECT_TRUE(CPU_EQUAL(&mask_before, &mask_after));
  EXPECT_EQ(omp_get_max_threads(), 3);
  EXPECT_EQ(omp_get_dynamic(), 1);
  EXPECT_EQ(omp_get_max_active_levels(), 2);
  policy = std::getenv("OMP_WAIT_POLICY");
  EXPECT_EQ(before, policy ? policy : "");
}

// Signals of the process go to its own threads, not to those of the library.
TEST(WaitingTest, SignalsAreNotTakenByTheLibrarysThreads) {
  static std::atomic<int> elsewhere{0};
  static pthread_t own;
  own = pthread_self();
  seconds_of_setup_and_solve(4, 60);
  struct sigaction action {
  }, old{};
  action.sa_handler = [](int) { elsewhere += !pthread_equal(pthread_self(), own); };
  ASSERT_EQ(sigaction(SIGUSR1, &action, &old), 0);
  for (int i = 0; i < 100; ++i) kill(getpid(), SIGUSR1);
  ASSERT_EQ(sigaction(SIGUSR1, &old, nullptr), 0);
  EXPECT_EQ(elsewhere, 0);
}

}  // namespace
