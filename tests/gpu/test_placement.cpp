// SPDX-License-Identifier: BSD-3-Clause
// An automatic context on a machine with a GPU: work on arrays in host memory runs on the faster device, and answers
// are correct on either.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "pcg.hpp"

namespace {

using namespace gpu_test;

class PlacementOnGpu : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    automatic_ = open_context("auto");
    ASSERT_TRUE(automatic_) << sxt_last_error(nullptr);
  }

  static Matrix matrix_in(const Context &context, const Csr &a) {
    return api_test::make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_csr(context.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), a.values.data(), nullptr,
                                 out);
    });
  }
  static Pcg solver_of(const Matrix &matrix) {
    return api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
  }
  // The least of several, in seconds.
  template <class F>
  static double seconds(F &&f) {
    double least = 1e9;
    for (int i = 0; i < 20; ++i) {
      const auto start = std::chrono::steady_clock::now();
      f();
      least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return least;
  }

  Context automatic_{nullptr, sxt_context_destroy};
};

TEST_F(PlacementOnGpu, ASmallSolveDoesNotWaitForTheDevice) {
  const Csr a = laplacian(3);
  const std::vector<double> ones(9, 1), b = a.times(ones);
  std::vector<double> x(9);
  const auto least = [&](const Context &context) {
    const Matrix matrix = matrix_in(context, a);
    const Pcg pcg = solver_of(matrix);
    return seconds([&] {
      ASSERT_EQ(sxt_pcg_solve_array(pcg.get(), 9, b.data(), x.data(), nullptr, nullptr), SXT_OK);
      ASSERT_LE(relative_residual(a, b, x), 1e-8);
    });
  };
  const double there = least(context_), chosen = least(automatic_);
  std::printf("[ runs     ] 9 unknowns: %.2f us on the device, %.2f us as chosen\n", 1e6 * there, 1e6 * chosen);
  EXPECT_LT(chosen, there / 3);
}

TEST_F(PlacementOnGpu, AProductOfHostArraysIsNoSlowerThanOnTheDevice) {
  for (const int side : {30, 400, 1000}) {
    const Csr a = laplacian(side);
    const auto n = static_cast<std::size_t>(a.rows);
    const std::vector<double> x(n, 1), right = a.times(x);
    std::vector<double> y(n);
    const auto least = [&](const Context &context) {
      const Matrix matrix = matrix_in(context, a);
      return seconds([&] {
        ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), x.data(), nullptr, y.data()), SXT_OK);
        ASSERT_EQ(y, right) << "sums of small integers are exact";
      });
    };
    const double there = least(context_), chosen = least(automatic_);
    std::printf("[ runs     ] product of %d rows: %.1f us on the device, %.1f us as chosen\n", int(a.rows), 1e6 * there,
                1e6 * chosen);
    EXPECT_LT(chosen, 1.25 * there) << side;
  }
}

TEST_F(PlacementOnGpu, VectorsOnTheDeviceAreSolvedForThere) {
  const Csr a = laplacian(5);
  const Matrix matrix = matrix_in(automatic_, a);
  const Pcg pcg = solver_of(matrix);
  const std::vector<double> b = a.times(std::vector<double>(25, 1));
  std::vector<double> x(25);
  sxt_vector *rhs = nullptr, *solution = nullptr;
  ASSERT_EQ(sxt_vector_create(automatic_.get(), 25, SXT_F64, &rhs), SXT_OK);
  ASSERT_EQ(sxt_vector_create(automatic_.get(), 25, SXT_F64, &solution), SXT_OK);
  ASSERT_EQ(sxt_vector_write(rhs, b.data()), SXT_OK);
  ASSERT_EQ(sxt_pcg_solve(pcg.get(), rhs, solution, nullptr, nullptr), SXT_OK) << sxt_last_error(automatic_.get());
  ASSERT_EQ(sxt_vector_read(solution, x.data()), SXT_OK);
  EXPECT_LE(relative_residual(a, b, x), 1e-8);
  // One of them on the device, as plain arrays.
  std::fill(x.begin(), x.end(), 0);
  ASSERT_EQ(sxt_pcg_solve_array(pcg.get(), 25, sxt_vector_data(rhs), x.data(), nullptr, nullptr), SXT_OK);
  EXPECT_LE(relative_residual(a, b, x), 1e-8);
  sxt_vector_destroy(rhs);
  sxt_vector_destroy(solution);
}

}  // namespace
