// SPDX-License-Identifier: BSD-3-Clause
// Matrices that are symmetric up to the rounding of their assembly: accepted and solved as the mean of A and its
// transpose; those that differ by more are refused, with every digit. Hermitian diagonals likewise.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

using Complex = std::complex<double>;

// Dense, by rows, as CSR.
Csr csr_of(const std::vector<double> &dense, int n) {
  Csr a;
  a.rows = a.cols = n;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) a.entry(j, dense[i * n + j]);
    a.end_row();
  }
  return a;
}
bool symmetric(const std::vector<double> &dense, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      if (dense[i * n + j] != dense[j * n + i]) return false;
  return true;
}

// X^T W X as a loop over samples computes it, x_i w x_j in this order.
std::vector<double> normal_matrix(int samples, int n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.3, 1);
  std::uniform_real_distribution<double> weight(0.1, 2);
  std::vector<double> sum(static_cast<std::size_t>(n) * n);
  for (int s = 0; s < samples; ++s) {
    std::vector<double> x(static_cast<std::size_t>(n));
    for (double &each : x) each = normal(random);
    const double w = weight(random);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) sum[i * n + j] += x[i] * w * x[j];
  }
  return sum;
}

// |b - (A + A^T) / 2 x| / |b|
double of_the_mean(const Csr &a, const std::vector<double> &b, const std::vector<double> &x) {
  std::vector<long double> r(b.begin(), b.end());
  long double norm = 0, residual = 0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) {
      r[i] -= 0.5L * a.values[k] * x[a.col[k]];
      r[a.col[k]] -= 0.5L * a.values[k] * x[i];
    }
  for (std::size_t i = 0; i < b.size(); ++i) norm += static_cast<long double>(b[i]) * b[i], residual += r[i] * r[i];
  return static_cast<double>(std::sqrt(residual / norm));
}

Pcg set_up(const Matrix &matrix, const sxt_pcg_options &options = pcg_options(), sxt_status expected = SXT_OK) {
  return make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); }, expected);
}

void expect_accepted(const Context &context, const Csr &a, const char *format = nullptr) {
  const Matrix matrix = a.matrix(context);
  sxt_pcg_options options = pcg_options();
  options.format = format;
  const Pcg pcg = set_up(matrix, options);
  ASSERT_NE(pcg, nullptr);
  EXPECT_NE(explain(pcg).find("differs from its transpose by rounding"), std::string::npos) << explain(pcg);
  std::vector<double> b(static_cast<std::size_t>(a.rows)), x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(1.0 + static_cast<double>(i));
  EXPECT_EQ(solve(pcg, b, x).reason, SXT_REASON_CONVERGED);
  EXPECT_LE(of_the_mean(a, b, x), 1.01e-8);
}

TEST(SymmetricEnoughTest, NormalMatrices) {
  const Context context = cpu();
  int unequal = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    const int n = 4 + static_cast<int>(seed % 9);
    const std::vector<double> dense = normal_matrix(20 + 40 * static_cast<int>(seed), n, seed);
    if (symmetric(dense, n)) continue;
    ++unequal;
    expect_accepted(context, csr_of(dense, n));
  }
  EXPECT_GT(unequal, 20);
}

