// SPDX-License-Identifier: BSD-3-Clause
// The reference engine on systems a person can check, and the kind: its cases are repeatable, its comparison detects
// every kind of wrong answer.
#include <cstdint>
#include <limits>

#include "plugins/pcg/host-loop/cpu/test_support.hpp"
#include "sextant/plugin/kinds/pcg.h"

using namespace pcg_test;
namespace plugin = sextant::plugin;

namespace {

const sxt_kernel &reference() { return find_kernel(load_own("pcg-reference"), "pcg.reference.cpu"); }
const sxt_kind &kind() { return *load_own("pcg-reference")->kinds[0]; }

sxt_status solve(const sxt_query *query, const sxt_head *a, sxt_head *args) {
  sxt_exec exec = make_exec();
  void *state = nullptr, *session = nullptr;
  const sxt_problem problem{sizeof problem, query, a, nullptr};
  EXPECT_EQ(reference().prepare(&problem, nullptr, nullptr, &exec, &state), SXT_OK);
  EXPECT_EQ(reference().open(state, nullptr, &exec, &session), SXT_OK);
  const sxt_status status = reference().run(state, session, args, &exec);
  reference().close(session);
  reference().release(state);
  return status;
}

sxt_pcg_args make_args(const std::vector<double> &b, std::vector<double> &x) {
  sxt_pcg_args args{};
  args.h = plugin::head<sxt_pcg_args>(SXT_KIND_PCG);
  args.n = static_cast<std::int64_t>(b.size());
  args.b = b.data();
  args.x = x.data();
  args.tolerance = 1e-12;
  args.max_iterations = 100;
  args.confirm = [](void *, const void *, std::int64_t, double, double *, sxt_reason *reason) -> std::int32_t {
    return *reason = SXT_REASON_CONVERGED, SXT_CONFIRM_STOP;
  };
  return args;
}

// The answer for A x = b from x, after at most so many iterations.
sxt_pcg_args solved(const Matrix<double> &a, const std::vector<double> &b, std::vector<double> &x,
                    std::int64_t most = 100) {
  sxt_pcg_args args = make_args(b, x);
  args.max_iterations = most;
  const sxt_matrix_query query = a.query();
  const sxt_csr csr = a.view();
  EXPECT_EQ(solve(&query.q, &csr.s.h, &args.h), SXT_OK);
  return args;
}

TEST(PcgReference, SolvesATwoByTwoSystemInTwoSteps) {
  Matrix<double> a;
  a.append_row({{0, 4}, {1, 1}});
  a.append_row({{0, 1}, {1, 3}});
  const std::vector<double> b = {1, 2};
  std::vector<double> x = {2, 1};  // the textbook example: x = (1/11, 7/11)
  const sxt_pcg_args args = solved(a, b, x);
  EXPECT_EQ(args.reason, SXT_REASON_CONVERGED);
  EXPECT_EQ(args.iterations, 2);
  EXPECT_NEAR(x[0], 1.0 / 11, 1e-14);
  EXPECT_NEAR(x[1], 7.0 / 11, 1e-14);
}

TEST(PcgReference, FirstIterateIsSteepestDescent) {
  Matrix<double> a;
  a.append_row({{0, 4}, {1, 1}});
  a.append_row({{0, 1}, {1, 3}});
  const std::vector<double> b = {1, 2};
  std::vector<double> x = {2, 1};
  const sxt_pcg_args args = solved(a, b, x, 1);
  EXPECT_EQ(args.reason, SXT_REASON_ITERATION_LIMIT);
  // r = (-8, -3), r'r = 73, r'Ar = 331
  EXPECT_NEAR(x[0], 2 - 8 * 73.0 / 331, 1e-15);
  EXPECT_NEAR(x[1], 1 - 3 * 73.0 / 331, 1e-15);
}

TEST(PcgReference, IndefiniteMatrixLeavesXAtTheLastIterate) {
  Matrix<double> a;
  a.append_row({{0, 1}});
  a.append_row({{1, -1}});
  const std::vector<double> b = {2, 1};
  std::vector<double> x = {0, 0};
  const sxt_pcg_args args = solved(a, b, x);
  EXPECT_EQ(args.reason, SXT_REASON_A_INDEFINITE);
  // First step: r = (2, 1), r'r = 5, r'Ar = 3, x = 5/3 r; the second direction has p'Ap < 0.
  EXPECT_EQ(args.iterations, 2);
  EXPECT_NEAR(x[0], 10.0 / 3, 1e-14);
  EXPECT_NEAR(x[1], 5.0 / 3, 1e-14);
}

TEST(PcgReference, RefusesWhatItCannotDo) {
  sxt_pcg_query query{};
  query.m = grid<double>(3).query();
  query.preconditioned = 1;
  char text[256] = "";
  sxt_message message{text, sizeof text};
  EXPECT_EQ(reference().applicable(&query.m.q, nullptr, nullptr, &message), SXT_NOT_APPLICABLE);
  EXPECT_NE(std::string(text).find("preconditioner"), std::string::npos);
  query.preconditioned = 0;
  query.m.matrix_type = SXT_F32;
  EXPECT_EQ(reference().applicable(&query.m.q, nullptr, nullptr, &message), SXT_NOT_APPLICABLE);
}

// A case and the reference's answer to it.
struct Answered {
  explicit Answered(std::uint64_t i, std::uint64_t seed = 1) {
    EXPECT_EQ(kind().make_case(Host::table(), seed, i, &c), SXT_OK);
    EXPECT_EQ(solve(c.query, c.a, c.args), SXT_OK);
  }
  ~Answered() { kind().free_case(&c); }
  sxt_pcg_args &args() { return *reinterpret_cast<sxt_pcg_args *>(c.args); }
  double error(Answered &want) {
    double e = -1;
    EXPECT_EQ(kind().compare(&c, &want.c, &e, nullptr), SXT_OK);
    return e;
  }
  sxt_case c{};
};

TEST(PcgKind, CasesRepeatAndCoverEveryReasonAnEngineFinds) {
  std::map<sxt_reason, int> reasons;
  for (std::uint64_t i = 0; i < kind().n_cases; ++i) {
    Answered one(i), two(i);
    SCOPED_TRACE(one.c.description);
    EXPECT_LE(one.error(two), 1);
    const std::size_t bytes = static_cast<std::size_t>(one.args().n) * plugin::value_bytes(one.c.query->value_type);
    EXPECT_TRUE(bytes == 0 || std::memcmp(one.args().x, two.args().x, bytes) == 0);
    ++reasons[one.args().reason];
  }
  EXPECT_GE(kind().n_cases, 15u);
  EXPECT_GE(reasons[SXT_REASON_CONVERGED], 10);
  for (const sxt_reason reason : {SXT_REASON_ITERATION_LIMIT, SXT_REASON_A_INDEFINITE, SXT_REASON_NOT_A_NUMBER})
    EXPECT_GE(reasons[reason], 1) << reason;
  sxt_case beyond{};
  EXPECT_EQ(kind().make_case(Host::table(), 1, kind().n_cases, &beyond), SXT_E_ARGUMENT);
}

TEST(PcgKind, ComparisonNoticesWrongAnswers) {
  for (std::uint64_t i = 0; i < kind().n_cases; ++i) {
    Answered want(i);
    SCOPED_TRACE(want.c.description);
    {
      Answered got(i);
      got.args().reason = SXT_REASON_STAGNATED;
      EXPECT_GT(got.error(want), 1);
    }
    {
      Answered got(i);
      got.args().iterations += 500;
      EXPECT_GT(got.error(want), 1);
    }
    if (want.c.query->value_type != SXT_F64 || want.args().n == 0) continue;
    for (const double wrong : {1e-3, std::numeric_limits<double>::quiet_NaN()}) {
      Answered got(i);
      static_cast<double *>(got.args().x)[0] += wrong;
      EXPECT_GT(got.error(want), 1) << "x[0] wrong by " << wrong;
    }
  }
}

}  // namespace
