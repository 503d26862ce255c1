// SPDX-License-Identifier: BSD-3-Clause
// An automatic context whose device runs nothing: where a result is right, the CPU computed it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fake_device/fixture.hpp"

namespace {

class Placement : public fake_test::FakeDevice {
 protected:
  void SetUp() override {
    FakeDevice::SetUp();
    if (!IsSkipped()) open("auto");
  }
  void TearDown() override {
    close();
    FakeDevice::TearDown();
  }

  void open(const char *device, int deterministic = 0) {
    sxt_context_options options;
    sxt_context_options_init(&options, sizeof options);
    options.device = device;
    options.deterministic = deterministic;
    ASSERT_EQ(sxt_context_create(&options, &context_), SXT_OK) << sxt_last_error(nullptr);
    char words[256];
    ASSERT_EQ(sxt_context_describe(context_, words, sizeof words, nullptr), SXT_OK);
    ASSERT_EQ(std::string(words).substr(0, 5), "cuda:");
  }
  void close() {
    sxt_pcg_destroy(pcg_);
    sxt_matrix_destroy(a_);
    sxt_context_destroy(context_);
    pcg_ = nullptr;
    a_ = nullptr;
    context_ = nullptr;
  }

  // Tridiagonal: d on the diagonal, -1 beside it.
  void matrix(std::int32_t n, double d) {
    n_ = n;
    std::vector<std::int32_t> row_ptr{0}, col;
    std::vector<double> values;
    for (std::int32_t i = 0; i < n; ++i) {
      for (std::int32_t j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
        col.push_back(j), values.push_back(i == j ? d : -1);
      row_ptr.push_back(static_cast<std::int32_t>(col.size()));
    }
    ASSERT_EQ(sxt_matrix_from_csr(context_, n, n, row_ptr.data(), col.data(), values.data(), nullptr, &a_), SXT_OK)
        << sxt_last_error(context_);
  }
  // A times ones has d - 2 inside and d - 1 at the ends.
  double of_ones(std::int32_t i, double d) const { return d - 2 + (i == 0) + (i == n_ - 1); }
  std::vector<double> rhs(double d) const {
    std::vector<double> b;
    for (std::int32_t i = 0; i < n_; ++i) b.push_back(of_ones(i, d));
    return b;
  }
  void expect_ones(const std::vector<double> &x) const {
    for (const double each : x) ASSERT_NEAR(each, 1, 1e-6);
  }
  std::string explanation() const {
    std::string out(1 << 16, '\0');
    std::int64_t length = 0;
    EXPECT_EQ(sxt_pcg_explain(pcg_, SXT_TEXT, out.data(), static_cast<std::int64_t>(out.size()), &length), SXT_OK);
    return out.substr(0, static_cast<std::size_t>(length));
  }

  std::int32_t n_ = 0;
  sxt_context *context_ = nullptr;
  sxt_matrix *a_ = nullptr;
  sxt_pcg *pcg_ = nullptr;
};

TEST_F(Placement, AProductOfHostArraysNeedNotCrossTheBus) {
  matrix(9, 4);
  const std::vector<double> x(9, 1.0);
  std::vector<double> y(9, -7.0);
  const double alpha = 2, beta = 1;
  ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, &alpha, a_, x.data(), &beta, y.data()), SXT_OK)
      << sxt_last_error(context_);
  for (std::int32_t i = 0; i < n_; ++i) EXPECT_EQ(y[static_cast<std::size_t>(i)], 2 * of_ones(i, 4) - 7);
  const std::vector<double> block(2 * 9, 1.0);
  std::vector<double> out(2 * 9, 0.0);
  ASSERT_EQ(sxt_spmv_block(SXT_TRANSPOSE, nullptr, a_, 2, block.data(), 9, nullptr, out.data(), 9), SXT_OK);
  for (std::int32_t i = 0; i < n_; ++i) EXPECT_EQ(out[static_cast<std::size_t>(9 + i)], of_ones(i, 4));
}

TEST_F(Placement, ASmallSystemIsSolvedOnTheCpuAndSaysWhy) {
  matrix(9, 4);
  ASSERT_EQ(sxt_pcg_create(a_, nullptr, &pcg_), SXT_OK) << sxt_last_error(context_);
  const std::vector<double> b = rhs(4);
  std::vector<double> x(9, 0.0);
  ASSERT_EQ(sxt_pcg_solve_array(pcg_, 9, b.data(), x.data(), nullptr, nullptr), SXT_OK) << sxt_last_error(context_);
  expect_ones(x);
  EXPECT_NE(explanation().find("arrays in host memory are solved for on the CPU"), std::string::npos) << explanation();
  std::vector<double> columns(b), solved(2 * 9, 0.0);
  columns.insert(columns.end(), b.begin(), b.end());
  ASSERT_EQ(sxt_pcg_solve_block(pcg_, 9, 2, columns.data(), 9, solved.data(), 9, nullptr, nullptr), SXT_OK);
  expect_ones(solved);
}

