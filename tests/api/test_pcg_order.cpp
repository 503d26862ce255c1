// SPDX-License-Identifier: BSD-3-Clause
// Deterministic mode: engines that run the same recurrence on the same storage leave the same bits, the plain loops of
// the reference among them; kernels with another order are refused with a reason.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support.hpp"

namespace api_test {
namespace {

struct Asked {
  std::string engine, format;
  double rtol = 1e-10;
  std::int64_t max_iterations = 0;
  bool guess = true;
};

struct Answer {
  std::vector<double> x, history;
  sxt_pcg_report report{};
  std::string plan;
};

// Rows of four to fourteen entries and a last leaf that is not full; coefficients that all differ.
Csr problem() {
  constexpr std::int32_t n = 3700;
  Csr a;
  a.rows = a.cols = n;
  const auto weight = [](std::int32_t i, std::int32_t j) {
    return -1 - 0.4 * std::sin(0.37 * std::min(i, j) + 0.11 * std::max(i, j));
  };
  const auto couples = [](std::int32_t i, std::int32_t j) {
    const std::int32_t low = std::min(i, j), distance = std::abs(i - j);
    return distance <= 2 || distance == 61 || (low % 7 == 0 && distance < 9);
  };
  for (std::int32_t i = 0; i < n; ++i) {
    double sum = 0.05;
    std::size_t diagonal = 0;
    for (std::int32_t j = std::max(0, i - 61); j <= std::min(n - 1, i + 61); ++j) {
      if (!couples(i, j)) continue;
      if (i == j) diagonal = a.values.size();
      const double value = i == j ? 0 : weight(i, j);
      sum -= value;
      a.entry(j, value);
    }
    a.values[diagonal] = sum * (1.002 + 0.002 * std::sin(0.01 * i));
    a.end_row();
  }
  return a;
}

Answer solve_with(const Context &context, const Asked &asked) {
  const Csr a = problem();
  const Matrix matrix = a.matrix(context);
  sxt_pcg_options options = pcg_options();
  options.engine = asked.engine.empty() ? nullptr : asked.engine.c_str();
  options.format = asked.format.empty() ? nullptr : asked.format.c_str();
  options.preconditioner = "jacobi";
  options.rtol = asked.rtol;
  sxt_pcg *raw = nullptr;
  EXPECT_EQ(sxt_pcg_create(matrix.get(), &options, &raw), SXT_OK) << last_error(context);
  const Pcg pcg(raw);
  Answer out{std::vector<double>(static_cast<std::size_t>(a.rows)), std::vector<double>(400), {}, {}};
  std::vector<double> b(out.x.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] = 1 + 0.125 * static_cast<double>(i % 13);
    if (asked.guess) out.x[i] = 0.5 * static_cast<double>(i % 5);
  }
  sxt_solve_options solve;
  sxt_solve_options_init(&solve, sizeof solve);
  solve.use_initial_guess = asked.guess;
  solve.max_iterations = asked.max_iterations;
  solve.history = out.history.data();
  solve.history_capacity = static_cast<std::int64_t>(out.history.size());
  out.report.struct_size = sizeof out.report;
  if (raw) {
    EXPECT_GE(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), out.x.data(), &solve, &out.report), SXT_OK)
        << last_error(context);
    out.plan = explain(pcg);
  }
  return out;
}

bool same_bits(const Answer &a, const Answer &b) {
  return a.report.iterations == b.report.iterations && a.report.reason == b.report.reason &&
         std::memcmp(a.x.data(), b.x.data(), a.x.size() * sizeof(double)) == 0 &&
         std::memcmp(a.history.data(), b.history.data(), a.history.size() * sizeof(double)) == 0;
}

TEST(PcgOrder, EnginesOfOneRecurrenceLeaveTheSameBits) {
  for (const char *format : {"csr", "sell", "dia", "dia-symmetric"})
    for (const std::string recurrence : {"classical", "predict-recompute"})
      for (const bool guess : {true, false}) {
        SCOPED_TRACE(recurrence + " on " + format + (guess ? " from a guess" : ""));
        const Context context = cpu(2, true);
        Asked asked{"pcg.host-loop." + recurrence + ".cpu", format};
        asked.guess = guess;
        const Answer loop = solve_with(context, asked);
        EXPECT_EQ(loop.report.reason, SXT_REASON_CONVERGED);
        EXPECT_GT(loop.report.iterations, 30);
        EXPECT_GT(loop.report.confirmations, 1);  // so that a solve continues after the host was asked
        asked.engine = "pcg.team." + recurrence + ".cpu";
        EXPECT_TRUE(same_bits(loop, solve_with(context, asked))) << "the team";
        EXPECT_TRUE(same_bits(loop, solve_with(cpu(3, true), asked))) << "the team on three threads";
        if (recurrence != "classical" || std::string(format) != "csr") continue;
        asked.engine = "pcg.reference.cpu";
        EXPECT_TRUE(same_bits(loop, solve_with(context, asked))) << "the reference";
      }
}

