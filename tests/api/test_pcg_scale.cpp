// SPDX-License-Identifier: BSD-3-Clause
// Matrices of any scale, in every type, by every preconditioner and engine: solved as if their scale were near 1, since
// a power of two changes no digit. True residuals are computed here, in long double.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/api/numbers.hpp"
#include "tests/api/support.hpp"

namespace api_test {
namespace {

// A pattern with values of type T.
template <class T>
struct System {
  Csr pattern;
  std::vector<T> values;
  std::vector<T> b;  // columns one after the other

  Matrix matrix(const Context &context) const {
    sxt_matrix_options options = matrix_options();
    options.value_type = code<T>();
    return make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_csr(context.get(), pattern.rows, pattern.cols, pattern.ptr.data(), pattern.col.data(),
                                 values.data(), &options, out);
    });
  }
  // |b - A x| / |b| of a column, in the 2-norm or the largest |re| + |im|.
  double relative(const std::vector<T> &x, std::int64_t column, bool max_norm) const {
    long double residual = 0, norm = 0;
    const auto count = [&](long double &to, LongComplex each) {
      if (max_norm)
        to = std::max(to, std::fabs(each.real()) + std::fabs(each.imag()));
      else
        to += std::norm(each);
    };
    for (std::int64_t i = 0; i < pattern.rows; ++i) {
      LongComplex sum = b[column * pattern.rows + i];
      count(norm, sum);
      for (std::int32_t k = pattern.ptr[i]; k < pattern.ptr[i + 1]; ++k)
        sum -= LongComplex(values[k]) * LongComplex(x[column * pattern.rows + pattern.col[k]]);
      count(residual, sum);
    }
    return static_cast<double>(max_norm ? residual / norm : std::sqrt(residual / norm));
  }
};

// s D L D with L the Laplacian, turned by phases where T is complex, and b = A x times `rhs`.
template <class T, class D>
System<T> system_of(int side, long double s, int columns, D &&d, long double rhs = 1) {
  System<T> out;
  out.pattern = laplacian(side);
  const Csr &a = out.pattern;
  const auto turn = [](std::int64_t i) {
    const auto angle = complex_v<T> ? 0.3L * static_cast<long double>(i % 7) : 0.0L;
    return LongComplex(std::cos(angle), std::sin(angle));
  };
  const auto rounded = [](LongComplex value) {
    if constexpr (complex_v<T>)
      return T(static_cast<Real<T>>(value.real()), static_cast<Real<T>>(value.imag()));
    else
      return static_cast<T>(value.real());
  };
  std::vector<LongComplex> wide(a.values.size());
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) {
      const std::int64_t j = a.col[k];
      // The entry above the diagonal decides, so that the other one is exactly its conjugate.
      const std::int64_t low = std::min(i, j), high = std::max(i, j);
      const LongComplex upper = static_cast<long double>(a.values[k]) * d(low) * s * d(high) *
                                (low == high ? LongComplex(1) : turn(low) * std::conj(turn(high)));
      wide[k] = i <= j ? upper : std::conj(upper);
      out.values.push_back(rounded(wide[k]));
    }
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int column = 0; column < columns; ++column) {
    std::vector<LongComplex> x(static_cast<std::size_t>(a.rows));
    for (std::int64_t i = 0; i < a.rows; ++i) x[i] = LongComplex(uniform(random), complex_v<T> ? uniform(random) : 0);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      LongComplex sum = 0;
      for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) sum += wide[k] * rhs / s * (x[a.col[k]] / d(a.col[k]));
      out.b.push_back(rounded(sum));
    }
  }
  return out;
}
template <class T>
System<T> uniform(int side, long double s, int columns = 1) {
  return system_of<T>(
      side, s, columns, [](std::int64_t) { return 1.0L; }, s);
}

