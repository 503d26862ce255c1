// SPDX-License-Identifier: BSD-3-Clause
// New values after a set-up for others: every part of a set-up follows at the beginning of a solve, an update is
// complete, and a plan whose reasons no longer hold is made again.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

// Changes the process's environment, which the mock reads, while it lives.
class Variable {
 public:
  Variable(const char *name, const char *value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable &) = delete;
  Variable &operator=(const Variable &) = delete;

 private:
  const char *name_;
};

Context with_mock() {
  static const char *const paths[] = {SEXTANT_MOCK_DIR "/old-values.so"};
  sxt_context_options options = context_options();
  options.device = "cpu";
  options.threads = 2;
  options.plugin_paths = paths;
  options.n_plugin_paths = 1;
  return make<Context>([&](sxt_context **out) { return sxt_context_create(&options, out); });
}

int refreshes() {
  const char *count = std::getenv("SEXTANT_MOCK_REFRESHES");
  return count ? std::atoi(count) : 0;
}

std::vector<double> product(const Context &context, const Matrix &matrix, const char *kernel, sxt_status expected) {
  std::vector<double> x(900, 1), y(900);
  EXPECT_EQ(sxt_context_force(context.get(), "sxt.spmv/1", kernel), SXT_OK) << last_error(context);
  EXPECT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), x.data(), nullptr, y.data()), expected)
      << kernel << ": " << last_error(context);
  return y;
}

// A solve that has no iteration runs neither the engine nor the product: they must follow all the same, since a solve
// that is captured next, or replayed, reads their states.
TEST(OldValuesTest, EveryPartFollowsAtTheEdgeOfASolve) {
  const Context context = with_mock();
  const Csr a = laplacian(30);
  const Matrix matrix = a.matrix(context);
  ASSERT_EQ(sxt_context_force(context.get(), "sxt.spmv/1", "com.example.own-values"), SXT_OK) << last_error(context);
  sxt_pcg_options options = pcg_options();
  options.preconditioner = "none";
  options.engine = "pcg.host-loop.classical.cpu";
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  ASSERT_NE(pcg, nullptr) << last_error(context);
  a.renewed().update(matrix);
  const Variable clean("SEXTANT_MOCK_REFRESHES", "0");
  std::vector<double> b(900, 0), x(900, 1);
  ASSERT_EQ(sxt_pcg_solve_array(pcg.get(), 900, b.data(), x.data(), nullptr, nullptr), SXT_OK) << last_error(context);
  EXPECT_GE(refreshes(), 1) << "the engine's product, and other products";
  const int after = refreshes();
  ASSERT_EQ(sxt_pcg_solve_array(pcg.get(), 900, b.data(), x.data(), nullptr, nullptr), SXT_OK);
  EXPECT_EQ(refreshes(), after) << "once";
}

// A storage that cannot follow when the values come is brought up to date before it is next used, or is an error; it
// never gives products with the old values, and the others give them with the new.
TEST(OldValuesTest, AnUpdateIsWholeWhereAStorageCannotFollow) {
  const Variable serves("SEXTANT_MOCK_COO", "1");
  const Context context = with_mock();
  const Csr a = laplacian(30);
  const Matrix matrix = a.matrix(context);
  const char *const rows = "spmv.csr.rows.cpu", *const coordinates = "spmv.coo.serial.cpu";
  const std::vector<double> before = product(context, matrix, rows, SXT_OK);
  ASSERT_EQ(product(context, matrix, coordinates, SXT_OK), before);
  Csr tenfold = a;
  for (double &value : tenfold.values) value *= 10;
  std::vector<double> after = before;
  for (double &value : after) value *= 10;
  {
    const Variable failing("SEXTANT_MOCK_REFRESH_FAILS", "1");
    EXPECT_EQ(
        sxt_matrix_update_values(matrix.get(), tenfold.values.data(), static_cast<std::int64_t>(tenfold.values.size())),
        SXT_OK)
        << last_error(context);
    EXPECT_EQ(product(context, matrix, rows, SXT_OK), after);
    product(context, matrix, coordinates, SXT_E_MEMORY);
  }
  EXPECT_EQ(product(context, matrix, coordinates, SXT_OK), after);
  a.update(matrix);
  EXPECT_EQ(product(context, matrix, coordinates, SXT_OK), before);
  EXPECT_EQ(product(context, matrix, rows, SXT_OK), before);
}

std::int64_t iterations_of(const Context &context, const Pcg &pcg, const Csr &a) {
  std::vector<double> ones(static_cast<std::size_t>(a.rows), 1), b = a.times(ones), x(b.size());
  sxt_pcg_report report = new_report();
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), x.data(), nullptr, &report), SXT_OK)
      << last_error(context);
  EXPECT_LE(relative_residual(a, b, x), 1.01e-8);
  return report.iterations;
}

// The diagonal of the first values is constant, so nothing was scaled; that of the later ones is not.
TEST(OldValuesTest, APlanWhoseReasonIsGoneIsMadeAnew) {
  for (const double decades : {1.0, 2.0}) {
    const Context context = cpu();
    const Csr a = laplacian(30);
    const Csr later = a.scaled([&](double i) { return std::pow(10, decades * std::sin(i * i)); });
    const Matrix matrix = a.matrix(context), fresh = later.matrix(context);
    const Pcg kept = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
    const Pcg anew = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(fresh.get(), nullptr, out); });
    iterations_of(context, kept, a);
    later.update(matrix);
    const std::int64_t taken = iterations_of(context, kept, later), best = iterations_of(context, anew, later);
    EXPECT_LE(taken, 2 * best + 10);
    EXPECT_NE(explain(kept).find("planned anew for new values"), std::string::npos) << explain(kept);
    EXPECT_NE(explain(kept).find("greatest entry is now"), std::string::npos) << explain(kept);
    a.update(matrix);
    iterations_of(context, kept, a);
  }
}

// Parts that the caller named stay for any values.
TEST(OldValuesTest, WhatTheCallerNamedStays) {
  const Context context = cpu();
  const Csr a = laplacian(20), later = a.scaled([](double i) { return std::pow(10, 0.4 * std::sin(i)); });
  const Matrix matrix = a.matrix(context);
  sxt_pcg_options options = pcg_options();
  options.preconditioner = "none";
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  later.update(matrix);
  iterations_of(context, pcg, later);
  EXPECT_EQ(explain(pcg).find("planned anew"), std::string::npos) << explain(pcg);
}

// The diagonal does not change here, but the system is far harder than the planned one.
TEST(OldValuesTest, SolvesThatTakeFarLongerArePlannedAnew) {
  const Context context = cpu();
  const Csr a = laplacian(60, 40);
  Csr later = laplacian(60);
  for (double &value : later.values) value *= 11;  // the same diagonal
  const Matrix matrix = a.matrix(context);
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
  iterations_of(context, pcg, a);
  later.update(matrix);
  iterations_of(context, pcg, later);
  iterations_of(context, pcg, later);
  EXPECT_NE(explain(pcg).find("a solve took"), std::string::npos) << explain(pcg);
}

// Symmetry that was found for the first values is tested again.
TEST(OldValuesTest, NewValuesAreComparedWithTheirTranspose) {
  const Context context = cpu();
  Csr a = laplacian(10);
  const Matrix matrix = a.matrix(context);
  sxt_pcg_options options = pcg_options();
  options.format = "csr";
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  a.values[1] = -0.5;
  a.update(matrix);
  std::vector<double> b(100, 1), x(100);
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 100, b.data(), x.data(), nullptr, nullptr), SXT_E_NOT_SYMMETRIC);
}

}  // namespace
}  // namespace api_test
