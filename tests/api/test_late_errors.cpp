// SPDX-License-Identifier: BSD-3-Clause
// Kernels of third parties that pass every test and err later: what is told of an answer stays true, what they return
// or throw never leaves the library as it is, and their names are told.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "sextant/sdk/arithmetic.hpp"
#include "tests/api/support.hpp"

namespace api_test {
namespace {

constexpr int side = 36, rows = side * side;  // where the mock errs

class Error {
 public:
  explicit Error(const char *how) { setenv("SEXTANT_MOCK_ERROR", how, 1); }
  ~Error() { unsetenv("SEXTANT_MOCK_ERROR"); }
  Error(const Error &) = delete;
  Error &operator=(const Error &) = delete;
};

Context with_mock(std::string *log = nullptr) {
  static const char *const paths[] = {SEXTANT_MOCK_DIR "/late-errors.so"};
  sxt_context_options options = context_options();
  options.device = "cpu";
  options.threads = 1;
  options.plugin_paths = paths;
  options.n_plugin_paths = 1;
  if (log) {
    options.log_user = log;
    options.log = [](void *user, sxt_log_level, const char *line) {
      *static_cast<std::string *>(user) += std::string(line) + "\n";
    };
  }
  return make<Context>([&](sxt_context **out) { return sxt_context_create(&options, out); });
}

long double true_norm(const Csr &a, const std::vector<double> &b, const std::vector<double> &x) {
  long double sum = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    long double row = b[i];
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) row -= static_cast<long double>(a.values[k]) * x[a.col[k]];
    sum += row * row;
  }
  return std::sqrt(sum);
}

struct Solved {
  sxt_status status = SXT_OK;
  sxt_pcg_report report = new_report();
  std::vector<double> x = std::vector<double>(rows, 5);
};
Solved solve(const Context &context, const Csr &a, const std::vector<double> &b, const char *engine = nullptr) {
  const Matrix matrix = a.matrix(context);
  sxt_pcg_options options = pcg_options();
  options.engine = engine;
  options.format = engine ? "csr" : nullptr;
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  Solved out;
  if (pcg) out.status = sxt_pcg_solve_array(pcg.get(), rows, b.data(), out.x.data(), nullptr, &out.report);
  return out;
}

TEST(LateErrorsTest, AScalingThatErrsDoesNotMakeASolveConverged) {
  const Error error("scale");
  const Csr a = laplacian(side, 0.2);
  const Context context = with_mock();
  std::vector<double> b(rows);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1e200 * (1 + 0.1 * static_cast<double>(i % 7));
  const Solved solved = solve(context, a, b);
  const double truth = static_cast<double>(true_norm(a, b, solved.x));
  EXPECT_EQ(solved.report.reason, SXT_REASON_CONVERGED);
  EXPECT_LE(truth, 1e-8 * solved.report.rhs_norm);
  EXPECT_NEAR(solved.report.residual_norm, truth, solved.report.residual_bound + 1e-9 * truth);
}

TEST(LateErrorsTest, AFillThatErrsDoesNotMakeZeroWrong) {
  const Error error("fill");
  const Context context = with_mock();
  const Solved solved = solve(context, laplacian(side, 0.2), std::vector<double>(rows, 0));
  EXPECT_EQ(solved.report.reason, SXT_REASON_CONVERGED);
  EXPECT_EQ(solved.x, std::vector<double>(rows, 0));
}

sxt_status multiply(const Context &context, double *first = nullptr) {
  const Matrix matrix = laplacian(side, 0.2).matrix(context);
  std::vector<double> x(rows, 1), y(rows, std::nan(""));
  const sxt_status status = sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), x.data(), nullptr, y.data());
  if (first) *first = y[0];
  return status;
}

// What a product answers, invents or throws.
TEST(LateErrorsTest, StatusesOfARunAreErrorsThatNameTheKernel) {
  for (const char *how : {"answers", "invents", "throws"}) {
    SCOPED_TRACE(how);
    const Context context = with_mock();
    ASSERT_EQ(sxt_context_force(context.get(), "sxt.spmv/1", "com.example.late.product"), SXT_OK);
    const Error error(how);
    EXPECT_EQ(multiply(context), SXT_E_INTERNAL);
    EXPECT_NE(last_error(context).find("com.example.late.product"), std::string::npos) << last_error(context);
    const Csr a = laplacian(side, 0.2);
    const Matrix matrix = a.matrix(context);
    sxt_pcg_options options = pcg_options();
    options.engine = "pcg.host-loop.classical.cpu";
    options.format = "csr";
    options.probe = -1;
    options.preconditioner = "none";
    sxt_pcg *made = nullptr;
    sxt_status status = sxt_pcg_create(matrix.get(), &options, &made);
    const Pcg pcg(made);
    std::vector<double> b(rows, 1), x(rows, 5);
    sxt_pcg_report report = new_report();
    if (pcg) status = sxt_pcg_solve_array(pcg.get(), rows, b.data(), x.data(), nullptr, &report);
    EXPECT_LT(status, 0) << "nothing was solved";
    EXPECT_STRNE(sxt_status_name(status), "SXT_UNKNOWN");
  }
}

TEST(LateErrorsTest, AModelThatThrowsIsLeftOut) {
  for (const char *how : {"applicable", "candidates"}) {
    SCOPED_TRACE(how);
    const Context context = with_mock();
    const Error error(how);
    double first = 0;
    EXPECT_EQ(multiply(context, &first), SXT_OK) << last_error(context);
    EXPECT_NEAR(first, 2.2, 1e-12);
    ASSERT_EQ(sxt_context_force(context.get(), "sxt.spmv/1", "com.example.late.product"), SXT_OK);
    EXPECT_LT(multiply(context), 0);
    EXPECT_NE(last_error(context).find("com.example.late.product"), std::string::npos) << last_error(context);
    EXPECT_NE(last_error(context).find("it threw"), std::string::npos) << last_error(context);
  }
}

TEST(LateErrorsTest, TheArithmeticOfTheCallerComesBack) {
  using sextant::plugin::float_control;
  std::string log;
  const Context context = with_mock(&log);
  ASSERT_EQ(sxt_context_force(context.get(), "sxt.spmv/1", "com.example.late.product"), SXT_OK);
  const Error error("flushes");
  const auto before = float_control();
  EXPECT_EQ(multiply(context), SXT_OK) << last_error(context);
  EXPECT_TRUE(float_control() == before);
  EXPECT_NE(log.find("'com.example.late.product' left other floating-point settings"), std::string::npos) << log;
}

// A solve in a thread that flushes and rounds upwards judges as it does elsewhere.
TEST(LateErrorsTest, TheCallersArithmeticDoesNotJudge) {
  const Csr a = laplacian(side, 0.2);
  const Context context = cpu(2);
  const sextant::plugin::FloatScope upwards(
      {sextant::plugin::nearest_control.unit | 0xc040, sextant::plugin::nearest_control.x87});
  std::vector<double> b(rows, 1);
  const Solved solved = solve(context, a, b);
  const sextant::plugin::FloatScope nearest(sextant::plugin::nearest_control);
  const double truth = static_cast<double>(true_norm(a, b, solved.x));
  EXPECT_EQ(solved.report.reason, SXT_REASON_CONVERGED);
  EXPECT_NEAR(solved.report.residual_norm, truth, solved.report.residual_bound + 1e-9 * truth);
}

}  // namespace
}  // namespace api_test
