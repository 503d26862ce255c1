// SPDX-License-Identifier: BSD-3-Clause
// Many systems of one pattern on a GPU: each set has the bits of a factor of its own by the same scheduler, wherever
// values and right-hand sides lie, in one round of launches and in several; sets that fail leave the others solved.
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "support.hpp"
#include "tests/api/cholesky_sets_support.hpp"

namespace {

using namespace api_test;

class CholeskySetsGpu : public testing::Test {
 protected:
  static constexpr const char *both[] = {"cholesky.streams.cuda", "cholesky.levels.cuda"};

  void SetUp() override {
    sxt_context_options options = context_options();
    options.device = "cuda";
    sxt_context *made = nullptr;
    const sxt_status status = sxt_context_create(&options, &made);
    if (status == SXT_E_DEVICE) GTEST_SKIP() << "no GPU: " << sxt_last_error(nullptr);
    ASSERT_EQ(status, SXT_OK) << sxt_last_error(nullptr);
    gpu_.reset(made);
  }
  template <class T>
  Vector on_device(const std::vector<T> &values) {
    auto vector = make<Vector>([&](sxt_vector **out) {
      return sxt_vector_create(gpu_.get(), static_cast<std::int64_t>(values.size()), code<T>(), out);
    });
    EXPECT_EQ(sxt_vector_write(vector.get(), values.data()), SXT_OK) << last_error(gpu_);
    return vector;
  }
  // Each set against a factor of its own; from host memory and from the device's.
  template <class T>
  void has_the_bits_of_one(const Sparse<T> &a, std::int64_t sets, sxt_factorization factorization) {
    const Family<T> family(a, sets);
    const std::int64_t n = a.n();
    for (const char *scheduler : both) {
      sxt_analysis_options options = analysis_options();
      options.factorization = factorization, options.scheduler = scheduler;
      const Matrix matrix = a.matrix(gpu_);
      const Analysis analysis = analyse(matrix, &options);
      const Sets all = sets_of(analysis, sets);
      const Vector values = on_device(family.values);
      for (const bool there : {false, true}) {
        const void *const v = there ? sxt_vector_data(values.get()) : family.values.data();
        ASSERT_EQ(sxt_cholesky_sets_factor(all.get(), 0, sets, family.nnz(), v, family.stride, nullptr), SXT_OK)
            << last_error(gpu_);
        for (const std::int64_t n_rhs : {1, 3, 70}) {
          const std::int64_t size = n * n_rhs;
          const std::vector<T> b = random_vector<T>(size * sets, 3);
          std::vector<T> x(b.size(), T(77));
          const Vector device_b = on_device(b), device_x = on_device(x);
          const void *const from = there ? sxt_vector_data(device_b.get()) : b.data();
          void *const to = there ? sxt_vector_data(device_x.get()) : x.data();
          ASSERT_EQ(sxt_cholesky_sets_solve(all.get(), 0, sets, n, n_rhs, from, n, size, to, n, size, nullptr), SXT_OK)
              << last_error(gpu_);
          if (there) {
            ASSERT_EQ(sxt_vector_read(device_x.get(), x.data()), SXT_OK);
          }
          for (const std::int64_t k : {std::int64_t{0}, sets / 2, sets - 1}) {
            const std::vector<T> own_b(b.begin() + k * size, b.begin() + (k + 1) * size);
            const std::vector<T> own = solved_alone(gpu_, analysis, family.matrix_of(k), own_b, n_rhs);
            EXPECT_EQ(std::memcmp(own.data(), x.data() + k * size, own.size() * sizeof(T)), 0)
                << scheduler << ", n " << n << ", set " << k << " of " << sets << ", n_rhs " << n_rhs << ", device "
                << there << ", factorization " << factorization;
            EXPECT_LE(family.matrix_of(k).backward_error(own_b.data(), x.data() + k * size),
                      50 * std::numeric_limits<Real<T>>::epsilon());
          }
        }
      }
    }
  }
  template <class T>
  void every_size() {
    for (const auto &[n, sets] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 5}, {10, 3}, {60, 100}, {300, 17}, {900, 4}})
      for (const sxt_factorization factorization : {SXT_LLH, SXT_LDLH})
        has_the_bits_of_one(random_sparse<T>(n, 3, 7), sets, factorization);
  }
  Context gpu_;
};

TEST_F(CholeskySetsGpu, HaveTheBitsOfFactorsOfTheirOwnF32) { every_size<float>(); }
TEST_F(CholeskySetsGpu, HaveTheBitsOfFactorsOfTheirOwnF64) { every_size<double>(); }
TEST_F(CholeskySetsGpu, HaveTheBitsOfFactorsOfTheirOwnC64) { every_size<std::complex<float>>(); }
TEST_F(CholeskySetsGpu, HaveTheBitsOfFactorsOfTheirOwnC128) { every_size<std::complex<double>>(); }