// Stiffness of random triangles, whose parts meet at (i, j) in one order and at (j, i) in another.
TEST(SymmetricEnoughTest, ElementsInRandomOrder) {
  const Context context = cpu();
  int unequal = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> weight(0.01, 3);
    struct Entry {
      std::int32_t row, col;
      double value;
    };
    std::vector<Entry> entries;
    const int n = 40;
    for (int i = 0; i < n; ++i) entries.push_back({i, i, 0.1});
    for (int e = 0; e < 400; ++e) {
      std::int32_t at[3] = {static_cast<std::int32_t>(random() % n), 0, 0};
      at[1] = (at[0] + 1 + static_cast<std::int32_t>(random() % 5)) % n;
      at[2] = (at[1] + 1 + static_cast<std::int32_t>(random() % 5)) % n;
      const double w[3] = {weight(random), weight(random), weight(random)};
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          entries.push_back(
              {at[i], at[j], i == j ? w[i] + w[(i + 2) % 3] : -w[i < j ? (i + j == 2 ? 2 : i) : (i + j == 2 ? 2 : j)]});
    }
    std::shuffle(entries.begin(), entries.end(), random);
    std::vector<std::int32_t> row, col;
    std::vector<double> values;
    for (const Entry &each : entries) row.push_back(each.row), col.push_back(each.col), values.push_back(each.value);
    const Matrix matrix = make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_coo(context.get(), n, n, static_cast<std::int64_t>(row.size()), row.data(), col.data(),
                                 values.data(), nullptr, out);
    });
    const void *ptr = nullptr, *columns = nullptr, *sums = nullptr;
    ASSERT_EQ(sxt_matrix_get_csr(matrix.get(), &ptr, &columns, &sums), SXT_OK);
    Csr a;
    a.rows = a.cols = n;
    a.ptr.assign(static_cast<const std::int32_t *>(ptr), static_cast<const std::int32_t *>(ptr) + n + 1);
    a.col.assign(static_cast<const std::int32_t *>(columns), static_cast<const std::int32_t *>(columns) + a.ptr[n]);
    a.values.assign(static_cast<const double *>(sums), static_cast<const double *>(sums) + a.ptr[n]);
    std::vector<double> dense(static_cast<std::size_t>(n) * n);
    for (int i = 0; i < n; ++i)
      for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) dense[i * n + a.col[k]] = a.values[k];
    if (symmetric(dense, n)) continue;
    ++unequal;
    expect_accepted(context, a);
  }
  EXPECT_GT(unequal, 20);
}

// Differences far below an entry beside them, of stored mirror images and of one that is missing.
TEST(SymmetricEnoughTest, SpecksBesideLargeEntries) {
  const Context context = cpu();
  Csr a = laplacian(10, 0.5);
  expect_accepted(context, [&] {
    Csr specked = a;
    specked.values[1] += 1e-15;
    return specked;
  }());
  Csr alone;
  alone.rows = alone.cols = 3;
  alone.entry(0, 4e-2), alone.entry(2, 4e-21), alone.end_row();
  alone.entry(1, 3e-2), alone.end_row();
  alone.entry(2, 5e-2), alone.end_row();
  for (const char *format : {"csr", "dia-symmetric", "sell", "strips"}) expect_accepted(context, alone, format);
  alone.values[1] = 4e-9;
  set_up(alone.matrix(context), pcg_options(), SXT_E_NOT_SYMMETRIC);
  EXPECT_NE(last_error(context).find("entry (0, 2) is there but (2, 0) is not"), std::string::npos);
}

// A difference beyond rounding is refused, with digits that differ, for matrices of any scale.
TEST(SymmetricEnoughTest, OthersAreRefused) {
  const Context context = cpu();
  for (const double scale : {1e-150, 1.0, 1e150}) {
    SCOPED_TRACE(scale);
    for (const double apart : {1e-11, 1e-6, 0.1}) {
      Csr a = laplacian(10);
      for (double &each : a.values) each *= scale;
      a.values[1] *= 1 + apart;
      set_up(a.matrix(context), pcg_options(), SXT_E_NOT_SYMMETRIC);
      char digits[40];
      std::snprintf(digits, sizeof digits, "%.17g", a.values[1]);
      EXPECT_NE(last_error(context).find(digits), std::string::npos) << last_error(context);
      std::snprintf(digits, sizeof digits, "(1, 0) is %.17g ", -scale);
      EXPECT_NE(last_error(context).find(digits), std::string::npos) << last_error(context);
    }
  }
  // Small entries of small rows are no specks.
  Csr mixed = diagonal({1e-30, 1e-30, 1});
  mixed.col = {0, 1, 0, 1, 2};
  mixed.values = {1e-30, 2e-31, 4e-31, 1e-30, 1};
  mixed.ptr = {0, 2, 4, 5};
  set_up(mixed.matrix(context), pcg_options(), SXT_E_NOT_SYMMETRIC);
}