TEST_F(Placement, NewValuesReachTheCpuToo) {
  matrix(9, 4);
  ASSERT_EQ(sxt_pcg_create(a_, nullptr, &pcg_), SXT_OK) << sxt_last_error(context_);
  const std::vector<double> ones(9, 1.0);
  std::vector<double> x(9, 0.0), y(9, 0.0), values;
  ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a_, ones.data(), nullptr, y.data()), SXT_OK);
  for (std::int32_t i = 0; i < 9; ++i)
    for (std::int32_t j = std::max(0, i - 1); j <= std::min(8, i + 1); ++j) values.push_back(i == j ? 10 : -1);
  ASSERT_EQ(sxt_matrix_update_values(a_, values.data(), static_cast<std::int64_t>(values.size())), SXT_OK);
  ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a_, ones.data(), nullptr, y.data()), SXT_OK);
  for (std::int32_t i = 0; i < 9; ++i) EXPECT_EQ(y[static_cast<std::size_t>(i)], of_ones(i, 10));
  ASSERT_EQ(sxt_pcg_solve_array(pcg_, 9, y.data(), x.data(), nullptr, nullptr), SXT_OK) << sxt_last_error(context_);
  expect_ones(x);
}

TEST_F(Placement, TheMatrixOutlivesItsHandle) {
  matrix(9, 4);
  ASSERT_EQ(sxt_pcg_create(a_, nullptr, &pcg_), SXT_OK);
  sxt_matrix_destroy(a_);
  a_ = nullptr;
  const std::vector<double> b = rhs(4);
  std::vector<double> x(9, 0.0);
  ASSERT_EQ(sxt_pcg_solve_array(pcg_, 9, b.data(), x.data(), nullptr, nullptr), SXT_OK) << sxt_last_error(context_);
  expect_ones(x);
}

TEST_F(Placement, WhatNamesADeviceStaysThere) {
  const std::vector<double> x(9, 1.0);
  std::vector<double> y(9, -7.0);
  const auto launches_of_a_product = [&] {
    const std::int64_t before = fake_count("launches");
    EXPECT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a_, x.data(), nullptr, y.data()), SXT_OK);
    return fake_count("launches") - before;
  };
  matrix(9, 4);
  EXPECT_EQ(launches_of_a_product(), 0);
  ASSERT_EQ(sxt_context_force(context_, "sxt.spmv/1", "spmv.csr.scalar.cuda"), SXT_OK) << sxt_last_error(context_);
  EXPECT_GT(launches_of_a_product(), 0) << "a kernel of the device was forced";
  ASSERT_EQ(sxt_context_force(context_, "sxt.spmv/1", nullptr), SXT_OK);
  EXPECT_EQ(launches_of_a_product(), 0);
  close();
  open("cuda");
  matrix(9, 4);
  EXPECT_GT(launches_of_a_product(), 0) << "the device was named";
  close();
  open("auto", 1);
  matrix(9, 4);
  EXPECT_GT(launches_of_a_product(), 0) << "deterministic";
}

TEST_F(Placement, APlanSaysWhere) {
  const std::string path = testing::TempDir() + "sextant-placement-plan.toml";
  matrix(9, 4);
  const std::vector<double> ones(9, 1.0), b = rhs(4);
  std::vector<double> x(9, 0.0), y(9, 0.0);
  const auto use = [&] {
    ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a_, ones.data(), nullptr, y.data()), SXT_OK)
        << sxt_last_error(context_);
    EXPECT_EQ(y, b);
    ASSERT_EQ(sxt_pcg_create(a_, nullptr, &pcg_), SXT_OK) << sxt_last_error(context_);
    ASSERT_EQ(sxt_pcg_solve_array(pcg_, 9, b.data(), x.data(), nullptr, nullptr), SXT_OK) << sxt_last_error(context_);
    expect_ones(x);
  };
  use();
  ASSERT_EQ(sxt_plan_save(context_, path.c_str()), SXT_OK) << sxt_last_error(context_);
  close();
  open("auto");
  ASSERT_EQ(sxt_plan_load(context_, path.c_str(), 1), SXT_OK) << sxt_last_error(context_);
  matrix(9, 4);
  use();
  EXPECT_NE(explanation().find("on the CPU: the loaded plan says so"), std::string::npos) << explanation();
}

TEST_F(Placement, ABadMatrixIsRefusedOnce) {
  matrix(9, -4);
  EXPECT_EQ(sxt_pcg_create(a_, nullptr, &pcg_), SXT_E_DIAGONAL);
  EXPECT_NE(std::string(sxt_last_error(context_)).find("diagonal"), std::string::npos);
}

}  // namespace
