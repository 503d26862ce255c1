// SPDX-License-Identifier: BSD-3-Clause
// Sets of Hermitian systems against LAPACK itself, shapes at random from a fixed seed: factors and solutions of
// definite systems entry by entry, inertias of indefinite ones by eigenvalues.
#include <dlfcn.h>

#include <cstdint>
#include <string>

#include "hermitian_support.hpp"

namespace api_test {
namespace {

using Factor = void(const char *uplo, const int *n, void *a, const int *lda, int *info, std::size_t);
using Solve = void(const char *uplo, const int *n, const int *n_rhs, const void *a, const int *lda, void *b,
                   const int *ldb, int *info, std::size_t);
using EigenReal = void(const char *, const char *, const int *, void *, const int *, void *, void *, const int *, int *,
                       std::size_t, std::size_t);
using EigenComplex = void(const char *, const char *, const int *, void *, const int *, void *, void *, const int *,
                          void *, int *, std::size_t, std::size_t);

// LAPACK by one type's letter; functions are NULL where the library is not installed.
template <class T>
struct Lapack {
  Factor *factor = nullptr;
  Solve *solve = nullptr;
  void *eigen = nullptr;
  Lapack() {
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    const bool complex = Scalar<T>::complex;
    const char letter = sizeof(typename Scalar<T>::Real) == 4 ? complex ? 'c' : 's' : complex ? 'z' : 'd';
    const auto find = [&](const char *name) { return dlsym(library, (letter + std::string(name)).c_str()); };
    factor = reinterpret_cast<Factor *>(find("potrf_"));
    solve = reinterpret_cast<Solve *>(find("potrs_"));
    eigen = find(complex ? "heev_" : "syev_");
    // Its threads would wait for each other beside other tests.
    if (auto *threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"))) threads(1);
  }
  explicit operator bool() const { return factor && solve && eigen; }

  std::vector<double> eigenvalues(std::vector<T> a, int n) const {
    using Real = typename Scalar<T>::Real;
    std::vector<Real> values(static_cast<std::size_t>(n)), real_work(static_cast<std::size_t>(3 * n));
    std::vector<T> work(static_cast<std::size_t>(40 * n));
    const int size = 40 * n;
    int info = 1;
    if constexpr (Scalar<T>::complex)
      reinterpret_cast<EigenComplex *>(eigen)("N", "L", &n, a.data(), &n, values.data(), work.data(), &size,
                                              real_work.data(), &info, 1, 1);
    else
      reinterpret_cast<EigenReal *>(eigen)("N", "L", &n, a.data(), &n, values.data(), work.data(), &size, &info, 1, 1);
    EXPECT_EQ(info, 0);
    return {values.begin(), values.end()};
  }
};

template <class T>
class HermitianLapack : public testing::Test {
 protected:
  Lapack<T> lapack_;
  Context context_ = cpu();
  std::mt19937_64 random_{424242};
  std::int64_t below(std::int64_t most) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most));
  }
};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(HermitianLapack, Types);

// A factor's condition number bounds how far two backward stable ones can be apart.
TYPED_TEST(HermitianLapack, FactorsAndSolutionsAreThoseOfLapack) {
  if (!this->lapack_) GTEST_SKIP() << "no OpenBLAS to compare with";
  for (int round = 0; round < 30; ++round) {
    const std::int64_t n = 1 + this->below(round % 5 ? 50 : 180), batch = 1 + this->below(12),
                       n_rhs = 1 + this->below(4);
    const sxt_triangle triangle = this->below(2) ? SXT_LOWER : SXT_UPPER;
    Systems<TypeParam> systems(batch, n, n_rhs, triangle, 50, false, this->random_(), this->below(4));
    Systems<TypeParam> theirs = systems;
    const Hermitian made = hermitian(this->context_, systems.options());
    const sxt_hermitian_set set = systems.set();
    ASSERT_EQ(sxt_hermitian_factor_solve(made.get(), &set), SXT_OK) << last_error(this->context_);
    const char uplo = triangle == SXT_LOWER ? 'L' : 'U';
    const int order = static_cast<int>(n), lda = static_cast<int>(systems.lda), rhs = static_cast<int>(n_rhs);
    const double near = 50 * 4 * static_cast<double>(n + 8) * systems.epsilon();
    for (std::int64_t s = 0; s < batch; ++s) {
      int info = 1;
      TypeParam *a = &theirs.a[s * theirs.stride_a], *b = &theirs.b[s * theirs.stride_b];
      this->lapack_.factor(&uplo, &order, a, &lda, &info, 1);
      ASSERT_EQ(info, 0);
      this->lapack_.solve(&uplo, &order, &rhs, a, &lda, b, &lda, &info, 1);
      ASSERT_EQ(systems.info[s], 0);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i) {
          if (!systems.held(i, j)) continue;
          ASSERT_LE(std::abs(systems.at(s, i, j) - theirs.at(s, i, j)), near)
              << "round " << round << ", system " << s << ", entry " << i << ", " << j << " of order " << n;
        }
      for (std::int64_t r = 0; r < n_rhs; ++r)
        for (std::int64_t i = 0; i < n; ++i)
          ASSERT_LE(std::abs(systems.b[s * systems.stride_b + r * lda + i] - b[r * lda + i]), 50 * near * 2)
              << "round " << round << ", system " << s << ", right-hand side " << r;
    }
  }
}