template <class T>
std::vector<int> decades() {
  if (std::is_same_v<Real<T>, float>) return {-37, -34, -30, -25, -20, -14, -7, -4, 0, 4, 7, 14, 20, 25, 30, 34, 37};
  return {-307, -300, -290, -250, -200, -150, -120, -100, -60, -31, 0, 31, 60, 100, 120, 140, 150, 200, 250, 300, 306};
}

// Solves all columns; each is converged, by the exact residual, too.
template <class T>
void expect_solved(const Context &context, const Matrix &matrix, const System<T> &system,
                   const sxt_pcg_options &options, double rtol) {
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  ASSERT_NE(pcg, nullptr) << last_error(context);
  const std::int64_t n = system.pattern.rows, columns = static_cast<std::int64_t>(system.b.size()) / n;
  std::vector<T> x(system.b.size());
  std::vector<sxt_pcg_report> reports(static_cast<std::size_t>(columns), new_report());
  EXPECT_EQ(sxt_pcg_solve_block(pcg.get(), n, columns, system.b.data(), n, x.data(), n, nullptr, reports.data()),
            SXT_OK)
      << last_error(context) << "\n"
      << explain(pcg);
  for (std::int64_t j = 0; j < columns; ++j) {
    EXPECT_EQ(reports[j].reason, SXT_REASON_CONVERGED);
    EXPECT_LE(reports[j].true_relative_residual, rtol * 1.0001);
    // The product by which the library confirms is rounded in the type.
    const double slack = 30 * static_cast<double>(std::numeric_limits<Real<T>>::epsilon());
    EXPECT_LE(system.relative(x, j, options.norm == SXT_NORM_MAX), rtol * 1.01 + slack);
  }
}

template <class T>
class PcgScaleTest : public testing::Test {
 protected:
  static double rtol() { return std::is_same_v<Real<T>, float> ? 1e-5 : 1e-8; }
  Context context_ = cpu();
};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(PcgScaleTest, Types);

constexpr const char *kMethods[] = {nullptr, "none", "jacobi", "block-jacobi", "chebyshev", "fsai", "ssor-ai"};

TYPED_TEST(PcgScaleTest, EveryDecadeByEveryPreconditioner) {
  sxt_norm norm = SXT_NORM_2;  // in turn; methods are odd in number
  for (const int decade : decades<TypeParam>()) {
    const auto system = uniform<TypeParam>(20, std::pow(10.0L, decade));
    const Matrix matrix = system.matrix(this->context_);
    for (const char *method : kMethods) {
      norm = norm == SXT_NORM_2 ? SXT_NORM_MAX : SXT_NORM_2;
      SCOPED_TRACE("1e" + std::to_string(decade) + " " + (method ? method : "default") + " " + std::to_string(norm));
      sxt_pcg_options options = pcg_options();
      options.preconditioner = method;
      options.norm = norm;
      expect_solved(this->context_, matrix, system, options, this->rtol());
    }
  }
}

TYPED_TEST(PcgScaleTest, SeveralRightHandSides) {
  for (const int decade : decades<TypeParam>())
    for (const int columns : {2, 3}) {
      SCOPED_TRACE("1e" + std::to_string(decade) + ", " + std::to_string(columns));
      const auto system = uniform<TypeParam>(20, std::pow(10.0L, decade), columns);
      expect_solved(this->context_, system.matrix(this->context_), system, pcg_options(), this->rtol());
    }
}

TYPED_TEST(PcgScaleTest, EveryEngine) {
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info kernel{};
    kernel.struct_size = sizeof kernel;
    ASSERT_EQ(sxt_kernel_get(i, &kernel), SXT_OK);
    if (std::string(kernel.kind) != "sxt.pcg/1" || std::string(kernel.device) != "cpu") continue;
    const int far = std::is_same_v<Real<TypeParam>, float> ? 30 : 290;
    for (const int decade : {-far, far}) {
      SCOPED_TRACE(std::string(kernel.name) + " 1e" + std::to_string(decade));
      const auto system = uniform<TypeParam>(20, std::pow(10.0L, decade));
      sxt_pcg_options options = pcg_options();
      options.engine = kernel.name;
      options.preconditioner = "none";
      expect_solved(this->context_, system.matrix(this->context_), system, options, this->rtol());
    }
  }
}