TEST(SymmetricEnoughTest, TheToleranceCanBeSet) {
  const Context context = cpu();
  Csr a = laplacian(10);
  a.values[1] *= 1 + 1e-6;
  const Matrix matrix = a.matrix(context);
  sxt_pcg_options options = pcg_options();
  EXPECT_EQ(options.symmetry_tolerance, 0);
  options.symmetry_tolerance = 1e-6;
  set_up(matrix, options);
  options.symmetry_tolerance = 1e-7;
  set_up(matrix, options, SXT_E_NOT_SYMMETRIC);
  options.symmetry_tolerance = 0;
  options.check_symmetry = 0;
  set_up(matrix, options);
  options.check_symmetry = 1;
  // Tighter than rounding: to the last bit.
  a = laplacian(10);
  a.values[1] = std::nextafter(-1, 0);
  const Matrix nearly = a.matrix(context);
  set_up(nearly);
  options.symmetry_tolerance = 1e-300;
  set_up(nearly, options, SXT_E_NOT_SYMMETRIC);
  for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    options.symmetry_tolerance = bad;
    set_up(nearly, options, SXT_E_ARGUMENT);
    EXPECT_NE(last_error(context).find("symmetry_tolerance"), std::string::npos) << last_error(context);
  }
}

// Both triangles of a matrix that is stated to be symmetric are compared, too.
TEST(SymmetricEnoughTest, StatedSymmetryIsCompared) {
  const Context context = cpu();
  sxt_matrix_options stated = matrix_options();
  stated.symmetry = SXT_SYMMETRIC;
  const auto make_stated = [&](const Csr &a) {
    return make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_csr(context.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), a.values.data(), &stated,
                                 out);
    });
  };
  Csr a = laplacian(10);
  set_up(make_stated(a));
  a.values[1] = std::nextafter(-1, 0);
  EXPECT_NE(explain(set_up(make_stated(a))).find("differs from its transpose by rounding"), std::string::npos);
  a.values[1] = -0.5;
  const Matrix wrong = make_stated(a);
  set_up(wrong, pcg_options(), SXT_E_NOT_SYMMETRIC);
  sxt_pcg_options trusting = pcg_options();
  trusting.check_symmetry = 0;
  set_up(wrong, trusting);
}

// New values whose halves part by rounding, where the first were equal, and then by more.
TEST(SymmetricEnoughTest, NewValues) {
  const Context context = cpu();
  const Csr a = laplacian(10, 0.5);
  const Matrix matrix = a.matrix(context);
  sxt_pcg_options options = pcg_options();
  options.format = "dia-symmetric";
  const Pcg pcg = set_up(matrix, options);
  const std::vector<double> b(100, 1);
  std::vector<double> x(100);
  solve(pcg, b, x);
  Csr nearly = a;
  nearly.values[1] = std::nextafter(-1, 0);
  for (int again = 0; again < 2; ++again) {
    nearly.update(matrix);
    solve(pcg, b, x);
    EXPECT_LE(of_the_mean(nearly, b, x), 1.01e-8);
  }
  Csr wrong = a;
  wrong.values[1] = -0.5;
  wrong.update(matrix);
  solve(pcg, b, x, SXT_E_NOT_SYMMETRIC);
  a.update(matrix);
  solve(pcg, b, x);
  EXPECT_LE(of_the_mean(a, b, x), 1.01e-8);
}

// ---- Hermitian diagonals

struct HermitianEntries {
  std::vector<std::int32_t> row, col;
  std::vector<Complex> values;
  void add(std::int32_t i, std::int32_t j, Complex value) {
    row.push_back(i), col.push_back(j), values.push_back(value);
  }
  Matrix matrix(const Context &context, sxt_symmetry symmetry, sxt_triangle triangle, sxt_status expected = SXT_OK,
                double tolerance = 0) const {
    sxt_matrix_options options = matrix_options();
    options.value_type = SXT_C128;
    options.symmetry = symmetry;
    options.triangle = triangle;
    options.symmetry_tolerance = tolerance;
    return make<Matrix>(
        [&](sxt_matrix **out) {
          return sxt_matrix_from_coo(context.get(), 2, 2, static_cast<std::int64_t>(row.size()), row.data(), col.data(),
                                     values.data(), &options, out);
        },
        expected);
  }
};

HermitianEntries two_by_two(Complex first) {
  HermitianEntries a;
  a.add(0, 0, first), a.add(1, 0, {0, 1}), a.add(1, 1, 3);
  return a;
}

void expect_real_diagonal(const Matrix &matrix, double first) {
  const void *values = nullptr;
  ASSERT_EQ(sxt_matrix_get_csr(matrix.get(), nullptr, nullptr, &values), SXT_OK);
  EXPECT_EQ(static_cast<const Complex *>(values)[0], Complex(first));
}

