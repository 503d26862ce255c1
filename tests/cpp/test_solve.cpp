// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients: arrays, vectors and columns; what is thrown when; callables, cancelling.
#include "problem.hpp"

namespace {

using problem::Differences;
using problem::distance;
using problem::error_of;
using sextant::columns;
using sextant::Continue;
using sextant::Pcg;
using testing::HasSubstr;

template <class T>
class CppSolve : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(CppSolve, Types);

TYPED_TEST(CppSolve, ArraysVectorsAndColumns) {
  using T = TypeParam;
  const sextant::Context context = problem::cpu();
  const Differences<T> a(20);
  const Pcg pcg(a.matrix(context));
  const std::vector<T> b = a.times_numbers(), wanted = problem::numbers<T>(20);
  std::vector<T> x(20);
  const sxt_pcg_report report = pcg.solve(b, x);
  EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
  EXPECT_LT(distance(x, wanted), 1e-3);

  sextant::Vector device_x = sextant::Vector::zeros<T>(context, 20);
  EXPECT_EQ(pcg.solve(sextant::Vector::copy_of(context, b), device_x).iterations, report.iterations);
  EXPECT_LT(distance(device_x.template to_host<T>(), wanted), 1e-3);

  std::vector<T> bs(60, T(7)), xs(63, T(7));
  std::copy(b.begin(), b.end(), bs.begin());
  std::copy(b.begin(), b.end(), bs.begin() + 30);
  EXPECT_EQ(pcg.solve(columns(std::as_const(bs), 20, 2, 30), columns(xs, 20, 2, 40)).size(), 2u);
  EXPECT_LT(distance(std::span(xs).subspan(40, 20), wanted), 1e-3);
  EXPECT_EQ(xs[39], T(7));
}

class CppPcg : public testing::Test {
 protected:
  sextant::Context context = problem::cpu();
  Differences<double> a{200};
  sextant::Matrix matrix = a.matrix(context);
  std::vector<double> b = a.times_numbers(), x = std::vector<double>(200);
  sextant::PcgOptions plain = [] {
    sextant::PcgOptions options;
    options.preconditioner = "none";
    return options;
  }();
};

TEST_F(CppPcg, NotConvergedCarriesTheReport) {
  const Pcg pcg(matrix, plain);
  sextant::SolveOptions options;
  options.max_iterations = 3;
  EXPECT_EQ(pcg.try_solve(b, x, options).reason, SXT_REASON_ITERATION_LIMIT);
  try {
    pcg.solve(b, x, options);
    FAIL() << "it converged";
  } catch (const sextant::not_converged &error) {
    EXPECT_EQ(error.status(), SXT_NOT_CONVERGED);
    EXPECT_EQ(error.report().reason, SXT_REASON_ITERATION_LIMIT);
    EXPECT_GT(error.report().true_relative_residual, 0);
    EXPECT_THAT(error.what(), HasSubstr("the iteration limit was reached, found in iteration 3"));
  }
}

TEST_F(CppPcg, NotConvergedNamesTheColumn) {
  const Pcg pcg(matrix, plain);
  std::vector<double> bs(400), xs(400);
  std::copy(b.begin(), b.end(), bs.begin() + 200);  // column 0 is zero and done at once
  sextant::SolveOptions options;
  options.max_iterations = 3;
  try {
    pcg.solve(columns(bs, 200, 2), columns(xs, 200, 2), options);
    FAIL() << "it converged";
  } catch (const sextant::not_converged &error) {
    EXPECT_EQ(error.column(), 1);
    EXPECT_EQ(error.reports().size(), 2u);
    EXPECT_EQ(error.reports()[0].reason, SXT_REASON_CONVERGED);
    EXPECT_THAT(error.what(), HasSubstr("column 1: "));
  }
}

TEST_F(CppPcg, ErrorsAreTheLibrarys) {
  Differences<double> bad(3);
  bad.values[1] = 5;
  const sextant::error error = error_of([&] { Pcg(bad.matrix(context)); });
  EXPECT_EQ(error.status(), SXT_E_NOT_SYMMETRIC);
  EXPECT_EQ(error.what(), sextant::last_error());
  sextant::PcgOptions options;
  options.preconditioner = "nun";
  EXPECT_EQ(error_of([&] { Pcg(matrix, options); }).status(), SXT_E_UNKNOWN_NAME);
}

TEST_F(CppPcg, SizesAndTypesAreChecked) {
  const Pcg pcg(matrix);
  std::vector<double> small(5);
  std::vector<float> floats(200);
  EXPECT_THAT(error_of([&] { pcg.solve(small, x); }).what(), HasSubstr("b has 5 values, but 200"));
  EXPECT_EQ(error_of([&] { pcg.solve(b, small); }).status(), SXT_E_DIMENSION);
  EXPECT_THAT(error_of([&] { pcg.solve(floats, floats); }).what(), HasSubstr("b is of f32, but f64"));
  EXPECT_EQ(error_of([&] { pcg.solve(columns(b, 100, 2), columns(x, 100, 2)); }).status(), SXT_E_DIMENSION);
  EXPECT_EQ(error_of([&] { pcg.solve(columns(b, 200, 1), columns(x, 200, 0)); }).status(), SXT_E_DIMENSION);
  EXPECT_EQ(error_of([&] { pcg.solve(columns(floats, 200, 1), columns(floats, 200, 1)); }).status(), SXT_E_TYPE);
}

TEST_F(CppPcg, ProgressSeesTheResidualsAndCancels) {
  const Pcg pcg(matrix, plain);
  std::vector<double> residuals;
  sextant::SolveOptions options;
  options.progress = [&](std::int64_t, double residual) { residuals.push_back(residual); };
  pcg.solve(b, x, options);
  EXPECT_GT(residuals.size(), 1u);
  EXPECT_LT(residuals.back(), 1e-6);

  options.progress = [](std::int64_t iteration, double) { return iteration < 5 ? Continue::yes : Continue::no; };
  EXPECT_EQ(pcg.try_solve(b, x, options).reason, SXT_REASON_CANCELLED);
  EXPECT_THROW(pcg.solve(b, x, options), sextant::not_converged);
}

TEST_F(CppPcg, WhatProgressThrowsComesOutOfTheSolve) {
  const Pcg pcg(matrix, plain);
  int calls = 0;
  sextant::SolveOptions options;
  options.progress = [&](std::int64_t, double) {
    ++calls;
    throw std::out_of_range("from the callable");
  };
  EXPECT_THROW(pcg.solve(b, x, options), std::out_of_range);
  EXPECT_THROW(pcg.try_solve(b, x, options), std::out_of_range);
  EXPECT_EQ(calls, 2) << "it is called no more in a solve that it cancelled";
  std::vector<double> bs(400, 1.0), xs(400);
  EXPECT_THROW(pcg.solve(columns(bs, 200, 2), columns(xs, 200, 2), options), std::out_of_range);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(pcg.solve(b, x).reason, SXT_REASON_CONVERGED) << "the set-up is as good as before";
}

TEST_F(CppPcg, AFlagCancels) {
  const Pcg pcg(matrix, plain);
  sextant::CancelFlag flag;
  sextant::SolveOptions options;
  options.cancel = flag.address();
  flag.cancel();
  EXPECT_EQ(pcg.try_solve(b, x, options).reason, SXT_REASON_CANCELLED);
  flag.reset();
  EXPECT_EQ(pcg.try_solve(b, x, options).reason, SXT_REASON_CONVERGED);
}

TEST_F(CppPcg, HistoryAndWarmStart) {
  const Pcg pcg(matrix, plain);
  std::vector<double> norms(3, -1.0);
  sextant::SolveOptions options;
  options.set_history(norms);
  pcg.solve(b, x, options);
  EXPECT_THAT(norms, testing::Each(testing::Gt(0.0)));
  options = {};
  options.use_initial_guess = 1;
  EXPECT_EQ(pcg.solve(b, x, options).iterations, 0);
}

TEST_F(CppPcg, ColumnsShareAHistory) {
  const Pcg pcg(matrix, plain);
  std::vector<double> bs(600, 1.0), xs(600);
  std::vector<double> memory(12, -1.0);
  sextant::SolveOptions options;
  const auto solve = [&](std::size_t room) {
    options.set_history(std::span(memory).first(room));
    pcg.solve(columns(bs, 200, 3), columns(xs, 200, 3), options);
  };
  solve(7);  // 2 for each column; the 7th and what lies behind stay
  EXPECT_THAT(std::span(memory).first(6), testing::Each(testing::Gt(0.0)));
  EXPECT_EQ(memory[0], memory[2]) << "equal right-hand sides";
  EXPECT_THAT(std::span(memory).subspan(6), testing::Each(-1.0));
  std::fill(memory.begin(), memory.end(), -1.0);
  solve(2);  // too few for three columns
  solve(0);
  EXPECT_THAT(memory, testing::Each(-1.0));
  options.history = memory.data();  // by hand, as the C interface counts
  options.history_capacity = 4;
  pcg.solve(columns(bs, 200, 3), columns(xs, 200, 3), options);
  EXPECT_THAT(memory, testing::Each(testing::Gt(0.0)));
}

TEST_F(CppPcg, AnEmptyCallableIsNone) {
  sextant::SolveOptions options;
  const std::function<void(std::int64_t, double)> nothing;
  options.progress = nothing;
  EXPECT_FALSE(options.progress);
  options.progress = std::function<Continue(std::int64_t, double)>();
  EXPECT_FALSE(options.progress);
  void (*pointer)(std::int64_t, double) = nullptr;
  options.progress = pointer;
  EXPECT_FALSE(options.progress);
  EXPECT_EQ(Pcg(matrix).solve(b, x, options).reason, SXT_REASON_CONVERGED);
  options.progress = [](std::int64_t, double) {};
  EXPECT_TRUE(options.progress);
}

// What a program may have set for its own output.
struct Grouping : std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  char do_decimal_point() const override { return ','; }
  std::string do_grouping() const override { return "\2"; }
};