// A system that is not positive definite fails at the same leading minor as with LAPACK.
TYPED_TEST(HermitianLapack, FailuresAreAtTheMinorThatLapackNames) {
  if (!this->lapack_) GTEST_SKIP() << "no OpenBLAS to compare with";
  for (int round = 0; round < 12; ++round) {
    const std::int64_t n = 2 + this->below(60), batch = 5;
    const sxt_triangle triangle = this->below(2) ? SXT_LOWER : SXT_UPPER;
    Systems<TypeParam> systems(batch, n, 1, triangle, 20, false, this->random_(), 1);
    for (std::int64_t s = 0; s < batch; ++s) {
      const std::int64_t at = this->below(n);
      systems.at(s, at, at) = Scalar<TypeParam>::make(-0.5 - static_cast<double>(s), 0);
    }
    Systems<TypeParam> theirs = systems;
    const Hermitian made = hermitian(this->context_, systems.options());
    const sxt_hermitian_set set = systems.set();
    ASSERT_EQ(sxt_hermitian_factor(made.get(), &set), SXT_OK) << last_error(this->context_);
    const char uplo = triangle == SXT_LOWER ? 'L' : 'U';
    const int order = static_cast<int>(n), lda = static_cast<int>(systems.lda);
    for (std::int64_t s = 0; s < batch; ++s) {
      int info = 0;
      this->lapack_.factor(&uplo, &order, &theirs.a[s * theirs.stride_a], &lda, &info, 1);
      EXPECT_EQ(systems.info[s], info) << "round " << round << ", system " << s << " of order " << n;
    }
  }
}

TYPED_TEST(HermitianLapack, InertiasAreThoseOfItsEigenvalues) {
  if (!this->lapack_) GTEST_SKIP() << "no OpenBLAS to compare with";
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int round = 0; round < 12; ++round) {
    const std::int64_t n = 1 + this->below(70), batch = 4;
    const sxt_triangle triangle = this->below(2) ? SXT_LOWER : SXT_UPPER;
    Systems<TypeParam> systems(batch, n, 1, triangle, 1, false, 3);
    for (std::int64_t s = 0; s < batch; ++s) {  // random Hermitian matrices: eigenvalues of both signs
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = j; i < n; ++i) {
          const TypeParam v = Scalar<TypeParam>::make(uniform(this->random_), i == j ? 0 : uniform(this->random_));
          systems.full[s][i + n * j] = v;
          systems.full[s][j + n * i] = Scalar<TypeParam>::conj(v);
        }
      systems.store(s);
    }
    sxt_hermitian_options options = systems.options();
    options.definiteness = round % 2 ? SXT_INDEFINITE : SXT_TRY_DEFINITE;
    const Hermitian made = hermitian(this->context_, options);
    std::vector<std::int32_t> inertia(static_cast<std::size_t>(3 * batch), -1);
    sxt_hermitian_set set = systems.set();
    set.inertia = inertia.data();
    ASSERT_EQ(sxt_hermitian_factor(made.get(), &set), SXT_OK) << last_error(this->context_);
    for (std::int64_t s = 0; s < batch; ++s) {
      const std::vector<double> values = this->lapack_.eigenvalues(systems.full[s], static_cast<int>(n));
      double least = 1e300;  // an eigenvalue within rounding of zero may come out with either sign
      for (const double v : values) least = std::min(least, std::abs(v));
      if (least < 100 * static_cast<double>(n) * systems.epsilon()) continue;
      const auto positive = std::count_if(values.begin(), values.end(), [](double v) { return v > 0; });
      EXPECT_EQ(inertia[3 * s], positive) << "round " << round << ", order " << n;
      EXPECT_EQ(inertia[3 * s + 1], n - positive) << "round " << round << ", order " << n;
      EXPECT_EQ(inertia[3 * s + 2], 0) << "round " << round << ", order " << n;
    }
  }
}

}  // namespace
}  // namespace api_test
