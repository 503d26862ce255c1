// SPDX-License-Identifier: BSD-3-Clause
// Sparse Cholesky on a GPU through the C interface: problems, a context, analyses with a launch of our choice, and
// answers that are checked.
#pragma once

#include <unistd.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support.hpp"
#include "tests/api/cholesky_support.hpp"
#include "tools/measure/cholesky_plan.hpp"

namespace cholesky_gpu {

using namespace api_test;
using gpu_test::CholeskyLaunch;

// A grid of points, 7-point in three dimensions, with values that are not all alike.
template <class T>
Sparse<T> grid(std::int64_t side, std::int64_t depth, int sign = 1) {
  Sparse<T> out;
  const std::int64_t n = side * side * depth;
  out.pattern.rows = out.pattern.cols = n;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t x = i % side, y = i / side % side, z = i / side / side;
    const auto put = [&](bool there, std::int64_t j) {
      if (!there) return;
      out.pattern.entry(static_cast<std::int32_t>(j), 0);
      const auto value = static_cast<Real<T>>(-1 - 0.1 * static_cast<double>((i + j) % 5));
      if constexpr (complex_v<T>)
        out.values.push_back(T(value, i == j ? 0 : static_cast<Real<T>>(i < j ? 0.3 : -0.3)));
      else
        out.values.push_back(value);
    };
    put(z > 0, i - side * side), put(y > 0, i - side), put(x > 0, i - 1), put(true, i);
    const double diagonal = 9.5 * (sign < 0 && i % 3 == 0 ? -1 : 1);
    out.values.back() = T(static_cast<Real<T>>(diagonal));
    put(x + 1 < side, i + 1), put(y + 1 < side, i + side), put(z + 1 < depth, i + side * side);
    out.pattern.end_row();
  }
  return out;
}

class CholeskyOnGpu : public testing::Test {
 protected:
  static constexpr const char *streams = "cholesky.streams.cuda", *levels = "cholesky.levels.cuda";
  static constexpr const char *both[] = {streams, levels};

  void SetUp() override {
    sxt_context_options options = context_options();
    options.device = "cuda";
    sxt_context *made = nullptr;
    const sxt_status status = sxt_context_create(&options, &made);
    if (status == SXT_E_DEVICE) GTEST_SKIP() << "no GPU: " << sxt_last_error(nullptr);
    ASSERT_EQ(status, SXT_OK) << sxt_last_error(nullptr);
    gpu_.reset(made);
  }
  Analysis analyse_on_gpu(const Matrix &matrix, const sxt_analysis_options &options = analysis_options(),
                          const char *scheduler = streams) {
    sxt_analysis_options own = options;
    own.scheduler = scheduler;
    return analyse(matrix, &own);
  }
  // Analysed with a launch of our choice.
  Analysis analyse_with(const Matrix &matrix, sxt_analysis_options options, const CholeskyLaunch &launch,
                        const char *scheduler = streams) {
    const std::string path = testing::TempDir() + "cholesky-" + std::to_string(getpid()) + ".toml";
    // A plan is of one structure, and without these the scheduler's model changes it.
    if (!options.permutation) options.order = "amd";
    if (options.amalgamation == 0) options.amalgamation = 16;
    if (options.block == 0) options.block = 256;
    analyse_on_gpu(matrix, options, scheduler);
    EXPECT_EQ(gpu_test::load_launch(gpu_.get(), path, launch), SXT_OK) << last_error(gpu_);
    Analysis out = analyse(matrix, &options);
    EXPECT_TRUE(gpu_test::has_launch(gpu_.get(), path, launch)) << "the plan was not followed";
    return out;
  }
  template <class T>
  std::vector<T> solve(const Cholesky &cholesky, const std::vector<T> &b, std::int64_t n, std::int64_t n_rhs) {
    std::vector<T> x(b.size(), T(77));
    EXPECT_EQ(sxt_cholesky_solve(cholesky.get(), n, n_rhs, b.data(), n, x.data(), n, nullptr, nullptr), SXT_OK)
        << last_error(gpu_);
    return x;
  }
  template <class T>
  void expect_solved(const Sparse<T> &a, const Cholesky &cholesky, std::int64_t n_rhs, const std::string &where) {
    const std::int64_t n = a.n();
    const std::vector<T> b = random_vector<T>(n * n_rhs, 3), x = solve(cholesky, b, n, n_rhs);
    for (std::int64_t j = 0; j < n_rhs; ++j)
      EXPECT_LE(a.backward_error(&b[j * n], &x[j * n]), 50 * std::numeric_limits<Real<T>>::epsilon()) << where;
  }
  Context gpu_;
};

}  // namespace cholesky_gpu