TEST_F(CppPcg, SentencesDoNotDependOnTheLocale) {
  const Pcg pcg(matrix, plain);
  sextant::SolveOptions options;
  options.max_iterations = 100;
  options.rtol = 1e-300;
  const std::vector<double> small(1234);
  const auto sentences = [&] {
    return std::string(error_of([&] { pcg.solve(small, x); }).what()) +
           error_of([&] { pcg.solve(b, x, options); }).what();
  };
  const std::string usual = sentences();
  EXPECT_THAT(usual, HasSubstr("b has 1234 values"));
  EXPECT_THAT(usual, testing::ContainsRegex("residual of [0-9]"));
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Grouping));
  const std::string grouped = sentences();
  std::locale::global(before);
  EXPECT_EQ(grouped, usual);
}

TEST_F(CppPcg, NullSpace) {
  Differences<double> ring(10);
  ring.values.front() = ring.values.back() = 1;  // rows sum to 0
  const sextant::Matrix m = ring.matrix(context);
  std::vector<double> ones(10, 1.0), rhs(10), solution(10);
  rhs[0] = 1, rhs[9] = -1;
  const Pcg pcg(m, sextant::PcgOptions().set_null_space(columns(ones, 10, 1)));
  EXPECT_EQ(pcg.solve(rhs, solution).reason, SXT_REASON_CONVERGED);
  EXPECT_NEAR(solution[0] - solution[9], 9, 1e-6);
  const auto with = [&](auto block) { Pcg(m, sextant::PcgOptions().set_null_space(block)); };
  EXPECT_EQ(error_of([&] { with(columns(ones, 5, 1)); }).status(), SXT_E_DIMENSION);
  EXPECT_EQ(error_of([&] { with(columns(ones, 3, 2, 4)); }).status(), SXT_E_ARGUMENT);
  std::vector<float> floats(10, 1.0f);
  EXPECT_EQ(error_of([&] { with(columns(floats, 10, 1)); }).status(), SXT_E_TYPE);
}

TEST_F(CppPcg, Explains) {
  const Pcg pcg(matrix);
  EXPECT_THAT(pcg.explain(), HasSubstr("pcg"));
  EXPECT_EQ(pcg.explain(SXT_JSON).front(), '{');
  EXPECT_EQ(pcg.explain(SXT_JSON).find_last_not_of(" \n") + 1, pcg.explain(SXT_JSON).rfind('}') + 1);
}

TEST_F(CppPcg, ObjectsEndInAnyOrder) {
  auto owner = std::make_unique<sextant::Context>(problem::cpu());
  auto m = std::make_unique<sextant::Matrix>(a.matrix(*owner));
  Pcg pcg(*m);
  owner.reset();
  m.reset();
  Pcg moved = std::move(pcg);
  EXPECT_EQ(moved.solve(b, x).reason, SXT_REASON_CONVERGED);
  EXPECT_EQ(error_of([&] { pcg.solve(b, x); }).status(), SXT_E_ARGUMENT);
}

}  // namespace