TEST(SymmetricEnoughTest, DiagonalsThatAreRealButForRounding) {
  const Context context = cpu();
  HermitianEntries general = two_by_two({4, 1e-17});
  general.add(0, 1, {0, -1});
  for (const int check : {0, 1}) {
    sxt_pcg_options options = pcg_options();
    options.check_symmetry = check;
    const Matrix matrix = general.matrix(context, SXT_GENERAL, SXT_FULL);
    const Pcg pcg = set_up(matrix, options);
    std::vector<Complex> b = {{1, 2}, {3, -1}}, x(2);
    ASSERT_EQ(sxt_pcg_solve_array(pcg.get(), 2, b.data(), x.data(), nullptr, nullptr), SXT_OK);
    EXPECT_LE(std::abs(4.0 * x[0] - Complex(0, 1) * x[1] - b[0]), 1e-7);
    EXPECT_LE(std::abs(Complex(0, 1) * x[0] + 3.0 * x[1] - b[1]), 1e-7);
  }
  general.values[0] = {4, 1e-6};
  const Matrix complex = general.matrix(context, SXT_GENERAL, SXT_FULL);
  set_up(complex, pcg_options(), SXT_E_NOT_SYMMETRIC);
  EXPECT_NE(last_error(context).find("which is no real number"), std::string::npos) << last_error(context);
  sxt_pcg_options trusting = pcg_options();
  trusting.check_symmetry = 0;
  set_up(complex, trusting, SXT_E_DIAGONAL);
  EXPECT_NE(last_error(context).find("a Hermitian matrix has real ones"), std::string::npos) << last_error(context);
}

TEST(SymmetricEnoughTest, StatedDiagonalsArePutRight) {
  const Context context = cpu();
  const HermitianEntries a = two_by_two({4, 1e-17});
  const Matrix matrix = a.matrix(context, SXT_HERMITIAN, SXT_LOWER);
  expect_real_diagonal(matrix, 4);
  set_up(matrix);
  // Updates likewise.
  const std::vector<Complex> fine = {{5, -3e-16}, {0, 1}, 3}, bad = {{5, -3e-6}, {0, 1}, 3};
  ASSERT_EQ(sxt_matrix_update_values(matrix.get(), fine.data(), 3), SXT_OK) << last_error(context);
  expect_real_diagonal(matrix, 5);
  EXPECT_EQ(sxt_matrix_update_values(matrix.get(), bad.data(), 3), SXT_E_ARGUMENT);
  EXPECT_NE(last_error(context).find("new value 0 (counting from 0) is on the diagonal"), std::string::npos)
      << last_error(context);
  expect_real_diagonal(matrix, 5);
  two_by_two({4, 1e-6}).matrix(context, SXT_HERMITIAN, SXT_LOWER, SXT_E_ARGUMENT);
  two_by_two({4, 1e-6}).matrix(context, SXT_HERMITIAN, SXT_LOWER, SXT_OK, 1e-6);
  two_by_two({4, 1e-17}).matrix(context, SXT_HERMITIAN, SXT_LOWER, SXT_E_ARGUMENT, 1e-30);
  two_by_two(4).matrix(context, SXT_HERMITIAN, SXT_LOWER, SXT_E_ARGUMENT, -1);
}

TEST(SymmetricEnoughTest, DuplicatesMaySumToARealDiagonal) {
  const Context context = cpu();
  HermitianEntries a = two_by_two({1.5, 0.7});
  a.add(0, 0, {2.5, -0.7});
  const Matrix matrix = a.matrix(context, SXT_HERMITIAN, SXT_LOWER);
  expect_real_diagonal(matrix, 4);
  std::vector<Complex> values = a.values;
  values[0] = {1.5, 0.1}, values[3] = {2.5, -0.3}, values.resize(4);
  EXPECT_EQ(sxt_matrix_update_values(matrix.get(), values.data(), 4), SXT_E_ARGUMENT);
  values[0] = {1.5, 0.1 + 0.2};  // 0.30000000000000004
  EXPECT_EQ(sxt_matrix_update_values(matrix.get(), values.data(), 4), SXT_OK) << last_error(context);
  expect_real_diagonal(matrix, 4);
  a.values[3] = {2.5, -0.6};
  a.matrix(context, SXT_HERMITIAN, SXT_LOWER, SXT_E_ARGUMENT);
  EXPECT_NE(last_error(context).find("in all that stands there (4,"), std::string::npos) << last_error(context);
  // Of a skew-symmetric matrix they may cancel.
  HermitianEntries skew;
  skew.add(0, 0, 3), skew.add(1, 0, 2), skew.add(0, 0, -3);
  expect_real_diagonal(skew.matrix(context, SXT_SKEW, SXT_LOWER), 0);
}