// D A D: the diagonal alone spans most of the range.
TYPED_TEST(PcgScaleTest, ManyScalesInOneMatrix) {
  const bool single = std::is_same_v<Real<TypeParam>, float>;
  for (const int span : single ? std::vector<int>{3, 6, 8} : std::vector<int>{10, 60, 75})
    for (const int decade : {-span, 0, span})
      for (const char *method : {static_cast<const char *>(nullptr), "jacobi", "block-jacobi", "fsai", "ssor-ai"}) {
        SCOPED_TRACE(std::to_string(span) + " 1e" + std::to_string(decade) + " " + (method ? method : "default"));
        const auto d = [&](std::int64_t i) { return std::pow(10.0L, span * std::sin(0.7L * i)); };
        const auto system = system_of<TypeParam>(20, std::pow(10.0L, decade), 1, d, std::pow(10.0L, decade));
        sxt_pcg_options options = pcg_options();
        options.preconditioner = method;
        expect_solved(this->context_, system.matrix(this->context_), system, options, this->rtol());
      }
}

// x is as far from 1 as A, in the opposite direction.
TYPED_TEST(PcgScaleTest, RightHandSidesOfAnotherScale) {
  const bool single = std::is_same_v<Real<TypeParam>, float>;
  for (const int decade : single ? std::vector<int>{-30, -20, 20, 30} : std::vector<int>{-300, -150, 150, 300})
    for (const char *method : {"none", "jacobi", "fsai"}) {
      SCOPED_TRACE("1e" + std::to_string(decade) + " " + method);
      const auto one = [](std::int64_t) { return 1.0L; };
      const auto system = system_of<TypeParam>(20, std::pow(10.0L, decade), 1, one, 1);
      sxt_pcg_options options = pcg_options();
      options.preconditioner = method;
      expect_solved(this->context_, system.matrix(this->context_), system, options, this->rtol());
    }
}

// One set-up: values that move far from 1, further, and back.
TYPED_TEST(PcgScaleTest, NewValues) {
  const bool single = std::is_same_v<Real<TypeParam>, float>;
  const int far = single ? 30 : 290;
  for (const char *method : {static_cast<const char *>(nullptr), "none", "fsai"}) {
    const auto first = uniform<TypeParam>(20, 1);
    const Matrix matrix = first.matrix(this->context_);
    sxt_pcg_options options = pcg_options();
    options.preconditioner = method;
    const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
    for (const int decade : {0, -far, far, 1, -far / 2}) {
      SCOPED_TRACE("1e" + std::to_string(decade));
      const auto system = uniform<TypeParam>(20, std::pow(10.0L, decade));
      ASSERT_EQ(
          sxt_matrix_update_values(matrix.get(), system.values.data(), static_cast<std::int64_t>(system.values.size())),
          SXT_OK);
      std::vector<TypeParam> x(system.b.size());
      EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 400, system.b.data(), x.data(), nullptr, nullptr), SXT_OK)
          << last_error(this->context_);
      EXPECT_LE(system.relative(x, 0, false), this->rtol() * 1.01 + (single ? 4e-6 : 1e-14));
    }
  }
}

// The default tolerance is what the precision can reach.
TYPED_TEST(PcgScaleTest, TheDefaultFollowsThePrecision) {
  const auto system = uniform<TypeParam>(40, 1, 3);
  const Matrix matrix = system.matrix(this->context_);
  sxt_pcg_options options = pcg_options();
  EXPECT_LT(options.rtol, 0);
  expect_solved(this->context_, matrix, system, options, this->rtol());
  options.atol = 1e-37;  // goes with it
  expect_solved(this->context_, matrix, system, options, this->rtol());
}

