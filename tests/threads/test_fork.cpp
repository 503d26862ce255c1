// SPDX-License-Identifier: BSD-3-Clause
// A child that is forked after the library was used: contexts of the CPU continue to work, on new threads of the child.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <thread>
#include <vector>

#include "sextant/pcg.h"
#include "tests/api/support.hpp"

namespace {

using namespace api_test;

constexpr int order = 40000;

Matrix laplacian(const Context &context) {
  Csr a;
  a.rows = a.cols = order;
  for (int i = 0; i < order; ++i) {
    if (i > 0) a.col.push_back(i - 1), a.values.push_back(-1);
    a.col.push_back(i), a.values.push_back(2.5);
    if (i + 1 < order) a.col.push_back(i + 1), a.values.push_back(-1);
    a.ptr.push_back(static_cast<std::int32_t>(a.col.size()));
  }
  return make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context.get(), order, order, a.ptr.data(), a.col.data(), a.values.data(), nullptr, out);
  });
}

// 0, or the number of the failed step.
int use(const Context &context, const Matrix &a, const Pcg &pcg) {
  std::vector<double> ones(order, 1.0), b(order), x(order);
  if (sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a.get(), ones.data(), nullptr, b.data()) != SXT_OK) return 1;
  if (b[0] != 1.5 || b[order / 2] != 0.5) return 2;
  if (sxt_pcg_solve_array(pcg.get(), order, b.data(), x.data(), nullptr, nullptr) != SXT_OK) return 3;
  for (const double value : x)
    if (std::abs(value - 1) > 1e-5) return 4;
  double sum = 0;
  const Vector v = wrap(context, ones);
  if (sxt_sum(v.get(), &sum) != SXT_OK || sum != order) return 5;
  return 0;
}

// The exit status of a child that calls f, or -1 where it took more than 20 s.
template <class F>
int in_child(F &&f) {
  const pid_t child = fork();
  if (child == 0) _exit(f());
  for (int waits = 0; waits < 2000; ++waits) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

TEST(ForkTest, AChildUsesWhatTheParentMade) {
  const Context context = cpu(4);
  const Matrix a = laplacian(context);
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(a.get(), nullptr, out); });
  ASSERT_EQ(use(context, a, pcg), 0) << last_error(context);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(in_child([&] { return use(context, a, pcg); }), 0) << "-1: it hung";
  EXPECT_EQ(use(context, a, pcg), 0) << "the parent afterwards";
}

TEST(ForkTest, AChildMakesItsOwnContexts) {
  const Context context = cpu(3);
  const Matrix a = laplacian(context);
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(a.get(), nullptr, out); });
  ASSERT_EQ(use(context, a, pcg), 0);
  const auto child = [&] {
    const Context own = cpu(4);
    const Matrix b = laplacian(own);
    const Pcg its = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(b.get(), nullptr, out); });
    if (const int problem = use(own, b, its)) return problem;
    const int grandchild = in_child([&] { return use(own, b, its); });
    return grandchild ? 10 + grandchild : 0;
  };
  EXPECT_EQ(in_child(child), 0);
}

// Threads that compute while another one forks.
TEST(ForkTest, ForksBesideRunningProducts) {
  const Context context = cpu(4);
  const Matrix a = laplacian(context);
  const std::vector<double> ones(order, 1.0);
  std::vector<double> own(order);
  ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a.get(), ones.data(), nullptr, own.data()), SXT_OK);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    std::vector<double> y(order);
    while (!stop) EXPECT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a.get(), ones.data(), nullptr, y.data()), SXT_OK);
  });
  // A product that is planned needs no lock that the other thread may have held.
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(
        in_child([&] { return sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a.get(), ones.data(), nullptr, own.data()); }),
        0);
  stop = true;
  other.join();
}

}  // namespace