TEST(SymmetricEnoughTest, AdoptedValuesStayTheCallers) {
  const Context context = cpu();
  const std::int32_t ptr[] = {0, 1, 2}, col[] = {0, 1};
  const std::vector<Complex> values = {{4, 1e-17}, 3}, before = values;
  sxt_matrix_options options = matrix_options();
  options.value_type = SXT_C128;
  options.symmetry = SXT_HERMITIAN;
  options.ownership = SXT_ADOPT;
  const Matrix matrix = make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context.get(), 2, 2, ptr, col, values.data(), &options, out);
  });
  expect_real_diagonal(matrix, 4);
  EXPECT_EQ(values, before);
}

// ---- files

class File {
 public:
  explicit File(const std::string &text) : path_(testing::TempDir() + "sextant_symmetric_enough.mtx") {
    std::ofstream(path_) << text;
  }
  ~File() { std::remove(path_.c_str()); }
  Matrix matrix(const Context &context) const {
    return make<Matrix>(
        [&](sxt_matrix **out) { return sxt_matrix_from_file(context.get(), path_.c_str(), nullptr, out); });
  }

 private:
  std::string path_;
};
sxt_symmetry symmetry_of(const Matrix &matrix) {
  sxt_matrix_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(sxt_matrix_get_info(matrix.get(), &info), SXT_OK);
  return info.symmetry;
}

constexpr const char *kWeights = R"(4 4 16
1 1 4.3858360879999996
1 2 -0.44490128900000009
1 3 4.0605833599999999
1 4 -2.8827299960000001
2 1 -0.44490128900000014
2 2 3.6494941219999997
2 3 0.0045154869999997904
2 4 2.0006827390000002
3 1 4.0605833599999999
3 2 0.00451548699999995
3 3 6.9631220620000009
3 4 -5.8624013950000009
4 1 -2.8827299960000006
4 2 2.0006827390000002
4 3 -5.8624013950000009
4 4 8.1632813780000006
)";

TEST(SymmetricEnoughTest, Files) {
  const Context context = cpu();
  const Matrix general =
      File(std::string("%%MatrixMarket matrix coordinate real general\n") + kWeights).matrix(context);
  EXPECT_NE(explain(set_up(general)).find("differs from its transpose by rounding"), std::string::npos);
  // The same under a header that says symmetric: its mean, nothing doubled.
  const Matrix stated =
      File(std::string("%%MatrixMarket matrix coordinate real symmetric\n") + kWeights).matrix(context);
  EXPECT_EQ(symmetry_of(stated), SXT_SYMMETRIC);
  const void *values = nullptr;
  ASSERT_EQ(sxt_matrix_get_csr(stated.get(), nullptr, nullptr, &values), SXT_OK);
  const auto *a = static_cast<const double *>(values);
  EXPECT_EQ(a[0], 4.3858360879999996);
  EXPECT_EQ(a[6], a[9]);
  EXPECT_NEAR(a[6], 0.0045154869999998702, 1e-17);
  set_up(stated);

  const char *const hermitian =
      "%%MatrixMarket matrix coordinate complex general\n2 2 4\n1 1 4 1e-17\n1 2 0 -1\n"
      "2 1 0 1\n2 2 3 0\n";
  set_up(File(hermitian).matrix(context));
  const Matrix lower = File(
                           "%%MatrixMarket matrix coordinate complex hermitian\n2 2 4\n1 1 2 0.5\n2 1 0 1\n2 2 3 0\n"
                           "1 1 2 -0.5\n")
                           .matrix(context);
  EXPECT_EQ(symmetry_of(lower), SXT_HERMITIAN);
  expect_real_diagonal(lower, 4);
  const Matrix dense = File("%%MatrixMarket matrix array complex hermitian\n2 2\n4 1e-17\n0 1\n3 0\n").matrix(context);
  EXPECT_EQ(symmetry_of(dense), SXT_HERMITIAN);
  expect_real_diagonal(dense, 4);
  EXPECT_EQ(symmetry_of(File("%%MatrixMarket matrix array complex hermitian\n2 2\n4 1e-7\n0 1\n3 0\n").matrix(context)),
            SXT_GENERAL);
}

}  // namespace
}  // namespace api_test