TEST(PcgScalesTest, OneUnknown) {
  const Context context = cpu();
  for (const double a : {4e-300, 5e-324, 4.0, 1.7e308}) {
    SCOPED_TRACE(a);
    const Matrix matrix = diagonal({a}).matrix(context);
    const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
    std::vector<double> x(1);
    const sxt_pcg_report report = solve(pcg, {a}, x);
    EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
    EXPECT_EQ(x[0], 1);
    EXPECT_EQ(report.rhs_norm, a);
  }
}

// Scaled and not: the same bits, as a power of two is exact.
TEST(PcgScalesTest, APowerOfTwoChangesNoDigit) {
  const Context context = cpu(1, true);
  const auto plain = uniform<double>(20, 1), small = uniform<double>(20, std::ldexp(1.0L, -900));
  std::vector<double> x(400), scaled(400);
  for (const auto &[system, to] : {std::pair{&plain, &x}, {&small, &scaled}}) {
    const Matrix matrix = system->matrix(context);
    const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
    solve(pcg, system->b, *to);
  }
  EXPECT_EQ(x, scaled);
}

TEST(PcgScalesTest, GuessesRoundedMatricesAndNullSpaces) {
  const Context context = cpu();
  for (const int decade : {-290, -150, 150, 290}) {
    SCOPED_TRACE(decade);
    const auto system = uniform<double>(20, std::pow(10.0L, decade));
    const Matrix matrix = system.matrix(context);
    for (const char *format : {"csr:f64", "csr:f32"}) {
      SCOPED_TRACE(format);
      sxt_pcg_options options = pcg_options();
      options.format = format;
      const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
      std::vector<double> x(400);
      const std::int64_t cold = solve(pcg, system.b, x).iterations;
      EXPECT_LE(system.relative(x, 0, false), 1.01e-8);
      sxt_solve_options warm = solve_options();
      warm.use_initial_guess = 1;
      EXPECT_EQ(solve(pcg, system.b, x, SXT_OK, &warm).iterations, 0);
      for (double &each : x) each *= 1 + 1e-6;
      warm.rtol = 1e-9;
      EXPECT_LT(solve(pcg, system.b, x, SXT_OK, &warm).iterations, cold);
      EXPECT_LE(system.relative(x, 0, false), 1.01e-9);
    }
    // A chain of differences, which turns constants into 0.
    Csr chain;
    const double s = std::pow(10.0, decade);
    chain.rows = chain.cols = 60;
    for (int i = 0; i < 60; ++i) {
      if (i > 0) chain.entry(i - 1, -s);
      chain.entry(i, i == 0 || i == 59 ? s : 2 * s);
      if (i < 59) chain.entry(i + 1, -s);
      chain.end_row();
    }
    const Matrix semidefinite = chain.matrix(context);
    sxt_pcg_options options = pcg_options();
    options.null_space_size = 1;
    const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(semidefinite.get(), &options, out); });
    std::vector<double> b(60), x(60);
    for (int i = 0; i < 60; ++i) b[i] = s * (i < 30 ? 1 : -1);
    const sxt_pcg_report report = solve(pcg, b, x);
    EXPECT_LE(report.true_relative_residual, 1e-8);
    EXPECT_NEAR(report.rhs_norm / s, std::sqrt(60), 1e-6);
  }
}

// Numbers that leave the range are reported, and the explanation names the scaling of a matrix.
TEST(PcgScalesTest, TheExplanationNamesIt) {
  const Context context = cpu();
  const Matrix far = uniform<double>(5, 1e-150L).matrix(context), near = uniform<double>(5, 1e-20L).matrix(context);
  const Pcg of_far = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(far.get(), nullptr, out); }),
            of_near = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(near.get(), nullptr, out); });
  EXPECT_NE(explain(of_far).find("A is far from 1: solved with 2^497 A"), std::string::npos) << explain(of_far);
  EXPECT_EQ(explain(of_near).find("far from 1"), std::string::npos) << explain(of_near);
}

}  // namespace
}  // namespace api_test