// Without the mode bits differ, else the test above could not fail.
TEST(PcgOrder, BitsDifferWithoutTheMode) {
  const Context context = cpu(2);
  Asked asked{"pcg.host-loop.classical.cpu", "csr"};
  const Answer loop = solve_with(context, asked);
  asked.engine = "pcg.reference.cpu";
  EXPECT_FALSE(same_bits(loop, solve_with(context, asked)));
}

TEST(PcgOrder, OtherOrdersAreRefusedWithASentence) {
  const Context context = cpu(2, true);
  const Answer answer = solve_with(context, {"pcg.host-loop.classical.cpu", "csr"});
  EXPECT_NE(answer.plan.find("spmv_dots.csr.cpu"), std::string::npos) << answer.plan;
  const Context forced = cpu(2, true);
  ASSERT_EQ(sxt_context_force(forced.get(), "sxt.spmv_dots/1", "spmv_dots.reference.cpu"), SXT_OK);
  const Matrix matrix = laplacian(20).matrix(forced);
  sxt_pcg_options options = pcg_options();
  options.engine = "pcg.host-loop.classical.cpu";
  sxt_pcg *raw = nullptr;
  EXPECT_LT(sxt_pcg_create(matrix.get(), &options, &raw), 0);
  EXPECT_NE(last_error(forced).find("deterministic mode demands the one that all engines share"), std::string::npos)
      << last_error(forced);
  sxt_pcg_destroy(raw);
}

// M and complex numbers take engines and parts of the one order as well; each repeats its bits on any number of
// threads.
TEST(PcgOrder, PreconditionedSystems) {
  const Csr a = problem();
  const std::vector<double> b(static_cast<std::size_t>(a.rows), 1);
  for (const char *method : {"fsai", "block-jacobi", "ssor-ai", "chebyshev"})
    for (const char *recurrence : {"classical", "chronopoulos-gear"}) {
      std::vector<double> first;
      for (const int threads : {1, 2, 3}) {
        const Context context = cpu(threads, true);
        const Matrix matrix = a.matrix(context);
        sxt_pcg_options options = pcg_options();
        options.preconditioner = method;
        options.recurrence = recurrence;
        options.format = "csr";
        const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
        std::vector<double> x(b.size());
        ASSERT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), x.data(), nullptr, nullptr), SXT_OK) << method;
        EXPECT_LE(relative_residual(a, b, x), 1.0001e-8) << method;
        if (first.empty()) first = x;
        EXPECT_EQ(x, first) << method << ", " << recurrence << ", " << threads << " threads";
      }
    }
}

TEST(PcgOrder, ComplexEnginesAgree) {
  using Z = std::complex<double>;
  const Csr a = problem();
  std::vector<Z> values(a.values.begin(), a.values.end());
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
      if (a.col[k] != i) values[k] *= a.col[k] > i ? Z(0.6, 0.8) : Z(0.6, -0.8);
  const Context context = cpu(2, true);
  sxt_matrix_options options = matrix_options();
  options.value_type = SXT_C128;
  options.symmetry = SXT_HERMITIAN;
  const Matrix matrix = make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), values.data(), &options, out);
  });
  for (const std::string recurrence : {"classical", "predict-recompute"}) {
    std::vector<std::vector<Z>> answers;
    for (const std::string engine : {"pcg.host-loop.", "pcg.team."}) {
      const std::string name = engine + recurrence + ".cpu";
      sxt_pcg_options asked = pcg_options();
      asked.engine = name.c_str();
      asked.format = "csr";
      asked.preconditioner = "jacobi";
      const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &asked, out); });
      const std::vector<Z> b(static_cast<std::size_t>(a.rows), Z(1, -2));
      answers.emplace_back(b.size());
      ASSERT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), answers.back().data(), nullptr, nullptr), SXT_OK)
          << last_error(context);
    }
    EXPECT_EQ(answers[0], answers[1]) << recurrence;
  }
}

}  // namespace
}  // namespace api_test