// So many numbers that values and right-hand sides of the host come in several pieces.
TEST_F(CholeskySetsGpu, ComeInPiecesFromTheHost) {
  constexpr std::int64_t n = 300, sets = 9000;
  const Family<double> family(random_sparse<double>(n, 3, 7), sets);
  ASSERT_GT(family.values.size() * sizeof(double), std::size_t{64} << 20);
  const Matrix matrix = family.first.matrix(gpu_);
  const Analysis analysis = analyse(matrix);
  const Sets all = sets_of(analysis, sets);
  ASSERT_EQ(family.factor(all), SXT_OK) << last_error(gpu_);
  const std::int64_t n_rhs = 4;
  std::vector<double> b = random_vector<double>(n * n_rhs * sets, 3), x(b.size());
  ASSERT_EQ(
      sxt_cholesky_sets_solve(all.get(), 0, sets, n, n_rhs, b.data(), n, n * n_rhs, x.data(), n, n * n_rhs, nullptr),
      SXT_OK)
      << last_error(gpu_);
  for (std::int64_t k = 0; k < sets; k += 97)
    EXPECT_LE(family.matrix_of(k).backward_error(&b[k * n * n_rhs], &x[k * n * n_rhs]), 1e-14) << k;
}

TEST_F(CholeskySetsGpu, OneThatFailsLeavesTheOthersSolved) {
  constexpr std::int64_t n = 200, sets = 40;
  const Family<double> good(random_sparse<double>(n, 3, 7), sets);
  Family<double> bad = good;
  bad.put(3, 5, 5, -7), bad.put(20, 100, 100, std::numeric_limits<double>::quiet_NaN()), bad.put(39, n - 1, n - 1, -1);
  for (const char *scheduler : both) {
    sxt_analysis_options options = analysis_options();
    options.scheduler = scheduler;
    const Matrix matrix = good.first.matrix(gpu_);
    const Analysis analysis = analyse(matrix, &options);
    const Sets all = sets_of(analysis, sets);
    EXPECT_EQ(bad.factor(all), SXT_E_NOT_POSITIVE_DEFINITE) << scheduler;
    const Outcomes told(all, sets);
    const std::vector<double> b = random_vector<double>(n * sets, 3);
    const Vector x = on_device(b);
    void *const there = sxt_vector_data(x.get());
    ASSERT_EQ(sxt_cholesky_sets_solve(all.get(), 0, sets, n, 1, there, n, n, there, n, n, nullptr), SXT_OK);
    std::vector<double> got(b.size());
    ASSERT_EQ(sxt_vector_read(x.get(), got.data()), SXT_OK);
    for (std::int64_t k = 0; k < sets; ++k) {
      const bool fails = k == 3 || k == 20 || k == 39;
      EXPECT_EQ(told.status[k] == SXT_OK, !fails) << scheduler << k;
      EXPECT_EQ(std::isnan(told.log_determinant[k]), fails);
      if (fails)
        EXPECT_TRUE(std::isnan(got[k * n + 7]));
      else
        EXPECT_LE(good.matrix_of(k).backward_error(&b[k * n], &got[k * n]), 1e-14) << scheduler << k;
    }
    EXPECT_EQ(told.failed_row[3], 5);
    EXPECT_EQ(told.failed_row[20], 100);
    EXPECT_EQ(told.status[20], SXT_E_NOT_FINITE);
    EXPECT_EQ(told.failed_row[39], n - 1);
    ASSERT_EQ(good.factor(all), SXT_OK) << last_error(gpu_);
    EXPECT_EQ(info_of(all).factored, sets);
  }
}

TEST_F(CholeskySetsGpu, SayWhatACpuSays) {
  constexpr std::int64_t n = 150, sets = 12;
  std::vector<int> sign(n, 1);
  for (std::int64_t i = 0; i < n; i += 3) sign[static_cast<std::size_t>(i)] = -1;
  const Family<double> family(random_sparse<double>(n, 3, 5, sign), sets);
  const Context host = cpu();
  sxt_analysis_options options = analysis_options();
  options.factorization = SXT_LDLH;
  const Matrix here = family.first.matrix(host), there = family.first.matrix(gpu_);
  const Analysis of_here = analyse(here, &options);
  const Sets one = sets_of(of_here, sets);
  ASSERT_EQ(family.factor(one), SXT_OK);
  const Outcomes want(one, sets);
  for (const char *scheduler : both) {
    options.scheduler = scheduler;
    const Analysis of_there = analyse(there, &options);
    const Sets two = sets_of(of_there, sets);
    ASSERT_EQ(family.factor(two), SXT_OK) << last_error(gpu_);
    const Outcomes got(two, sets);
    EXPECT_EQ(got.positive, want.positive);
    EXPECT_EQ(got.negative, want.negative);
    EXPECT_EQ(got.sign, want.sign);
    for (std::int64_t k = 0; k < sets; ++k)
      EXPECT_NEAR(got.log_determinant[k], want.log_determinant[k], 1e-9 * std::abs(want.log_determinant[k]));
  }
}

TEST_F(CholeskySetsGpu, MoreMemoryThanTheDeviceHas) {
  const Sparse<double> a = random_sparse<double>(300, 3, 7);
  const Matrix matrix = a.matrix(gpu_);
  const Analysis analysis = analyse(matrix);
  sets_of(analysis, std::int64_t{1} << 30, SXT_E_MEMORY);
  EXPECT_NE(last_error(gpu_).find("bytes are missing"), std::string::npos) << last_error(gpu_);
}

}  // namespace
